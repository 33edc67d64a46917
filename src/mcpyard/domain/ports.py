"""What the core needs of the world outside, as few seams as possible.

Every one has a public fake in `mcpyard.testing`, and they are wired to the real things in one
place only, `app.py`.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable
from uuid import UUID

from msgspec import Struct

from mcpyard.domain.callers import Caller
from mcpyard.domain.desired import DesiredServer, Document, Owner, PolicyEdit
from mcpyard.domain.errors import NameTaken
from mcpyard.domain.files import FileLock, FileText, FileWrite
from mcpyard.domain.model import Config, Transport
from mcpyard.domain.observed import Capabilities, Era, Figures, Observed
from mcpyard.domain.plan import Action


class Clock(Protocol):
    """Time: monotonic for waiting, the wall's for showing."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...

    def now(self) -> datetime:
        """The time of day, with its zone."""
        ...


class Source(Protocol):
    """One place that definitions come from."""

    @property
    def owner(self) -> Owner:
        """Who owns what this source says."""
        ...

    async def open(self, wake: Callable[[], None]) -> None:
        """Read for the first time, then call `wake` whenever a look is worth while."""
        ...

    def document(self) -> Document:
        """What the source says now; a broken text keeps the last good one in force."""
        ...

    async def close(self) -> None:
        """Stop watching."""
        ...


@runtime_checkable
class EditableSource(Source, Protocol):
    """A source whose definitions can be changed from here.

    Every change is durable and in force when the method returns, or nothing was changed.
    """

    async def add(self, configs: Mapping[str, Config]) -> Mapping[str, NameTaken]:
        """Add the definitions whose names are free, in one write; the refusal of each other."""
        ...

    async def put(self, name: str, config: Config, instead_of: Config) -> None:
        """Change the definition that means `instead_of`.

        Raises:
            DocumentMoved: The one there does not mean `instead_of` any more.
        """
        ...

    async def remove(self, *names: str) -> None:
        """Take definitions out, in one write; `ServerUnknown` when one is gone already."""
        ...

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name; `NameTaken` when it is in use."""
        ...


class WholeChange(Struct, frozen=True):
    """All that is to change about a server.

    Attributes:
        name: What it is called from now on.
        config: How it is reached from now on; None for as it is.
        instead_of: What its definition must still mean, where that is to change.
        policy: Makes its new policy out of the one it has; called in another thread, maybe twice.
    """

    name: str
    config: Config | None
    instead_of: Config
    policy: PolicyEdit


@runtime_checkable
class WholeSource(EditableSource, Protocol):
    """A source that keeps the policies of its servers as well, so that a change is one write."""

    async def change(self, name: str, change: WholeChange) -> None:
        """Change everything about a definition that is to change, or nothing.

        Raises:
            ServerUnknown: It is gone already.
            NameTaken: The new name is in use.
            DocumentMoved: It does not mean `instead_of` any more.
        """
        ...


class KnownConnection(Struct, frozen=True):
    """How a server was reached the last time: what need not be found out again."""

    era: Era
    transport: Transport | None = None


class Memory(Protocol):
    """What must survive a restart of the yard, apart from definitions.

    Readers get what is in memory at once; what is kept is written in the background.
    """

    def identity(self, owner: Owner, name: str) -> UUID:
        """The id of a definition, made at its first sight."""
        ...

    async def rename(self, owner: Owner, name: str, new: str) -> UUID:
        """Give the id of one definition to another name of the same owner, durably."""
        ...

    async def intend_rename(self, owner: Owner, name: str, new: str) -> None:
        """Note durably that a definition is about to get another name; `rename` settles that."""
        ...

    async def give_up_rename(self, owner: Owner, name: str) -> None:
        """Forget that a definition was about to get another name."""
        ...

    def intended_renames(self) -> Sequence[tuple[Owner, str, str]]:
        """What was about to get another name, and which, when a yard was killed."""
        ...

    def exposed_names(self) -> Mapping[tuple[UUID, str], str]:
        """The exposed name of each (server, tool) that ever had one."""
        ...

    def keep_names(self, names: Mapping[tuple[UUID, str], str]) -> None:
        """Keep these names for ever."""
        ...

    def tools(self, server: UUID) -> Sequence[Mapping[str, object]]:
        """The tools a server listed last."""
        ...

    def keep_tools(self, server: UUID, tools: Sequence[Mapping[str, object]]) -> None:
        """Keep what a server listed."""
        ...

    def offer(self, server: UUID) -> Capabilities:
        """What else a server offered last."""
        ...

    def keep_offer(self, server: UUID, offer: Capabilities) -> None:
        """Keep what else a server offers."""
        ...

    def reached(self, launch_digest: str) -> KnownConnection | None:
        """How this launch was reached the last time."""
        ...

    def keep_reached(self, launch_digest: str, reached: KnownConnection | None) -> None:
        """Keep how a launch was reached; None to find out anew."""
        ...

    async def flush(self) -> None:
        """Return when all that was kept so far is there to stay.

        Raises:
            StorageFull: The disk refuses.
        """
        ...

    async def close(self) -> None:
        """Write what is not written yet."""
        ...


class LogLine(Struct, frozen=True):
    """One line a server wrote to its standard error."""

    number: int
    at: datetime
    text: str


RequestHandler = Callable[[str, bytes], Coroutine[Any, Any, bytes]]
"""Answers what a server asks during one call: method, parameters; the result as JSON."""

NotificationHandler = Callable[[str, bytes], None]
"""Receives a notification of a server: method, parameters."""


class CallTerms(Struct, frozen=True):
    """How long a call may take, and who receives its notifications and answers for it.

    Attributes:
        timeout: Seconds until the caller is told `TimedOut`; None for never.
        longest: Seconds up to which progress may extend it; None when it may not.
        progress: Called with each progress notification's parameters.
        on_request: Answers what the server asks meanwhile; without it such requests are refused.
            The call's clock stands still until the answer.
        on_notification: Receives the other notifications of the call.
        capabilities: What the caller can do, as JSON; servers of the modern era are told.
        log_level: The log messages the caller wants; servers of the modern era are told.
        client_key: Whose process to use of a server that has one per client.
        caller: Whose call it is; calls that wait are taken in turn from each caller.
    """

    timeout: float | None = None
    longest: float | None = None
    progress: Callable[[Mapping[str, object]], None] | None = None
    on_request: RequestHandler | None = None
    on_notification: NotificationHandler | None = None
    capabilities: bytes | None = None
    log_level: str | None = None
    client_key: str | None = None
    caller: Caller | None = None


class NotificationInterest(Struct, frozen=True):
    """Which notifications all callers of a server together want.

    Attributes:
        log_level: The most verbose log level anybody wants; None when nobody wants any.
        uris: The resources whose changes somebody wants to know.
    """

    log_level: str | None = None
    uris: frozenset[str] = frozenset()


class NotificationListener(Protocol):
    """Receives the notifications of servers that belong to no call.

    It is handed down once, to whoever runs the session of a server, and called from there.
    """

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        """A server sent a notification."""
        ...


class Servers(Protocol):
    """The supervisor, as the yard sees it."""

    def observed(self) -> Mapping[UUID, Observed]:
        """What is, of every server it holds."""
        ...

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Carry out a plan."""
        ...

    def call(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool and return the result object as it came.

        Waits within the terms for a server that is just connecting, and wakes one that runs on
        demand.

        Raises:
            TimedOut: The time ran out.
            ServerFault: It cannot be reached, or answered with an error.
        """
        ...

    def request(
        self, server: UUID, method: str, params: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server anything and return the result object as it came (see `call`)."""
        ...

    def probe(self, server: UUID) -> None:
        """Try a remote server that is away, at most once a second; nobody waits for it."""
        ...

    def set_listener(self, listener: NotificationListener) -> None:
        """Send the notifications of all servers that are added from now on to a listener."""
        ...

    def tune(self, server: UUID, interest: NotificationInterest) -> None:
        """Which notifications of a server are wanted from now on, over all its restarts."""
        ...

    def release(self, client_key: str) -> None:
        """End the processes that a client had for itself."""
        ...

    async def trial(self, server: DesiredServer) -> Observed:
        """Open a server that is not held, look at it, and end it again.

        Raises:
            ServerFault: It cannot be opened; carries the cause.
        """
        ...

    def log(self, server: UUID) -> Sequence[LogLine]:
        """The last lines a server wrote to its standard error."""
        ...

    def figures(self, server: UUID) -> Figures | None:
        """What a server's processes use just now; None where it has none."""
        ...

    async def close(self) -> None:
        """End every server, within the limit of a shutdown."""
        ...


class SignIns(Protocol):
    """Signing in at remote servers, which takes a person and a browser."""

    async def begin(self, server: DesiredServer, redirect_uri: str) -> str:
        """The address to open in a browser; the browser comes back to `redirect_uri`.

        A sign-in of the same server that was under way is given up.

        Raises:
            NoSignIn: The server is not one to sign in at.
            NeedsAuth: The authorization server cannot be used.
        """
        ...

    async def finish(self, answer: Mapping[str, str]) -> UUID:
        """Take what the browser brought back; which server is signed in now.

        Raises:
            SignInUnknown: No sign-in waits for this answer.
            NeedsAuth: It was refused.
        """
        ...

    async def end(self, server: DesiredServer) -> None:
        """Delete the tokens of a server; raises NoSignIn where there is none to sign in at."""
        ...

    def signed_in(self, server: DesiredServer) -> bool:
        """Whether a connection of a server sends a token of a sign-in."""
        ...


class ClientFiles(Protocol):
    """The files in which other programs keep their servers."""

    async def is_folder(self, path: str) -> bool:
        """Whether there is a folder at that path."""
        ...

    async def read(self, paths: Iterable[str], *, fresh: bool = False) -> Mapping[str, FileText]:
        """What files say, by path; one that cannot be read has a fault.

        Fresh, each is looked into even if it seems to be as it was.
        """
        ...

    async def real(self, paths: Iterable[str]) -> Mapping[str, str]:
        """The file that each path leads to, through whatever links."""
        ...

    def locked(
        self, paths: Iterable[str], locks: Iterable[FileLock]
    ) -> AbstractAsyncContextManager[None]:
        """Keep other yards, and the programs with these locks, from writing some files.

        Raises:
            FileBusy: Somebody else holds one for too long.
        """
        ...

    async def write(self, change: FileWrite) -> None:
        """Put the new text in the place of the old one, and make sure that it is there.

        Raises:
            DocumentMoved: The file does not say any more what it did before.
            StorageFull: The text cannot be stored; the old one is intact.
        """
        ...
