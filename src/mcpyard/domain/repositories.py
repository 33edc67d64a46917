"""What a store keeps, as data and as the ports to it.

Small things (definitions, policies, tokens) are read from memory, at once; what may be large (the
journal, the edits) is fetched. A write returns when it would survive the loss of power, and not
before; where a method says "in the background" it returns at once, and may be lost.

A store never sees a secret that it can do without: tokens, cookies and links come to it hashed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from mcpyard.domain.desired import Owner, PolicyPatch
from mcpyard.domain.ports import Memory

TRUSTED: Final = "trusted"
"""Stands in an approval for whatever the folder's file says, now and later."""


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A server that no file owns, exactly as it was given; its digest changes with it."""

    id: UUID
    name: str
    definition: Mapping[str, object] = field(repr=False)
    digest: str


class Definitions(Protocol):
    """The servers of the user's own scope."""

    def all(self) -> Sequence[StoredDefinition]:
        """Every one, in the order of their arrival."""
        ...

    def get(self, server: UUID) -> StoredDefinition | None:
        """The one with this id."""
        ...

    async def add(self, name: str, definition: Mapping[str, object]) -> StoredDefinition:
        """Register a server; a name that was used before gets the id back that it had.

        Raises:
            NameTaken: Another one has the name.
        """
        ...

    async def replace(
        self,
        server: UUID,
        definition: Mapping[str, object],
        *,
        expected: str | None = None,
        name: str | None = None,
    ) -> StoredDefinition:
        """Change a server, and its name as well if one is given.

        Args:
            server: Which one.
            definition: What it is from now on.
            expected: The digest it must still have; None for any.
            name: Its new name.

        Raises:
            ServerUnknown: There is none with this id.
            DocumentMoved: It has another digest by now.
            NameTaken: Another one has the name.
        """
        ...

    async def rename(self, server: UUID, name: str) -> StoredDefinition:
        """Give a server another name; it keeps its id and the exposed names of its tools.

        Raises:
            ServerUnknown: There is none with this id.
            NameTaken: Another one has the name.
        """
        ...

    async def remove(self, server: UUID, *, expected: str | None = None) -> StoredDefinition:
        """Take a server out, with its policy and the tools it listed.

        Raises:
            ServerUnknown: There is none with this id.
            DocumentMoved: It has another digest by now.
        """
        ...


class Identities(Memory, Protocol):
    """The memory of a yard whose servers can be renamed."""

    async def rename(self, owner: Owner, name: str, new: str) -> UUID:
        """Give the id of one definition to another name of the same owner."""
        ...


class Policies(Protocol):
    """What people changed about servers, of whatever owner."""

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """The policy of each server that has one."""
        ...

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was; an empty one is as good as none."""
        ...

    async def change(self, server: UUID, edit: Callable[[PolicyPatch], PolicyPatch]) -> PolicyPatch:
        """Make a policy out of the one there is; of two changes at once none is lost.

        Args:
            server: Whose.
            edit: Gives the new policy for the old one; called in another thread, maybe twice.
        """
        ...


class Profiles(Protocol):
    """Named selections for the gateway."""

    def all(self) -> Mapping[str, Mapping[str, object]]:
        """Every profile by its name."""
        ...

    async def set(self, name: str, profile: Mapping[str, object]) -> None:
        """Put a profile in place of the one with its name, if there is one."""
        ...

    async def remove(self, name: str) -> bool:
        """Take a profile out; whether there was one."""
        ...


@dataclass(frozen=True, slots=True)
class CallToken:
    """A token that opens the gateway, or one profile of it."""

    id: UUID
    name: str
    hash: str = field(repr=False)
    profile: str | None
    created: datetime
    last_used: datetime | None = None
    revoked: datetime | None = None


class Tokens(Protocol):
    """The call tokens."""

    def all(self) -> Sequence[CallToken]:
        """Every token, also the revoked ones, in the order of their making."""
        ...

    def by_hash(self, token_hash: str) -> CallToken | None:
        """The token with this hash, unless it is revoked."""
        ...

    async def add(self, token: CallToken) -> None:
        """Keep a token.

        Raises:
            NameTaken: A token that is not revoked has the name.
        """
        ...

    async def revoke(self, token: UUID, at: datetime) -> CallToken | None:
        """Make a token worthless; None when there is no such token."""
        ...

    def used(self, token: UUID, at: datetime) -> None:
        """Note that a token was used, in the background."""
        ...


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A browser that was let in: its cookie alone reads, its key changes as well."""

    cookie_hash: str = field(repr=False)
    key_hash: str = field(repr=False)
    created: datetime
    expires: datetime


class LoginSessions(Protocol):
    """The browsers that were let in, and the links that let one in."""

    def get(self, cookie_hash: str, now: datetime) -> LoginSession | None:
        """The session of a cookie, unless it has run out."""
        ...

    async def add(self, session: LoginSession) -> None:
        """Let a browser in; sessions and links that have run out by then are forgotten."""
        ...

    async def remove(self, cookie_hash: str) -> None:
        """Shut a browser out."""
        ...

    async def add_link(self, link_hash: str, expires: datetime) -> None:
        """Keep a link that lets one browser in, once."""
        ...

    async def take_link(self, link_hash: str, now: datetime) -> bool:
        """Use a link up; whether it was there, unused and in time."""
        ...


@dataclass(frozen=True, slots=True)
class Approval:
    """The user's word on a folder's file: for one content, by its digest, or `TRUSTED`."""

    folder: str
    digest: str
    at: datetime

    def covers(self, digest: str) -> bool:
        """Whether a content may be run."""
        return self.digest in {TRUSTED, digest}


class Approvals(Protocol):
    """The user's word on project files."""

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        ...

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one."""
        ...

    async def withdraw(self, folder: str) -> None:
        """Forget what was said about a folder."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the call journal.

    Attributes:
        at: When it began.
        who: The caller, in words.
        server: Which server.
        server_name: What that was called then.
        tool: The server's own name of the tool.
        ms: How long it took.
        outcome: `ok`, `tool_error`, or the problem type of the error.
        bytes_in: Size of the arguments.
        bytes_out: Size of the result.
        id: Given by the journal; later calls have higher ones.
    """

    at: datetime
    who: str
    server: UUID
    server_name: str
    tool: str
    ms: float
    outcome: str
    bytes_in: int = 0
    bytes_out: int = 0
    id: int = 0


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which calls to show; None stands for any.

    Attributes:
        server: Of this server.
        tool: Of this tool.
        outcome: With this outcome.
        before: With a lower id, to page on.
        limit: How many at most.
    """

    server: UUID | None = None
    tool: str | None = None
    outcome: str | None = None
    before: int | None = None
    limit: int = 100


class Journal(Protocol):
    """The last calls: bounded, and worth no waiting."""

    def append(self, call: Call) -> None:
        """Note a call, in the background; dropped when too many are waiting."""
        ...

    async def query(self, query: CallQuery) -> Sequence[Call]:
        """The calls asked for, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a file, with all it takes to undo it.

    Attributes:
        at: When.
        who: Who asked for it.
        kind: What was done, in a word.
        path: The file.
        before: Its content before; None when there was no file.
        after: Its content after; None when it was removed.
    """

    at: datetime
    who: str
    kind: str
    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class EditEntry:
    """An edit in the list of edits: digests (SHA-256) stand for the contents."""

    id: int
    at: datetime
    who: str
    kind: str
    path: str
    before_digest: str | None
    after_digest: str | None
    undone: bool = False


class Edits(Protocol):
    """The last edits of files."""

    async def add(self, edit: Edit) -> EditEntry:
        """Keep an edit; the oldest ones beyond the limit are forgotten."""
        ...

    async def recent(self, limit: int = 100) -> Sequence[EditEntry]:
        """The last edits, newest first."""
        ...

    async def get(self, number: int) -> tuple[EditEntry, Edit] | None:
        """One edit with its contents."""
        ...

    async def mark_undone(self, number: int, *, undone: bool = True) -> EditEntry | None:
        """Say that an edit was undone, or done again; None when there is no such edit."""
        ...


class Repositories(Protocol):
    """All that a store keeps."""

    @property
    def definitions(self) -> Definitions:
        """The servers of the user's own scope."""
        ...

    @property
    def memory(self) -> Identities:
        """Identities, exposed names, listed tools, ways to reach servers."""
        ...

    @property
    def policies(self) -> Policies:
        """What people changed about servers."""
        ...

    @property
    def profiles(self) -> Profiles:
        """Named selections for the gateway."""
        ...

    @property
    def tokens(self) -> Tokens:
        """The call tokens."""
        ...

    @property
    def sessions(self) -> LoginSessions:
        """The browsers that were let in."""
        ...

    @property
    def approvals(self) -> Approvals:
        """The user's word on project files."""
        ...

    @property
    def journal(self) -> Journal:
        """The last calls."""
        ...

    @property
    def edits(self) -> Edits:
        """The last edits of files."""
        ...

    async def close(self) -> None:
        """Write what is not written yet, and let the files go."""
        ...
