"""Every error of mcpyard; `edges` has what each is called outside.

    YardError
    ├── InputError               what was given is wrong; nothing was changed
    │   ├── DefinitionError      a server definition, with one Problem a field
    │   ├── NameRefused          a name that cannot be used
    │   ├── DocumentBroken       a file that does not parse, with line and column
    │   ├── EditRefused          an edit that would not give exactly what was asked
    │   ├── ArgumentsRefused     arguments that break a tool's schema
    │   ├── SignInUnknown        the end of a sign-in that nobody began, or of one that is over
    │   └── TooLarge             more than a limit allows
    ├── NotFound
    │   ├── ServerUnknown
    │   ├── ToolUnknown
    │   ├── EditUnknown
    │   ├── SecretUnknown
    │   ├── CallUnknown
    │   ├── NodeUnknown
    │   └── ProfileUnknown
    ├── Conflict                 right in itself, but not in the present state
    │   ├── NameTaken
    │   ├── Disabled
    │   ├── ReadOnlyOwner
    │   ├── StillRunning
    │   ├── ManagedByYard
    │   ├── NeedsApproval
    │   ├── ApprovalOutdated
    │   ├── ThisYard             the server points back to this gateway
    │   ├── NoSignIn             the server is not one to sign in at
    │   ├── FileBusy             another program is writing the file
    │   ├── ChangedSince         the file is not as the edit that is to be undone left it
    │   ├── ClientUnverified     nothing but documentation tells how the client's file is written
    │   ├── YardBusy
    │   ├── NodeTaken            another daemon has the name of the node
    │   ├── ClusterRefused       the cluster cannot be joined or used as it is set up
    │   └── NewerState           the state was written by a newer mcpyard
    ├── DocumentMoved            the document changed underneath
    ├── ServerFault              the MCP server, not the caller, is at fault
    │   ├── Disconnected         not connected, or lost while the call was in flight
    │   ├── StartFailed          it could not be started
    │   ├── NeedsAuth            it wants a sign-in first
    │   ├── CallRefused          it answered with an error of the protocol
    │   ├── ProtocolBroken       it answered with something that is not MCP
    │   ├── ServerBusy           too many calls are in flight or waiting for it already
    │   ├── NotHere              another node runs it by now; it never got the call
    │   └── NobodyAnswered       neither the server nor any of its fallbacks answered
    ├── OverQuota                the caller uses as much as one may
    ├── TimedOut                 a time limit ran out
    ├── Isolated                 this node reaches neither the other nodes nor the database
    ├── StoreAway                the database of the cluster cannot be reached; nothing was changed
    ├── OutcomeUnknown           nobody can tell whether a change was stored; it is not repeated
    ├── StateBroken              the state on disk cannot be read
    ├── StateGone                the state is gone from the disk while a yard runs on it
    └── StorageFull              the disk has no room; the old state is intact
    └── NotWritable          the system does not let mcpyard write there

Those that are raised are leaves, or have an edge of their own.
"""

from collections.abc import Mapping
from typing import Self

from msgspec import Struct

from mcpyard.domain.cause import Cause
from mcpyard.domain.cluster import Placement


class SourceLocation(Struct, frozen=True):
    """Where in a document something stands; lines and columns count from 1, 0 is all of it."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


class Problem(Struct, frozen=True):
    """One thing wrong, or worth a warning: the field it concerns and a sentence."""

    field: str
    message: str
    place: SourceLocation | None = None

    def __str__(self) -> str:
        text = f"{self.field}: {self.message}" if self.field else self.message
        return f"{self.place}: {text}" if self.place else text


class YardError(Exception):
    """Base of all errors that mcpyard raises on purpose.

    Attributes:
        message: What is wrong.
        passed_over: The servers that did not answer a call before, and why.
        server: The server that it is about, where that is known.
        advice: What to do about this one, where that is not what its kind asks for.
        document: The problem document that it was read from, where another process raised it.
    """

    passed_over: tuple[tuple[str, str], ...] = ()
    server: str = ""
    advice: str = ""
    document: Mapping[str, object] | None = None

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def noting(self, note: str, passed_over: tuple[tuple[str, str], ...]) -> Self:
        """This error with a word more, and with the servers that did not answer before."""
        self.message = f"{self.message}; {note}" if note else self.message
        self.args = (self.message,)
        self.passed_over = passed_over
        return self

    def about(self, server: str) -> Self:
        """This error with the server that it is about."""
        self.server = server
        return self

    def advising(self, advice: str) -> Self:
        """This error with what to do about it."""
        self.advice = advice
        return self


class InputError(YardError, ValueError):
    """What was given is wrong; nothing was changed."""

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems

    @classmethod
    def of(cls, *problems: Problem) -> Self:
        """One error out of its problems, told as one sentence each."""
        return cls("; ".join(map(str, problems)), problems)


class DefinitionError(InputError):
    """A server definition that cannot be used."""


class NameRefused(InputError):
    """A name that cannot be used for a server."""


class DocumentBroken(InputError):
    """A document that does not parse."""


class EditRefused(InputError):
    """An edit that would not give exactly what was asked; the text is as it was."""


class ArgumentsRefused(InputError):
    """Arguments that break the tool's schema; the server was not called."""


class SignInUnknown(InputError):
    """The end of a sign-in that nobody began, or of one that is over."""


class TooLarge(InputError):
    """The request exceeds a limit."""


class NotFound(YardError, LookupError):
    """Nothing by that name or id."""


class ServerUnknown(NotFound):
    """No such server."""


class ToolUnknown(NotFound):
    """No such tool."""


class ProfileUnknown(NotFound):
    """No such profile."""


class EditUnknown(NotFound):
    """No such edit, or none that could be undone."""


class SecretUnknown(NotFound):
    """No such stored secret."""


class CallUnknown(NotFound):
    """The journal has no such call, or not any more."""


class NodeUnknown(NotFound):
    """No such node."""


class Conflict(YardError):
    """The request conflicts with the current state."""


class NameTaken(Conflict):
    """The name is in use."""


class Disabled(Conflict):
    """The server is switched off."""


class ReadOnlyOwner(Conflict):
    """The definition's owner cannot be edited from here."""


class StillRunning(Conflict):
    """The server runs, and the change was not to restart it."""


class ManagedByYard(Conflict):
    """A running yard alone writes this status."""


class NeedsApproval(Conflict):
    """An entry of a project file waits for the user's approval."""


class ApprovalOutdated(Conflict):
    """What is to be approved is not what was shown."""


class ThisYard(Conflict):
    """The server points back to this gateway, so it is never connected."""


class NoSignIn(Conflict):
    """The server is not one to sign in at."""


class ClientUnverified(Conflict):
    """Nothing but documentation tells how the client's file is written; to be confirmed first."""


class FileBusy(Conflict):
    """Another program is writing the file."""


class ChangedSince(Conflict):
    """A file is not as the edit left it; `files` has each path with what changed since."""

    def __init__(self, message: str, files: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.files = files


class YardBusy(Conflict):
    """Another yard holds this home."""


class NodeTaken(Conflict):
    """Another daemon has the name of the node."""


class ClusterRefused(Conflict):
    """The cluster cannot be joined or used as it is set up; `advice` says what to do."""


class NewerState(Conflict):
    """The state was written by a newer mcpyard; it was not touched."""


class DocumentMoved(YardError):
    """The document changed underneath the edit."""


class ServerFault(YardError):
    """The MCP server, not the caller, is at fault.

    Attributes:
        cause: Why, where that is known.
        untaken: Whether the server certainly never took the call, so that another may have it.
    """

    cause: Cause | None = None
    untaken: bool = False

    def because(self, cause: Cause) -> Self:
        """This error with its cause."""
        self.cause = cause
        return self


class Disconnected(ServerFault):
    """The server is not connected, or was lost while the call was in flight."""


class StartFailed(ServerFault):
    """The server could not be started."""


class NeedsAuth(ServerFault):
    """The server requires a sign-in first."""


class CallRefused(ServerFault):
    """The server answered with an error of the protocol instead of a result."""

    def __init__(self, message: str, code: int = -32603, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ProtocolBroken(ServerFault):
    """The server answered with something that is not MCP."""


class ServerBusy(ServerFault):
    """Too many calls are in flight or waiting already; it never got this one."""

    untaken = True


class NotHere(ServerFault):
    """Another node runs the server by now; it never got this call.

    Attributes:
        placement: Where it runs.
    """

    untaken = True
    placement: Placement | None = None

    def placed(self, placement: Placement) -> Self:
        """This error with where the server runs."""
        self.placement = placement
        return self


class NobodyAnswered(ServerFault):
    """Neither the server nor any of its fallbacks answered; `passed_over` says why."""


class OverQuota(YardError):
    """The caller uses as much as one may."""


class TimedOut(YardError):
    """A time limit ran out; `sent` says whether the server was asked at all."""

    def __init__(self, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.sent = sent


class Isolated(YardError):
    """This node reaches neither the other nodes of its cluster nor its database."""


class StoreAway(YardError):
    """The database of the cluster cannot be reached; nothing was changed."""


class OutcomeUnknown(YardError):
    """The database was lost while it stored a change: it may be stored, and is not repeated."""


class StateBroken(YardError):
    """The state on disk cannot be read; it was not touched."""


class StateGone(YardError):
    """The state is gone from the disk, or is another one; nothing was stored."""


class StorageFull(YardError):
    """The disk has no room; the old state is intact."""


class NotWritable(StorageFull):
    """The system does not let mcpyard write there; the old state is intact."""
