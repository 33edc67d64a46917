"""The user's own servers: definitions that have no file, kept in the store."""

from collections.abc import Callable, Sequence
from typing import Final

from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import DefinitionError, DocumentMoved, Problem, ServerUnknown
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.ports import WholeChange
from mcpyard.domain.repositories import Definitions
from mcpyard.domain.stored import StoredDefinition

_USER: Final = Owner(Scope.USER)


class DatabaseSource:
    """The definitions of one repository (see `WholeSource`)."""

    def __init__(self, definitions: Definitions) -> None:
        self._stored = definitions
        self._wake: Callable[[], None] = lambda: None

    @property
    def owner(self) -> Owner:
        """The user."""
        return _USER

    async def open(self, wake: Callable[[], None]) -> None:
        """Begin to tell of changes."""
        self._wake = wake

    def document(self) -> Document:
        """What is stored."""
        return read_stored(self._stored.all())

    async def close(self) -> None:
        """Tell of no more changes."""
        self._wake = lambda: None

    async def put(self, name: str, config: Config, instead_of: Config | None) -> None:
        """Add or change a definition."""
        if instead_of is None:
            await self._stored.add(name, plain(config))
        else:
            stored = self._find(name)
            _expect(stored, instead_of)
            await self._stored.replace(stored.id, plain(config), expected=stored.digest)
        self._wake()

    async def change(self, name: str, change: WholeChange) -> None:
        """Change everything about a definition that is to change (see `WholeSource`)."""
        stored = self._find(name)
        definition = stored.definition
        if change.config is not None:
            _expect(stored, change.instead_of)
            definition = plain(change.config)
        await self._stored.replace(
            stored.id,
            definition,
            expected=stored.digest,
            name=change.name,
            policy=change.policy,
        )
        self._wake()

    async def remove(self, name: str) -> None:
        """Take a definition out."""
        await self._stored.remove(self._find(name).id)
        self._wake()

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name."""
        await self._stored.rename(self._find(name).id, new_name)
        self._wake()

    def _find(self, name: str) -> StoredDefinition:
        for stored in self._stored.all():
            if stored.name == name:
                return stored
        raise ServerUnknown(f'there is no server "{name}" of yours')


def read_stored(stored: Sequence[StoredDefinition]) -> Document:
    """What stored definitions say; one that cannot be used costs only itself."""
    definitions: list[Definition] = []
    problems: list[Problem] = []
    for each in stored:
        try:
            definitions.append(Definition(each.name, _config(each)))
        except DefinitionError as error:
            problems += [
                Problem(f"{each.name}.{wrong.field}", wrong.message) for wrong in error.problems
            ]
    skipped = {each.name for each in stored} - {each.name for each in definitions}
    return Document(_USER, tuple(definitions), tuple(problems), skipped=frozenset(skipped))


def _expect(stored: StoredDefinition, expected: Config) -> None:
    if _config(stored) != expected:
        raise DocumentMoved(f'"{stored.name}" was changed by another program in the meantime')


def _config(stored: StoredDefinition) -> Config:
    return read_definition(stored.definition).config
