"""What a store keeps, as data; `repositories` has the ports to it.

A store never sees a secret that it can do without: tokens, cookies and links come to it hashed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from msgspec import Struct

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


class SeenClient(Struct, frozen=True):
    """A client that the gateway met, by the name and version that it gave itself."""

    name: str
    version: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LoginSession:
    """A browser that was let in: its cookie alone reads, its key changes as well."""

    cookie_hash: str = field(repr=False)
    key_hash: str = field(repr=False)
    created: datetime
    expires: datetime


class Approval(Struct, frozen=True):
    """What was approved of a folder's file, and when last.

    An approval that version 0.1 stored has no entries, for it was for the folder: it binds to the
    entries that are found when the folder is served next.
    """

    folder: str
    at: datetime
    entries: Entries | None = None


class CallRecord(NamedTuple):
    """One line of the call journal; a tuple because one is made for every call.

    The server's name is what it was called then; the outcome is `ok`, `tool_error`, or the problem
    type of the error; bytes are the sizes of the arguments and of the result. The journal gives
    the id: later calls have higher ones; and says whether the contents are recorded. In a cluster
    each node has a journal; `node` is the one that it was read from.
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
    node: str = ""
    recorded: bool = False


FAILED: Final = "failed"
"""Stands in a query for every outcome but `ok`."""


class CallOrder(StrEnum):
    """What calls are sorted by."""

    TIME = "time"
    DURATION = "duration"
    SIZE = "size"
    OUTCOME = "outcome"


class CallQuery(Struct, frozen=True):
    """Which calls to show, at most so many; None stands for any.

    Attributes:
        outcome: Also `FAILED`.
        before: In the order of time, an id to page on.
        since: The earliest time.
        until: The time before which they were.
        text: A part of a name, of the outcome or of an error, in whatever case.
        order: What they are sorted by, those of one rank newest first.
        ascending: Whether the lowest comes first.
        offset: How many to leave out, in any other order than that of time.
    """

    server: UUID | None = None
    tool: str | None = None
    outcome: str | None = None
    who: str | None = None
    before: int | None = None
    limit: int = 100
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None
    order: CallOrder = CallOrder.TIME
    ascending: bool = False
    offset: int = 0

    @property
    def is_newest_first(self) -> bool:
        """Whether `before` pages through it."""
        return self.order is CallOrder.TIME and not self.ascending


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One edit of a file, with its contents before and after; None where there was no file."""

    at: datetime
    who: str
    kind: str
    path: str
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)


class EditEntry(Struct, frozen=True):
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
    """What a copy left out, for the way back, in the words of the client that it came from.

    The copy is known by its mark: another server of its name does not have it.
    """

    client: str
    mark: str
    fields: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A value that references find by its name after the environment.

    There is no value where the key ring has it, or where it was sealed with another key.
    """

    value: str | None = field(default=None, repr=False)
    in_key_ring: bool = False
