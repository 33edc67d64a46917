"""What can be said of a client program as data: its files, its words, its switches, its rules.

A client is a `Client` made of the records below, and no code. A `Field` names what an entry can say
in neutral words; an `EntrySchema` gives the client's own word for each. What a shape has no word
for, the client cannot hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mcpyard.domain.files import LockKind
from mcpyard.formats.fields import Field
from mcpyard.formats.provenance import DOCUMENTED, Provenance
from mcpyard.formats.reference_syntax import LITERAL, ReferenceSyntax
from mcpyard.formats.value_facts import ValueFacts

PROJECT: Final = "{project}"
"""Stands in a key path for the folder of the project."""

SECOND: Final = 1000
"""Milliseconds."""


class EntryTransport(StrEnum):
    """How messages travel; `remote` leaves it to the program to find out."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"
    WS = "ws"
    REMOTE = "remote"


ALL_WAYS: Final = frozenset(EntryTransport)
REMOTE_WAYS: Final = ALL_WAYS - {EntryTransport.STDIO}


class FileFormat(StrEnum):
    """The language of a file."""

    JSON = "json"
    JSONC = "jsonc"
    TOML = "toml"
    YAML = "yaml"
    YAML_1_1 = "yaml-1.1"


@dataclass(frozen=True, slots=True)
class Location:
    """Where a file is.

    Attributes:
        templates: Paths, the one that is created first; all that exist are read, and a later one
            wins. `{home}`, `{project}`, `{config}` (the XDG one on every system) and `{support}`
            (the system's own folder for settings) stand for folders.
        moved: A variable that moves the file, and the paths it then has, with `{moved}` for it.
        lock: The kind and the path of the lock that its program takes to write it, with `{path}`
            for the file and `{folder}` for its folder.
        alone: Whether only the last that exists is read.
        settles: Seconds in which its program, which takes no lock, may write back what it read
            before somebody else wrote; 0 where it was not seen to.
        added: A variable that adds files, which win, and their paths, with `{added}` for it.
    """

    templates: tuple[str, ...]
    moved: tuple[str, tuple[str, ...]] | None = None
    lock: tuple[LockKind, str] | None = None
    alone: bool = False
    settles: float = 0.0
    added: tuple[str, tuple[str, ...]] | None = None


class SwitchKind(StrEnum):
    """The mechanisms that switch a server off."""

    ENTRY = "entry"
    LIST = "list"
    MAP = "map"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Switch:
    """How a server is switched off.

    Attributes:
        kind: In the entry itself, by a list of names, by a map of names, or by no file at all.
        file: The file of the list or the map; None where it is the file of the entries.
        off: The path of the list of those that are off, or of the map.
        on: The path of the list of those that are on, where being on must be said.
        lowered: Whether the names stand there in lower case.
        trust: What else must be true for being on to count.
    """

    kind: SwitchKind
    file: Location | None = None
    off: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    lowered: bool = False
    trust: str = ""


IN_ENTRY: Final = Switch(SwitchKind.ENTRY)
NOWHERE: Final = Switch(SwitchKind.NONE)


class Effective(StrEnum):
    """What becomes of a server in its program."""

    ENABLED = "enabled"
    DISABLED = "disabled"
    SHADOWED = "shadowed"
    BLOCKED = "blocked"
    UNTRUSTED = "untrusted"
    INVALID = "invalid"


class Match(StrEnum):
    """What to look for at a place of a file, or in the environment."""

    NAMED = "named"
    UNNAMED = "unnamed"
    SAYS = "says"
    FOLDERS = "folders"
    VARIABLE = "variable"
    DECIDED = "decided"


class ApprovalState(StrEnum):
    """What the user said of a server, where the program keeps it with a hash of the entry."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Condition:
    """A fact outside of an entry that decides about it.

    Attributes:
        sign: A list that has the server's name; a list that is there and has it not; one of some
            words; a map or a list of folders by which the project is trusted; a variable; an
            `ApprovalState` of the entry as it is.
        keys: Where it stands in each of the files; for a variable, its name.
        files: The files, any of which may say so.
        values: What counts as yes.
        patterns: Whether `*` and `?` in a listed name stand for any characters and for one.
    """

    sign: Match
    keys: tuple[str, ...]
    files: tuple[Location, ...] = ()
    values: tuple[object, ...] = (True,)
    patterns: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What can keep a program from using a server, besides its switch.

    Attributes:
        state: What the server is while the rule applies.
        says: Why, as a sentence.
        shuts: Any of these shuts it.
        opens: Where there are some, it is shut as long as none of them is found.
        unread: Whether the program does not even read the file of the servers while it is shut.
        unless: Any of these makes the rule void.
        hides: Whether a server that it shuts still hides others of its name.
    """

    state: Effective
    says: str
    shuts: tuple[Condition, ...] = ()
    opens: tuple[Condition, ...] = ()
    unread: bool = False
    unless: tuple[Condition, ...] = ()
    hides: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All that it looks for."""
        return (*self.shuts, *self.opens, *self.unless)


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of a time: how many milliseconds, and whether only whole ones are taken."""

    milliseconds: int = 1
    whole: bool = True


@dataclass(frozen=True, slots=True)
class EntrySchema:
    """How entries are spelled.

    Attributes:
        field_names: The word for each field it has; a dot leads into an object.
        keys: The path of the object that holds them.
        also: Other words that are read, and the field each means.
        joined: Whether `command` is a list that holds the arguments too.
        joinable: Whether it can be such a list too, beside the usual text.
        types: The word of each way that can be said; a word of several ways is read as the first.
        type_aliases: Other words that are read.
        type_needed: The ways for which an entry without a type is refused.
        type_written: The ways for which we write one.
        url_ways: What an address without a type is, by the word it stands under.
        exclusive: Whether a field of local servers beside an address is refused, or the reverse.
        units: The units of times by their words, milliseconds where there is none.
        fixed: What every entry with a command says besides.
        needed: The words without which the client ignores an entry that has a command, with what
            is written where nothing else is to be said.
        needed_remote: The same of entries that have an address.
        others: Words that the client knows and that no other client has a word for.
        stubs: Whether an entry with neither command nor address is legal.
        versions: The versions of the program that read it.
        own_name: Where the servers are an object, a word under which each repeats its name.
        other_types: Types of entries that are no MCP servers: they are left alone.
        name_key: Where the servers are a list, the word under which each says its name.
        elsewhere_key: In such a list, a word of elements whose server is defined elsewhere.
        accepts: Which values it accepts, where the program itself was asked.
        spaced: Words whose list is one text, with spaces between the items.
        beside: What an object must say for its fields to count, by the word of the object.
    """

    field_names: Mapping[Field, str]
    keys: tuple[str, ...] = ("mcpServers",)
    also: Mapping[str, Field] = field(default_factory=dict[str, Field])
    joined: bool = False
    joinable: bool = False
    types: Mapping[EntryTransport, str] = field(default_factory=dict[EntryTransport, str])
    type_aliases: Mapping[str, EntryTransport] = field(default_factory=dict[str, EntryTransport])
    type_needed: frozenset[EntryTransport] = frozenset()
    type_written: frozenset[EntryTransport] = frozenset()
    url_ways: Mapping[str, EntryTransport] = field(default_factory=dict[str, EntryTransport])
    exclusive: bool = False
    units: Mapping[str, Unit] = field(default_factory=dict[str, Unit])
    fixed: Mapping[str, object] = field(default_factory=dict[str, object])
    others: frozenset[str] = frozenset()
    stubs: bool = False
    versions: str = ""
    name_key: str = ""
    elsewhere_key: str = ""
    own_name: str = ""
    other_types: frozenset[str] = frozenset()
    needed: Mapping[str, object] = field(default_factory=dict[str, object])
    needed_remote: Mapping[str, object] = field(default_factory=dict[str, object])
    accepts: ValueFacts | None = field(default=None, repr=False)
    spaced: frozenset[str] = frozenset()
    beside: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )


@dataclass(frozen=True, slots=True)
class FileReading:
    """How a client reads a file that it shares with others; see `Client` for the attributes."""

    shapes: tuple[EntrySchema, ...]
    format: FileFormat
    dialect: ReferenceSyntax


@dataclass(frozen=True, slots=True)
class ClientScope:
    """One of the places in which a client keeps servers.

    Attributes:
        name: The word after the colon, as in `claude:project`.
        location: The file; None for what is no file.
        above: The keys above those of the shape.
        switch: How a server of this scope is switched off.
        trust: What must be true besides, for the program to use what stands there.
        rules: The same and more, as far as files tell it; the first that is shut decides.
        hides: The scopes whose servers of the same name do not count beside one of this.
        provenance: How its facts were found out, where not as those of the client.
        reading: How its file is read, where not as the other files of the client.
    """

    name: str
    location: Location | None
    above: tuple[str, ...] = ()
    switch: Switch = IN_ENTRY
    trust: str = ""
    rules: tuple[Rule, ...] = ()
    hides: tuple[str, ...] = ()
    provenance: Provenance | None = None
    reading: FileReading | None = None


@dataclass(frozen=True, slots=True)
class NameRule:
    """Which names a client takes.

    Attributes:
        pattern: A regular expression for all of a name.
        reserved: Names it keeps for itself.
        folded: Whether two names that differ in case are one.
        says: The rule in words.
    """

    pattern: str = r".+"
    reserved: frozenset[str] = frozenset()
    folded: bool = False
    says: str = "any text"


ANY_NAME: Final = NameRule()
FOLDED_NAME: Final = NameRule(folded=True, says="any text, but not two that differ only in case")


@dataclass(frozen=True, slots=True)
class Client:
    """A program that keeps MCP servers in a file.

    Attributes:
        id: What it is called in commands and addresses.
        title: What it is called on the page.
        scopes: Where it keeps servers; the first is meant when none is named.
        shapes: How it spells them; the first is used for a new file.
        aliases: Other ids it is known by.
        format: The language of its files.
        bom: Whether it can read a file with a byte order mark.
        toml_1_0: Whether it reads TOML 1.0 alone, so that TOML 1.1 breaks its file.
        closed: Whether it complains about a field it does not know.
        fragile: Whether one bad entry keeps it from reading any other.
        merges: Whether entries of one name in several files are put together field by field.
        dialect: How it writes references to variables.
        literal_fields: The fields in which it replaces none.
        by_shell: Whether it joins a command and its arguments, and runs them with a shell.
        speaks: The ways it can reach a server.
        names: Which names it takes.
        provenance: How all this was found out.
        trailing_commas: Whether it can read a comma behind the last item.
        included: A regular expression for references to files that must exist, as `path`.
    """

    id: str
    title: str
    scopes: tuple[ClientScope, ...]
    shapes: tuple[EntrySchema, ...]
    aliases: tuple[str, ...] = ()
    format: FileFormat = FileFormat.JSON
    bom: bool = True
    toml_1_0: bool = False
    closed: bool = False
    fragile: bool = False
    merges: bool = False
    dialect: ReferenceSyntax = LITERAL
    literal_fields: frozenset[Field] = frozenset()
    by_shell: bool = False
    speaks: frozenset[EntryTransport] = frozenset(EntryTransport) - {EntryTransport.WS}
    names: NameRule = ANY_NAME
    provenance: Provenance = DOCUMENTED
    trailing_commas: bool = True
    included: str = ""

    def dialect_of(self, name: Field) -> ReferenceSyntax:
        """How it writes references in a field."""
        return LITERAL if name in self.literal_fields else self.dialect


USUAL_NAMES: Final[Mapping[Field, str]] = {
    Field.COMMAND: "command",
    Field.ARGS: "args",
    Field.ENV: "env",
    Field.URL: "url",
    Field.HEADERS: "headers",
}
"""What most programs took over from the first one."""

USUAL_TYPES: Final[Mapping[EntryTransport, str]] = {
    EntryTransport.STDIO: "stdio",
    EntryTransport.HTTP: "http",
    EntryTransport.SSE: "sse",
    EntryTransport.REMOTE: "http",
}


OPPOSITE: Final = "disabled"
"""The word that means the opposite of `enabled`, in every program that has it."""


def user_file(*templates: str, switch: Switch = IN_ENTRY) -> ClientScope:
    """A scope of the user's servers, in a file of theirs alone."""
    return ClientScope("user", Location(templates), switch=switch)


def project_file(*templates: str, switch: Switch = IN_ENTRY, trust: str = "") -> ClientScope:
    """A scope of a project's servers, which count instead of the user's of the same name."""
    return ClientScope("project", Location(templates), switch=switch, trust=trust, hides=("user",))


def types_with_http(word: str) -> Mapping[EntryTransport, str]:
    """The usual types, with another word for streamable HTTP."""
    return {**USUAL_TYPES, EntryTransport.HTTP: word, EntryTransport.REMOTE: word}
