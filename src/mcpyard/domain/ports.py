"""What the core needs of the world outside, as few seams as possible.

Every one has a public fake in `mcpyard.testing`, and they are wired to the real things in one
place only, `app.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from mcpyard.domain.desired import DesiredServer, Document, Owner
from mcpyard.domain.model import Config, Transport
from mcpyard.domain.observed import Era, Figures, Observed
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


class EditableSource(Source, Protocol):
    """A source whose definitions can be changed from here.

    Every change is durable and in force when the method returns, or nothing was changed.
    """

    async def put(self, name: str, config: Config, instead_of: Config | None) -> None:
        """Add a definition, or change the one that means `instead_of`.

        Raises:
            NameTaken: There is one of that name already, and none was to be changed.
            DocumentMoved: The one there does not mean `instead_of` any more.
        """
        ...

    async def remove(self, name: str) -> None:
        """Take a definition out; `ServerUnknown` when it is gone already."""
        ...

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name; `NameTaken` when it is in use."""
        ...


@dataclass(frozen=True, slots=True)
class Reached:
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

    def reached(self, launch_digest: str) -> Reached | None:
        """How this launch was reached the last time."""
        ...

    def keep_reached(self, launch_digest: str, reached: Reached | None) -> None:
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


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line a server wrote to its standard error."""

    number: int
    at: datetime
    text: str


class CallTerms(NamedTuple):
    """How long a call may take, and who hears of its progress.

    A tuple because one is made for every call.

    Attributes:
        timeout: Seconds.
        longest: Seconds up to which progress may extend it; None when it may not.
        progress: Called with each progress notification's parameters.
    """

    timeout: float
    longest: float | None = None
    progress: Callable[[Mapping[str, object]], None] | None = None


class Servers(Protocol):
    """The supervisor, as the yard sees it."""

    def observed(self) -> Mapping[UUID, Observed]:
        """What is, of every server it holds."""
        ...

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Carry out a plan."""
        ...

    async def call(self, server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        """Call a tool and return the result object as it came.

        Waits within the terms for a server that is just connecting, and wakes one that runs on
        demand.

        Raises:
            TimedOut: The time ran out.
            ServerFault: It cannot be reached, or answered with an error.
        """
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
