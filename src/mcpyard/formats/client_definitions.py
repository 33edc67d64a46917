"""Clients that a user describes in TOML, in the words of `facts` and checked by the same rules.

A file has the names of the attributes of `Client` and of the records below it. Patterns are chosen
by name, so that no text of a file can make mcpyard slow.
"""

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.formats.editors.toml_document import TomlDocument, parse
from mcpyard.formats.fact_rules import fact_problems
from mcpyard.formats.facts import (
    ANY_NAME,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    NameRule,
    Switch,
    SwitchKind,
    Unit,
)
from mcpyard.formats.provenance import DOCUMENTED, Evidence, Provenance
from mcpyard.formats.reference_syntax import (
    BRACES,
    BRACES_OR_BARE,
    ENV_BRACES,
    LITERAL,
    ReferenceSyntax,
)

if TYPE_CHECKING:
    from mcpyard.formats.editors.jsonc_scan import Path

DIALECTS: Final[Mapping[str, ReferenceSyntax]] = {
    "literal": LITERAL,
    "braces": BRACES,
    "braces-or-bare": BRACES_OR_BARE,
    "env-braces": ENV_BRACES,
    "braces-env": ReferenceSyntax(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}", "{{env:{}}}"
    ),
}
"""The ways to write a reference that a file can name."""

_AT: Final = re.compile(r" - at (?:`key` in )?`\$?(?P<path>[^`\[]*(?:\[\d+\][^`\[]*)*)[^`]*`$")
_STEP: Final = re.compile(r"\.?([A-Za-z_]\w*)|\[(\d+)\]")
_FIELD: Final = re.compile(r"unknown field `(?P<name>[^`]*)`")


class _Record(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A table of a file."""


class _Moved(_Record, frozen=True):
    variable: str
    templates: tuple[str, ...]


class _Location(_Record, frozen=True):
    templates: tuple[str, ...]
    moved: _Moved | None = None
    alone: bool = False

    def fact(self) -> Location:
        moved = (self.moved.variable, self.moved.templates) if self.moved else None
        return Location(self.templates, moved, alone=self.alone)


class _Switch(_Record, frozen=True):
    kind: SwitchKind
    file: _Location | None = None
    off: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    lowered: bool = False
    trust: str = ""

    def fact(self) -> Switch:
        file = self.file.fact() if self.file else None
        return Switch(self.kind, file, self.off, self.on, self.lowered, self.trust)


class _Provenance(_Record, frozen=True):
    evidence: Evidence
    version: str = ""

    def fact(self) -> Provenance:
        return Provenance(self.evidence, self.version)


class _Scope(_Record, frozen=True):
    name: str
    location: _Location
    above: tuple[str, ...] = ()
    switch: _Switch = _Switch(SwitchKind.ENTRY)
    trust: str = ""
    hides: tuple[str, ...] = ()
    provenance: _Provenance | None = None

    def fact(self) -> ClientScope:
        return ClientScope(
            self.name,
            self.location.fact(),
            self.above,
            self.switch.fact(),
            self.trust,
            hides=self.hides,
            provenance=self.provenance.fact() if self.provenance else None,
        )


class _Unit(_Record, frozen=True):
    milliseconds: int
    whole: bool = True


class _EntrySchema(_Record, frozen=True):
    field_names: dict[Field, str]
    keys: tuple[str, ...] = ("mcpServers",)
    also: dict[str, Field] = {}
    joined: bool = False
    joinable: bool = False
    types: dict[EntryTransport, str] = {}
    type_aliases: dict[str, EntryTransport] = {}
    type_needed: frozenset[EntryTransport] = frozenset()
    type_written: frozenset[EntryTransport] = frozenset()
    url_ways: dict[str, EntryTransport] = {}
    exclusive: bool = False
    units: dict[str, _Unit] = {}
    fixed: dict[str, object] = {}
    others: frozenset[str] = frozenset()
    stubs: bool = False
    versions: str = ""
    name_key: str = ""
    elsewhere_key: str = ""
    own_name: str = ""
    other_types: frozenset[str] = frozenset()
    needed: dict[str, object] = {}
    needed_remote: dict[str, object] = {}
    spaced: frozenset[str] = frozenset()
    beside: dict[str, dict[str, object]] = {}

    def fact(self) -> EntrySchema:
        members: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        members["units"] = {
            word: Unit(each.milliseconds, each.whole) for word, each in self.units.items()
        }
        return EntrySchema(**members)


class _Names(_Record, frozen=True):
    pattern: str = ANY_NAME.pattern
    reserved: frozenset[str] = frozenset()
    folded: bool = False
    says: str = ANY_NAME.says

    def fact(self) -> NameRule:
        return NameRule(self.pattern, self.reserved, self.folded, self.says)


class _Client(_Record, frozen=True):
    id: str
    title: str
    scopes: tuple[_Scope, ...]
    shapes: tuple[_EntrySchema, ...]
    aliases: tuple[str, ...] = ()
    format: FileFormat = FileFormat.JSON
    bom: bool = True
    toml_1_0: bool = False
    closed: bool = False
    fragile: bool = False
    merges: bool = False
    dialect: str = "literal"
    literal_fields: frozenset[Field] = frozenset()
    by_shell: bool = False
    speaks: frozenset[EntryTransport] = frozenset(EntryTransport) - {EntryTransport.WS}
    names: _Names = _Names()
    provenance: _Provenance | None = None
    trailing_commas: bool = True

    def fact(self) -> Client:
        return Client(
            self.id,
            self.title,
            tuple(each.fact() for each in self.scopes),
            tuple(each.fact() for each in self.shapes),
            aliases=self.aliases,
            format=self.format,
            bom=self.bom,
            toml_1_0=self.toml_1_0,
            closed=self.closed,
            fragile=self.fragile,
            merges=self.merges,
            dialect=DIALECTS.get(self.dialect, LITERAL),
            literal_fields=self.literal_fields,
            by_shell=self.by_shell,
            speaks=self.speaks,
            names=self.names.fact(),
            provenance=self.provenance.fact() if self.provenance else DOCUMENTED,
            trailing_commas=self.trailing_commas,
        )


def define(text: str, file: str, taken: Collection[str] = ()) -> Client:
    """The client that a file describes; `taken` are the ids and aliases of others.

    Raises:
        DocumentBroken: It is not TOML, or not the facts of a client; with file, line and field.
    """
    document = parse(text, file=file)
    try:
        definition = msgspec.convert(document.value, _Client)
    except msgspec.ValidationError as error:
        raise DocumentBroken.of(_unconverted(document, str(error))) from None
    client = definition.fact()
    problems = [
        *_taken_problems(client, taken),
        *([] if definition.dialect in DIALECTS else [_unknown_dialect(definition.dialect)]),
        *fact_problems(client),
    ]
    if problems:
        raise DocumentBroken.of(*(_placed(document, each) for each in problems))
    return client


def _taken_problems(client: Client, taken: Collection[str]) -> list[Problem]:
    fields = ["id", *(f"aliases[{index}]" for index, _ in enumerate(client.aliases))]
    words = zip(fields, (client.id, *client.aliases), strict=True)
    return [
        Problem(field, f'"{word}" is the name of another client; choose another one')
        for field, word in words
        if word in taken
    ]


def _unknown_dialect(word: str) -> Problem:
    expected = ", ".join(DIALECTS)
    return Problem("dialect", f'"{word[:40]}" is unknown; expected one of {expected}')


def _unconverted(document: TomlDocument, message: str) -> Problem:
    """What keeps the members from being those of a client, with where."""
    where = _AT.search(message)
    sentence = message[: where.start()] if where else message
    field = where["path"].lstrip(".") if where else ""
    if unknown := _FIELD.search(sentence):
        field = f"{field}.{unknown['name']}".lstrip(".")
        sentence = "is unknown"
    return _placed(document, Problem(field, sentence[:1].lower() + sentence[1:]))


def _placed(document: TomlDocument, problem: Problem) -> Problem:
    """A problem with the place of the innermost part of its field that is there."""
    steps = _STEP.finditer(problem.field)
    path: Path = ()
    for step in (int(each[2]) if each[2] else each[1] for each in steps):
        if not document.has((*path, step)):
            break
        path = (*path, step)
    place = document.place(path) if path else SourceLocation(document.file, 1, 1)
    return Problem(problem.field, problem.message, place)
