"""The servers in a client's file, each with its place; a bad one costs only itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DefinitionError, Problem, ServerUnknown, SourceLocation
from mcpyard.domain.narrowing import is_object
from mcpyard.formats.documents import Parsed, editor_of, name_place, object_at, shape_of
from mcpyard.formats.editors import jsonc
from mcpyard.formats.editors.jsonc_scan import BOM
from mcpyard.formats.entries import Entry, understand
from mcpyard.formats.facts import Client, FileFormat
from mcpyard.formats.locations import ClientScopeRef


@dataclass(frozen=True, slots=True)
class Listed:
    """A server of a file, and the problems that keep its program from using it.

    What is no entry at all has none.
    """

    name: str
    place: SourceLocation
    entry: Entry | None
    problems: tuple[Problem, ...] = ()

    @property
    def enabled(self) -> bool:
        """Whether the entry itself leaves it on."""
        return self.entry is None or self.entry.enabled is not False


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
    ref = replace(ref, schema=shape_of(ref, parsed))
    path = (*ref.above, *ref.shape.keys)
    servers = object_at(parsed, path)
    listed = tuple(_listed(ref, parsed, path, name, raw) for name, raw in servers.items())
    whole = (mark_problem(ref.client, parsed), strict_problem(ref.client, parsed))
    return FileListing(ref, listed, tuple(each for each in whole if each))


def mark_problem(client: Client, parsed: Parsed) -> Problem | None:
    """A byte order mark that the client cannot read."""
    if client.bom or not parsed.text.startswith(BOM):
        return None
    message = f"starts with a byte order mark (BOM), which {client.title} cannot read"
    return Problem("", message, SourceLocation(parsed.file, 1, 1))


def strict_problem(client: Client, parsed: Parsed) -> Problem | None:
    """The first comment or trailing comma, in a file of a client that takes none."""
    if client.format is not FileFormat.JSON or not isinstance(parsed, jsonc.JsoncDocument):
        return None
    for extra in parsed.extras:
        message = f"{extra.what}: {client.title} cannot read a file with one"
        return Problem("", message, extra.place)
    return None


def _listed(
    ref: ClientScopeRef, parsed: Parsed, path: tuple[str, ...], name: str, raw: object
) -> Listed:
    path = (*path, name)
    place = name_place(parsed, path)
    if not is_object(raw):
        message = f"expected an object, found {describe(raw)}"
        return Listed(name, place, None, (Problem(".".join(path), message, place),))
    reading = understand(raw, ref.client, ref.shape)
    problems = tuple(_located(parsed, path, problem) for problem in reading.problems)
    return Listed(name, place, reading.entry, problems)


def _located(parsed: Parsed, path: tuple[str, ...], problem: Problem) -> Problem:
    head = problem.field.split(".", 1)[0].split("[", 1)[0]
    spelled = ".".join((*path, problem.field))
    nearest = (*path, head) if parsed.has((*path, head)) else path
    return Problem(spelled, problem.message, name_place(parsed, nearest))


def nobody(name: str, ref: ClientScopeRef) -> ServerUnknown:
    """The error about a server that a program does not have."""
    error = ServerUnknown(f'there is no server "{name[:80]}" in {ref}')
    return error.advising("List the entries: mcpyard clients ls")
