"""Servers registered from Python: a source that lives as long as its program."""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from mcpyard.domain.definition.checks import name_fault
from mcpyard.domain.definition.parsing import ParsedDefinition, read_definition
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import DefinitionError, NameRefused, NameTaken, Problem, ServerUnknown
from mcpyard.domain.model import Config, Scope, Wanted


class CodeSource:
    """Definitions held in memory; every change asks the yard to look again.

    The servers that it begins with run unless their definitions say otherwise: whoever opens a yard
    with them means to use them. One that is added later waits until it is started.
    """

    def __init__(self, servers: Mapping[str, Config | Mapping[str, object]] | None = None) -> None:
        self._definitions: dict[str, Definition] = {}
        self._wake: Callable[[], None] | None = None
        for name, config in (servers or {}).items():
            self.add(name, config)
            added = self._definitions[name]
            if added.config.wanted is None:
                running = added.config.model_copy(update={"wanted": Wanted.RUNNING})
                self._definitions[name] = replace(added, config=running)

    @property
    def owner(self) -> Owner:
        """The program itself."""
        return Owner(Scope.CODE)

    async def open(self, wake: Callable[[], None]) -> None:
        """Begin to tell of changes."""
        self._wake = wake

    def document(self) -> Document:
        """What is registered now."""
        return Document(self.owner, tuple(self._definitions.values()))

    async def close(self) -> None:
        """Tell of no more changes."""
        self._wake = None

    def add(self, name: str, config: Config | Mapping[str, object]) -> None:
        """Register a server, in any spelling."""
        if fault := name_fault(name):
            raise NameRefused.of(Problem("name", fault))
        if name in self._definitions:
            raise NameTaken(f'the name "{name}" is in use')
        reading = _read(name, config)
        self._definitions[name] = Definition(name, reading.config, warnings=reading.warnings)
        self._changed()

    def remove(self, name: str) -> None:
        """Take a server out."""
        if self._definitions.pop(name, None) is None:
            raise ServerUnknown(f'there is no server "{name}"')
        self._changed()

    def _changed(self) -> None:
        if self._wake:
            self._wake()


def _read(name: str, config: Config | Mapping[str, object]) -> ParsedDefinition:
    """A definition; what is wrong with it tells which of several it is."""
    try:
        return read_definition(config)
    except DefinitionError as error:
        fields = [".".join(filter(None, (name, each.field))) for each in error.problems]
        named = zip(fields, error.problems, strict=True)
        raise DefinitionError.of(*(Problem(where, each.message) for where, each in named)) from None
