"""What a store keeps, as data; `repositories` has the ports to it.

A store never sees a secret that it can do without: tokens, cookies and links come to it hashed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.definition.approval import Entries

SOON: Final = timedelta(days=7)
"""How long before its expiry a token is warned of."""


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """A server that no file owns, exactly as it was given; its digest changes with it."""

    id: UUID
    name: str
    definition: Mapping[str, object] = field(repr=False)
    digest: str


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
    expires: datetime | None = None

    def is_expired(self, now: datetime) -> bool:
        """Whether it opens nothing any more."""
        return self.expires is not None and now >= self.expires

    def expires_soon(self, now: datetime) -> bool:
        """Whether it is time to make another one."""
        return self.expires is not None and timedelta() < self.expires - now <= SOON


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A browser that was let in: its cookie alone reads, its key changes as well."""

    cookie_hash: str = field(repr=False)
    key_hash: str = field(repr=False)
    created: datetime
    expires: datetime


@dataclass(frozen=True, slots=True)
class Approval:
    """What was approved of a folder's file.

    Attributes:
        folder: The folder.
        at: When something was approved last.
        entries: The approved entries. None for an approval that version 0.1 stored, which was for
            the folder: it binds to the entries that are found when the folder is served next.
    """

    folder: str
    at: datetime
    entries: Entries | None = None


class CallRecord(NamedTuple):
    """One line of the call journal; a tuple because one is made for every call.

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
        who: Of this caller.
        before: With a lower id, to page on.
        limit: How many at most.
    """

    server: UUID | None = None
    tool: str | None = None
    outcome: str | None = None
    who: str | None = None
    before: int | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class FileEdit:
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
    """An edit in the list of edits, without the contents.

    `unit` is the id of the first of the edits that were made, and are undone, together.
    """

    id: int
    at: datetime
    who: str
    kind: str
    path: str
    undone: bool = False
    unit: int = 0


@dataclass(frozen=True, slots=True)
class DroppedField:
    """What a copy left out, for the way back.

    Attributes:
        client: The program that it came from, whose words the fields are in.
        mark: What the copy is known by; another server of its name does not have it.
        fields: What was left out.
    """

    client: str
    mark: str
    fields: Mapping[str, object] = field(repr=False)
