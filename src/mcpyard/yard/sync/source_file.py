"""`mcpyard.toml`: the servers that a repository shares, and the programs that are to have them.

The file of a repository defines servers and targets. The one in the home of mcpyard has targets
only: the servers of the user are those that mcpyard itself keeps. Everything that is wrong is told
at once, each with its line. Secrets cannot stand in such a file, only references to variables.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mcpyard.domain.definition.parsing import describe, read_definition
from mcpyard.domain.definition.secret_names import is_literal, looks_secret, names_secret
from mcpyard.domain.desired import Definition
from mcpyard.domain.errors import (
    ArgumentsRefused,
    DefinitionError,
    DocumentBroken,
    InputError,
    Problem,
)
from mcpyard.domain.model import Config, LocalConfig, Scope
from mcpyard.domain.narrowing import is_array, is_object, object_of, texts_of
from mcpyard.formats.editors import toml
from mcpyard.formats.facts import PROJECT, Client
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import BUILT_IN, ClientRegistry
from mcpyard.yard.clients.yard_scope import YARD
from mcpyard.yard.masking import literal_secrets

FILE_NAME: Final = "mcpyard.toml"
GATEWAY: Final = "gateway"

_SECTIONS: Final = ("servers", "targets")
_SERVER_FIELDS: Final = (
    *("command", "args", "env", "cwd", "url", "headers", "type", "oauth"),
    *("enabled", "timeout", "startTimeout", "inherit"),
)
_TARGET_FIELDS: Final = ("scope", "only", "except", "profile", "via")
_PATTERN: Final = frozenset("*?[")
_LITERAL: Final = "a secret cannot stand in this file; use ${NAME} and set the variable"
_DEFAULT: Final = ":-"


@dataclass(frozen=True, slots=True)
class SyncTarget:
    """A program that is to have servers, and which.

    Attributes:
        ref: The program and its scope.
        only: Names or patterns of the servers; None for all.
        excluded: Names or patterns of those that it is not to have.
        profile: The profile whose servers it is to have.
        gateway: Whether it is to have the gateway instead of the servers themselves.
        key: What its table in a file is called; empty where no file has one.
    """

    ref: ClientScopeRef
    only: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    profile: str | None = None
    gateway: bool = False
    key: str = ""

    @property
    def words(self) -> str:
        """How it is told: `codex:user`."""
        return str(self.ref)

    @property
    def is_idle(self) -> bool:
        """Whether no file names it, and no sync wrote anything there."""
        return not self.key and self.only == ()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read: its servers by name, and its targets."""

    path: str
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])
    targets: tuple[SyncTarget, ...] = ()

    @property
    def configs(self) -> dict[str, Config]:
        """Its servers, without their places."""
        return {name: each.config for name, each in self.definitions.items()}


def is_of_project(ref: ClientScopeRef) -> bool:
    """Whether a scope is kept in a file of the project's own folder."""
    location = ref.scope.location
    return location is not None and any(PROJECT in each for each in location.templates)


def target_of(
    words: str,
    project: str = "",
    *,
    of_project: bool = False,
    registry: ClientRegistry = BUILT_IN,
) -> SyncTarget:
    """A target by words such as `codex` or `claude:project`.

    Without a scope it is the first one, or for a repository that of the project if there is one.

    Raises:
        ArgumentsRefused: There is no such program or scope, or it is mcpyard itself.
    """
    client = registry.client_of(words.partition(":")[0])
    if client.id == YARD:
        message = "is where servers come from; name the programs that are to have them"
        raise ArgumentsRefused.of(Problem("client", f"mcpyard itself {message}"))
    full = words if ":" in words or not of_project else f"{words}:{_project_scope(client)}"
    return SyncTarget(registry.scope_ref_of(full, project))


def read_source(
    text: str, path: str, scope: Scope, project: str = "", registry: ClientRegistry = BUILT_IN
) -> SourceFile:
    """Read a file.

    Args:
        text: What it says.
        path: Where it is, for what is told.
        scope: Whose it is: a repository's, or the user's.
        project: The folder that targets are seen from.
        registry: The clients that are known.

    Raises:
        DocumentBroken: It cannot be used; with every problem and its line.
    """
    reader = _Reader(toml.parse(text, file=path), scope, project, registry)
    source = SourceFile(path, reader.definitions(), reader.targets())
    reader.check_sections()
    if reader.problems:
        raise DocumentBroken.of(*reader.problems)
    return source


class _Reader:
    """Reads the parts of a file, and collects what is wrong with them."""

    def __init__(
        self, document: toml.TomlDocument, scope: Scope, project: str, registry: ClientRegistry
    ) -> None:
        self.problems: list[Problem] = []
        self._document = document
        self._scope = scope
        self._project = project
        self._registry = registry
        self._names: set[str] = set()

    def check_sections(self) -> None:
        for section in self._document.value:
            if section not in _SECTIONS:
                self._refuse((section,), f"is unknown; expected {' or '.join(_SECTIONS)}")

    def definitions(self) -> dict[str, Definition]:
        entries = self._table(("servers",))
        self._names = {*entries}
        if entries and self._scope is Scope.USER:
            message = "belong into the file of a repository; add your own with mcpyard add"
            self._refuse(("servers",), message)
            return {}
        definitions = [(name, self._definition(name)) for name in entries]
        return {name: each for name, each in definitions if each}

    def targets(self) -> tuple[SyncTarget, ...]:
        targets: dict[str, SyncTarget] = {}
        for words in self._table(("targets",)):
            target = self._target(words)
            if target and target.words in targets:
                self._refuse(("targets", words), f"names {target.words} a second time")
            elif target:
                targets[target.words] = target
        return tuple(targets.values())

    def _definition(self, name: str) -> Definition | None:
        path = ("servers", name)
        fields = self._table(path)
        unknown = [word for word in fields if word not in _SERVER_FIELDS]
        for word in unknown:
            self._refuse((*path, word), f"is unknown; expected {', '.join(_SERVER_FIELDS)}")
        try:
            config = read_definition(fields).config
        except DefinitionError as error:
            for each in error.problems:
                self._refuse((*path, *_steps(each.field)), each.message)
            return None
        for each in secrets_in(config):
            self._refuse((*path, *_steps(each.field)), each.message)
        return Definition(name, config, self._document.place(path))

    def _target(self, words: str) -> SyncTarget | None:
        path, fields = ("targets", words), self._table(("targets", words))
        for word in fields:
            if word not in _TARGET_FIELDS:
                message = f"is unknown; expected {', '.join(_TARGET_FIELDS)}"
                self._refuse((*path, word), message)
        scope = self._text(path, "scope")
        full = f"{words}:{scope}" if scope else words
        of_project = self._scope is Scope.PROJECT
        try:
            target = target_of(full, self._project, of_project=of_project, registry=self._registry)
        except InputError as error:
            for each in error.problems:
                self._refuse((*path, "scope") if scope else path, each.message)
            return None
        via = self._text(path, "via")
        if via not in {None, GATEWAY}:
            self._refuse((*path, "via"), f'"{str(via)[:40]}" is unknown; expected "{GATEWAY}"')
        only, excluded = self._selection(path, "only"), self._selection(path, "except")
        profile = self._text(path, "profile")
        gateway = via == GATEWAY
        return SyncTarget(target.ref, only, excluded or (), profile, gateway, key=words)

    def _selection(self, path: tuple[str, ...], word: str) -> tuple[str, ...] | None:
        value = object_of(self._value(path)).get(word)
        if value is None:
            return None
        texts = texts_of(value)
        if not is_array(value) or len(texts) != len(value):
            self._refuse((*path, word), "expected a list of names")
            return None
        for name in texts:
            plain = not _PATTERN.intersection(name)
            if plain and self._scope is Scope.PROJECT and name not in self._names:
                self._refuse((*path, word), f'there is no server "{name[:80]}" in this file')
        return tuple(texts)

    def _text(self, path: tuple[str, ...], word: str) -> str | None:
        value = object_of(self._value(path)).get(word)
        if value is None or isinstance(value, str):
            return value
        self._refuse((*path, word), f"expected a string, found {describe(value)}")
        return None

    def _table(self, path: tuple[str, ...]) -> dict[str, object]:
        value = self._value(path)
        if value is None or is_object(value):
            return value or {}
        self._refuse(path, f"expected a table, found {describe(value)}")
        return {}

    def _value(self, path: tuple[str, ...]) -> object:
        value: object = self._document.value
        for step in path:
            value = object_of(value).get(step)
        return value

    def _refuse(self, path: tuple[str, ...], message: str) -> None:
        nearest = path
        while not self._document.has(nearest):
            nearest = nearest[:-1]
        self.problems.append(Problem(".".join(path), message, self._document.place(nearest)))


def _project_scope(client: Client) -> str:
    scopes = [each for each in client.scopes if is_of_project(ClientScopeRef(client, each))]
    return (scopes or [*client.scopes])[0].name


def _steps(field_name: str) -> tuple[str, ...]:
    """The keys that lead to a field: `env.KEY`, `args[1]`."""
    return tuple(field_name.partition("[")[0].split(".", 1)) if field_name else ()


def secrets_in(config: Config) -> Iterator[Problem]:
    """What stands as a plain secret in a definition, which a shared file cannot have."""
    local = isinstance(config, LocalConfig)
    word, pairs = ("env", config.environment) if local else ("headers", config.headers)
    for name, value in pairs.items():
        default = names_secret(name) and _DEFAULT in value
        if default or (is_literal(value) and (names_secret(name) or looks_secret(value))):
            yield Problem(f"{word}.{name}", _LITERAL)
    yield from (each for each in literal_secrets(config) if not each.field.startswith(f"{word}."))
