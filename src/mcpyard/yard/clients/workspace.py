"""The texts that an operation works on, before anything is written."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import structs

from mcpyard.domain.errors import DocumentBroken, Problem
from mcpyard.domain.files import FileText, FileWrite
from mcpyard.domain.model import Config, Scope
from mcpyard.formats import mcp_json, switches
from mcpyard.formats.entry_list import FileListing, read
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.yard_scope_documents import Plain, document, servers_of
from mcpyard.yard.clients.yard_scope_snapshot import NOTHING, OwnPicture

if TYPE_CHECKING:
    from mcpyard.domain.sync.plan import EntryDigest, EntryKey

_UNREADABLE: Final = "Check the path and its permissions: it must be a readable text file."


@dataclass(frozen=True, slots=True)
class OwnPut:
    """A server to put into the yard, with all that is to be said of it; a new one waits."""

    scope: Scope
    name: str
    definition: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OwnRemove:
    """A server to take out of the yard."""

    scope: Scope
    name: str


@dataclass(frozen=True, slots=True)
class OwnRename:
    """A server of the yard to give another name."""

    scope: Scope
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class OwnSwitch:
    """A server of the yard to let run, or not."""

    scope: Scope
    name: str
    enabled: bool


OwnAction = OwnPut | OwnRemove | OwnRename | OwnSwitch


class Workspace:
    """What files say, and what they are to say.

    Attributes:
        own: What the yard itself keeps.
        warnings: What is to be told.
        overwritten: What is to be told of files that their programs overwrote.
        actions: What is to be done in the yard itself; its documents follow from that.
        claims: What a sync is about to own, by entry; None for what it gives up.
        unapproved: The files whose new content nobody has approved by asking for it.
    """

    def __init__(self, texts: Mapping[str, FileText], own: OwnPicture = NOTHING) -> None:
        self.own = own
        self._files = texts
        self._fresh: dict[str, str] = {}
        self._first: set[str] = set()
        self._own: set[str] = set()
        self._own_servers: dict[str, dict[str, Plain]] = {}
        self._unspelled: set[str] = set()
        self._listings: dict[tuple[str, str], tuple[str, FileListing]] = {}
        self._switched_off: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._added: dict[str, dict[str, Config]] = {}
        self.warnings: list[Warned] = []
        self.overwritten: list[Warned] = []
        self.actions: list[OwnAction] = []
        self.claims: dict[EntryKey, EntryDigest | None] = {}
        self.unapproved: set[str] = set()

    def is_of(self, texts: Mapping[str, FileText], own: OwnPicture) -> bool:
        """Whether it was laid with just these texts, and with this picture."""
        return self.own is own and self._files == texts

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        file = self._files.get(path)
        return file is not None and (file.text is not None or file.fault is not None)

    def text(self, path: str) -> str:
        """What a file says by now; nothing where it is not there.

        Raises:
            DocumentBroken: It cannot be read.
        """
        if added := self._added.pop(path, None):
            self._fresh[path] = mcp_json.add(self.text(path), added)
        if path in self._unspelled:
            self._unspelled.remove(path)
            self._fresh[path] = document(self._own_servers[path])
        if path in self._fresh:
            return self._fresh[path]
        file = self._files.get(path)
        if file and file.fault:
            raise broken(file.fault)
        return (file.text if file else None) or ""

    def listing(self, ref: ClientScopeRef, path: str) -> FileListing:
        """The servers of a file; it is read again only when it says something else."""
        text, key = self.text(path), (path, str(ref))
        cached = self._listings.get(key)
        if cached is None or cached[0] is not text:
            cached = self._listings[key] = text, read(ref, text, path)
        return cached[1]

    def switched_off(self, ref: ClientScopeRef, path: str) -> frozenset[str]:
        """The names that a file switches off; it is read again only when it says something else."""
        text, key = self.text(path), (path, str(ref))
        cached = self._switched_off.get(key)
        if cached is None or cached[0] is not text:
            cached = self._switched_off[key] = text, switches.switched_off(ref, text)
        return cached[1]

    def add_own(self, path: str, name: str, config: Config) -> bool:
        """Let the project's file say a server that it does not have; whether it has not.

        Those that come one after the other are one edit.
        """
        if path not in self._added:
            text = self.text(path)
            self._names[path] = mcp_json.names(text)
            self.put_own(path, text)
        added = self._added.setdefault(path, {})
        if name in self._names[path] or name in added:
            return False
        added[name] = config
        return True

    def put(self, path: str, text: str, *, first: bool = False) -> None:
        """Let a file say something else; `first` has it written before all others."""
        self._fresh[path] = text
        if first:
            self._first.add(path)

    def put_own(self, path: str, text: str) -> None:
        """Let a file of the yard say what actions will make it say."""
        self.put(path, text)
        self._own.add(path)

    def own_servers(self, path: str) -> Mapping[str, Plain]:
        """What a document of the yard that is made up says by now."""
        if path not in self._own_servers:
            self._own_servers[path] = servers_of(self.text(path))
        return self._own_servers[path]

    def say_of(self, path: str, name: str, server: Plain) -> None:
        """Let a document that is made up say something else of one server; nothing, if empty."""
        self.own_servers(path)
        servers = self._own_servers[path]
        servers.pop(name, None)
        if server:
            servers[name] = server
        self.say(path, servers)

    def say(self, path: str, servers: dict[str, Plain]) -> None:
        """Let a document that is made up say what actions will make it say."""
        # It is spelled once at the end: hundreds of servers may come one after the other.
        self._fresh.setdefault(path, "")
        self._own_servers[path] = servers
        self._unspelled.add(path)
        self._own.add(path)

    def is_own(self, path: str) -> bool:
        """Whether a document is written by actions of the yard."""
        return path in self._own

    def warn(self, *warnings: Warned) -> None:
        """Add warnings, each of them once."""
        present = {_content(each) for each in self.warnings}
        self.warnings += [each for each in warnings if _content(each) not in present]

    def writes(self) -> tuple[FileWrite, ...]:
        """What is different from what was found."""
        paths = sorted(self._fresh, key=lambda path: path not in self._first)
        changes = [FileWrite(path, self._before(path), self.text(path)) for path in paths]
        return tuple(each for each in changes if (each.before or "") != each.after)

    def _before(self, path: str) -> str | None:
        file = self._files.get(path)
        return file.text if file else None


def _content(warned: Warned) -> tuple[str, ...]:
    """What a warning tells, for finding the same in another one."""
    # A copy names a switch by the word of its source, and whoever writes it by that of the target.
    field = "" if warned.kind is WarningKind.RELOCATED else warned.field
    return warned.kind, field, warned.message


def broken(*problems: Problem) -> DocumentBroken:
    """The error about a file that cannot be used, for what is wrong with it."""
    error = DocumentBroken.of(*problems)
    whole = all(each.place is not None and not each.place.line for each in problems)
    return error.advising(_UNREADABLE) if whole else error


def same_texts(earlier: Mapping[str, FileText], texts: Mapping[str, FileText]) -> bool:
    """Whether files say what they said earlier."""
    # A file that stayed as it was is read once, so the very same text means the same file.
    return earlier.keys() == texts.keys() and all(
        each is earlier[path] or (each.text is earlier[path].text is None and each == earlier[path])
        for path, each in texts.items()
    )


@contextmanager
def within(path: str) -> Generator[None]:
    """Name the file in what is told about a text that did not know which one it is of."""
    try:
        yield
    except DocumentBroken as error:
        raise DocumentBroken.of(*(_placed(each, path) for each in error.problems)) from None


def _placed(problem: Problem, path: str) -> Problem:
    if problem.place is None:
        return problem
    return structs.replace(problem, place=structs.replace(problem.place, file=path))
