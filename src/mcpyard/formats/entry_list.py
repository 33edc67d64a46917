"""The servers in a client's file, each with its place; a bad one costs only itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DefinitionError, Problem, ServerUnknown, SourceLocation
from mcpyard.domain.narrowing import is_object
from mcpyard.formats.containers import EntryContainer
from mcpyard.formats.documents import Parsed, editor_of, name_place
from mcpyard.formats.editors import jsonc, toml
from mcpyard.formats.editors.jsonc_scan import BOM, Path
from mcpyard.formats.entries import Entry, understand
from mcpyard.formats.facts import Client, FileFormat
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.value_facts import costs_entry, refused

_TRAILING_COMMA: Final = "trailing comma"


@dataclass(frozen=True, slots=True)
class Listed:
    """A server of a file, and the problems that keep its program from using it.

    What is no entry at all has none. `alone` tells whether they cost no other server.
    """

    name: str
    place: SourceLocation
    entry: Entry | None
    problems: tuple[Problem, ...] = ()
    alone: bool = True

    @property
    def enabled(self) -> bool:
        """Whether the entry itself leaves it on."""
        return self.entry is None or self.entry.enabled is not False

    @property
    def is_half(self) -> bool:
        """Whether another file may say how it is launched."""
        return self.entry is not None and self.entry.command is None and self.entry.url is None


@dataclass(frozen=True, slots=True)
class FileListing:
    """The servers of a file, in its order, and what keeps the program from reading all of it."""

    ref: ClientScopeRef
    servers: tuple[Listed, ...] = ()
    problems: tuple[Problem, ...] = ()
    _named: dict[str, Listed] = field(
        default_factory=dict[str, Listed], init=False, repr=False, compare=False
    )

    def has(self, name: str) -> bool:
        """Whether there is a server of that name."""
        if not self._named:
            # All of a file's servers may be asked for one after the other.
            self._named.update((each.name, each) for each in self.servers)
        return name in self._named

    def server(self, name: str) -> Listed:
        """A server by its name, or raise `ServerUnknown`."""
        if not self.has(name):
            raise nobody(name, self.ref)
        return self._named[name]

    def entry(self, name: str) -> Entry:
        """The entry of a server that can be used, or raise `DefinitionError`."""
        listed = self.server(name)
        if listed.entry is None or listed.problems:
            raise DefinitionError.of(*listed.problems)
        return listed.entry

    @property
    def unread(self) -> str:
        """Why the program loads no servers of this file, for a person to read; else empty."""
        if self.problems:
            first = self.problems[0]
            why = structs.replace(first, place=None)
            return f"not loaded until {first.place} is corrected: {why}"
        merges, title = self.ref.client.merges, self.ref.client.title
        for each in self.servers:
            if each.problems and not each.alone and not (merges and each.is_half):
                why = structs.replace(each.problems[0], place=None)
                return f'{title} loads no servers while "{each.name[:80]}" is invalid: {why}'
        return ""


def read(ref: ClientScopeRef, text: str, file: str = "") -> FileListing:
    """List the servers of a file, or raise `DocumentBroken`."""
    [listing] = read_scopes((ref,), text, file)
    return listing


def read_scopes(
    refs: Sequence[ClientScopeRef], text: str, file: str = ""
) -> tuple[FileListing, ...]:
    """List the servers of several scopes of one client that share a file, which is read once."""
    parsed = editor_of(refs[0].client).parse(text, file)
    return tuple(listing_of(ref, parsed) for ref in refs)


def listing_of(ref: ClientScopeRef, parsed: Parsed) -> FileListing:
    """List the servers of a text that was parsed already."""
    servers = EntryContainer.of(ref, parsed)
    ref = replace(ref, schema=servers.shape)
    listed = tuple(_listed(ref, servers, name, raw) for name, raw in servers.entries.items())
    return FileListing(ref, listed, (*whole_problems(ref.client, parsed), *servers.problems))


def whole_problems(client: Client, parsed: Parsed) -> tuple[Problem, ...]:
    """What keeps a client from reading all of a file that can be read here."""
    problems = (mark_problem, strict_problem, newer_problem, second_problem)
    return tuple(filter(None, (problem(client, parsed) for problem in problems)))


def mark_problem(client: Client, parsed: Parsed) -> Problem | None:
    """A byte order mark that the client cannot read."""
    if client.bom or not parsed.text.startswith(BOM):
        return None
    message = f"starts with a byte order mark (BOM), which {client.title} cannot read"
    return Problem("", message, SourceLocation(parsed.file, 1, 1))


def strict_problem(client: Client, parsed: Parsed) -> Problem | None:
    """The first comment or trailing comma, in a file of a client that takes none."""
    strict = client.format is FileFormat.JSON
    if not isinstance(parsed, jsonc.JsoncDocument) or (not strict and client.trailing_commas):
        return None
    for extra in parsed.extras:
        if not strict and extra.what != _TRAILING_COMMA:
            continue
        message = f"{extra.what}: {client.title} cannot read a file with one"
        return Problem("", message, extra.place)
    return None


def newer_problem(client: Client, parsed: Parsed) -> Problem | None:
    """The first syntax of TOML 1.1, in a file of a client that reads TOML 1.0 alone."""
    if not client.toml_1_0 or not isinstance(parsed, toml.TomlDocument):
        return None
    if newer := parsed.newer:
        message = f"TOML 1.1: {client.title} reads only TOML 1.0 ({newer.message})"
        return Problem("", message, newer.place)
    return None


def second_problem(_: Client, parsed: Parsed) -> Problem | None:
    """A second document in a YAML file: the programs read a file of one document only."""
    second: SourceLocation | None = getattr(parsed, "second", None)
    return Problem("", "a second document begins here; one is expected", second) if second else None


def _listed(ref: ClientScopeRef, servers: EntryContainer, name: str, raw: object) -> Listed:
    parsed, path = servers.parsed, servers.path_of(name)
    place = name_place(parsed, path)
    if not is_object(raw):
        message = f"expected an object, found {describe(raw)}"
        problem = Problem(".".join((*servers.path, name)), message, place)
        return Listed(name, place, None, (problem,), not _costs_file(raw, ref))
    reading = understand(raw, ref.client, ref.shape)
    problems = tuple(_located(servers, name, path, problem) for problem in reading.problems)
    return Listed(name, place, reading.entry, problems, reading.alone)


def _costs_file(raw: object, ref: ClientScopeRef) -> bool:
    if ref.shape.accepts is None:
        return ref.client.fragile
    return not costs_entry(refused(raw, ref.shape.accepts))


def _located(servers: EntryContainer, name: str, path: Path, problem: Problem) -> Problem:
    head = problem.field.split(".", 1)[0].split("[", 1)[0]
    spelled = ".".join((*servers.path, name, problem.field))
    nearest = (*path, head) if servers.parsed.has((*path, head)) else path
    return Problem(spelled, problem.message, name_place(servers.parsed, nearest))


def nobody(name: str, ref: ClientScopeRef) -> ServerUnknown:
    """The error about a server that a program does not have."""
    error = ServerUnknown(f'there is no server "{name[:80]}" in {ref}')
    return error.advising("List the entries: mcpyard clients ls")
