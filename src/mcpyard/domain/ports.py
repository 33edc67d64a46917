"""What the core needs of the world outside, as few seams as possible.

Every one has a public fake in `mcpyard.testing`; `app.py` alone wires them to the real things.
"""

from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from msgspec import Struct

from mcpyard.domain.callers import Caller
from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.desired import Desired, DesiredServer, Owner
from mcpyard.domain.files import FileLock, FileText, FileWrite
from mcpyard.domain.model import Transport
from mcpyard.domain.observed import Capabilities, Era, Figures, Observed
from mcpyard.domain.plan import Action
from mcpyard.domain.started_calls import CallWaiter, StartedCall, WaitingCall


class Clock(Protocol):
    """Time: monotonic for waiting, the wall's for showing."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...

    def now(self) -> datetime:
        """The time of day, with its zone."""
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
        """Keep these names for ever; of two nodes that give one at once, one loses it."""
        ...

    def watch_names(self, lost: Callable[[Collection[UUID]], None]) -> None:
        """Call back with the servers whose tools lost a name that was kept here."""
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
    """One line a server wrote to its standard error, or a log message that it sent.

    Attributes:
        number: Grows with every line and message.
        at: When it came.
        text: What it says.
        level: The level of a message, one of the protocol's; None for a line.
        logger: What the server calls the part of it that logs; None where it does not say.
    """

    number: int
    at: datetime
    text: str
    level: str | None = None
    logger: str | None = None


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
        waiting: Told how long it waited before it was sent.
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
    waiting: WaitingCall | None = None


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
        """What is, of every server that calls can be made to, wherever it runs."""
        ...

    def share(self, desired: Desired) -> Desired:
        """What of the desired state is this machine's to run; all of it without a cluster."""
        ...

    def held(self) -> Mapping[UUID, Observed]:
        """What is, of every server that this machine runs itself."""
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

    def start(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> StartedCall | None:
        """Call a tool at once, for a waiter; None, with nothing done, where `call` has to wait."""
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
        """The last lines that a server of this machine wrote to its standard error."""
        ...

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The last lines that a server wrote to its standard error, wherever it runs.

        Raises:
            Disconnected: The node that runs it cannot be reached.
        """
        ...

    def figures(self, server: UUID) -> Figures | None:
        """What a server's processes use just now; None where it has none, or they are not known."""
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

    async def set_mode(self, path: str, before: int, after: int) -> None:
        """Change who may read and write a file, if that is as it was before.

        Raises:
            DocumentMoved: It is not, or the file is gone.
            NotWritable: The system refuses.
        """
        ...


class KeyRing(Protocol):
    """The key ring of the user."""

    async def set(self, name: str, value: str) -> None:
        """Store a value.

        Raises:
            NotWritable: There is no key ring, or it refuses.
        """
        ...

    async def remove(self, name: str) -> None:
        """Delete a value; does nothing where there is none, or no key ring."""
        ...


class VariableSource(Protocol):
    """Where the values of references come from."""

    def of_owner(self, owner: Owner) -> Lookup:
        """The lookup of those who have a definition: a file of a project needs consent."""
        ...

    def is_set(self, name: str) -> bool:
        """Whether the environment sets a name, which takes precedence."""
        ...

    def forget(self, name: str) -> None:
        """Ask the key ring again for a value that was just stored there."""
        ...
