"""The ports to what a store keeps; `stored` has the data.

Small things (definitions, policies, tokens) are read from memory, at once; what may be large (the
journal, the edits) is fetched. A write returns when it would survive the loss of power, and not
before; where a method says "in the background" it returns at once, and may be lost.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from mcpyard.domain.desired import PolicyEdit, PolicyPatch
from mcpyard.domain.stored import (
    Approval,
    CallToken,
    DroppedField,
    EditEntry,
    FileEdit,
    LoginSession,
    SeenClient,
    StoredDefinition,
    StoredSecret,
)
from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry


class Definitions(Protocol):
    """The servers of the user's own scope."""

    def all(self) -> Sequence[StoredDefinition]:
        """Every one, in the order of their arrival."""
        ...

    async def add_all(
        self, definitions: Mapping[str, Mapping[str, object]]
    ) -> Sequence[StoredDefinition]:
        """Register the servers whose names are free, in one write.

        A name that was used before gets the id back that it had.
        """
        ...

    async def replace(
        self,
        server: UUID,
        definition: Mapping[str, object],
        *,
        expected: str | None = None,
        name: str | None = None,
        policy: PolicyEdit | None = None,
    ) -> StoredDefinition:
        """Change a server, and its name and policy as well if they are given, in one write.

        The policy is made out of the old one in another thread, maybe twice.

        Raises:
            ServerUnknown: There is none with this id.
            DocumentMoved: It has another digest than the expected one by now.
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

    async def remove(self, server: UUID) -> StoredDefinition:
        """Take a server out, with its policy and the tools it listed.

        Raises:
            ServerUnknown: There is none with this id.
        """
        ...


class Policies(Protocol):
    """What people changed about servers, of whatever owner."""

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """The policy of each server that has one."""
        ...

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was; an empty one is as good as none."""
        ...

    async def set_all(self, policies: Mapping[UUID, PolicyPatch]) -> None:
        """Put policies in place of those there were, in one write."""
        ...

    async def change(self, server: UUID, edit: PolicyEdit) -> PolicyPatch:
        """Make a policy out of the one there is; of two changes at once none is lost.

        The edit is called in another thread, maybe twice.
        """
        ...


class Turns(Protocol):
    """How often somebody asked each server to begin anew."""

    def all(self) -> Mapping[UUID, int]:
        """The turn of each server that was ever asked to."""
        ...

    async def raise_(self, server: UUID) -> int:
        """Ask a server to begin anew; the turn that it is to have."""
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


class LoginSessions(Protocol):
    """The browsers that were let in, and the links that let one in."""

    def get(self, cookie_hash: str, now: datetime) -> LoginSession | None:
        """The session of a cookie, unless it has run out."""
        ...

    async def add(self, session: LoginSession) -> None:
        """Let a browser in, or one that is in stay longer; what has run out is forgotten."""
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


class Approvals(Protocol):
    """What was approved of project files."""

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        ...

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one."""
        ...


class Edits(Protocol):
    """The last edits of files."""

    async def add(self, edit: FileEdit, unit: int | None = None) -> EditEntry:
        """Keep an edit, with those of a unit; the oldest ones beyond the limit are forgotten."""
        ...

    async def recent(self) -> Sequence[EditEntry]:
        """The last edits, newest first."""
        ...

    async def together(self, unit: int) -> Sequence[tuple[EditEntry, FileEdit]]:
        """The edits of a unit with their contents, in the order they were made."""
        ...

    async def mark_undone(self, number: int) -> EditEntry | None:
        """Say that an edit was undone; None when there is no such edit."""
        ...

    async def drop(self, unit: int) -> None:
        """Forget a unit that was not carried out after all."""
        ...


class Secrets(Protocol):
    """The values that references find by their names after the environment, sealed at rest.

    Attributes:
        changed: Called when one of them is another one than it was, by whomever.
    """

    changed: Callable[[], None]

    def all(self) -> Mapping[str, StoredSecret]:
        """Every one by its name."""
        ...

    async def set(self, name: str, value: str | None) -> None:
        """Store a value in place of the one there was; None stands for one in the key ring."""
        ...

    async def sealed(self, name: str) -> bytes | None:
        """What is stored under a name, as it is stored; None where there is nothing."""
        ...

    async def restore(self, name: str, sealed: bytes | None) -> None:
        """Store again what was stored once, or nothing; it need not be opened for that."""
        ...


class SecretConsents(Protocol):
    """Which files of projects may use which stored secrets.

    Attributes:
        changed: Called when a consent was given or taken back.
    """

    changed: Callable[[], None]

    def all(self) -> Collection[tuple[str, str]]:
        """The path of each file, and the name that it may use."""
        ...

    async def set(self, place: str, name: str, *, allowed: bool) -> None:
        """Allow a file to use a name, or not any more."""
        ...


class SeenClients(Protocol):
    """The clients that the gateway of one machine met, by the names that they gave themselves."""

    def all(self) -> Collection[SeenClient]:
        """Every one."""
        ...

    def seen(self, client: SeenClient) -> None:
        """Note in the background when a client was heard of last; the oldest ones are dropped."""
        ...


class OwnedEntries(Protocol):
    """The entries in the files of other programs that a sync wrote."""

    async def all(self) -> Mapping[EntryKey, OwnedEntry]:
        """Every one."""
        ...

    async def claim(
        self, entries: Mapping[EntryKey, EntryDigest | None], unit: int | None = None
    ) -> None:
        """Say what is about to be written by a unit of edits, in one write; None gives one up.

        Without a unit nothing is written, and it holds at once.
        """
        ...

    async def settle(self, unit: int) -> None:
        """Say that a unit was written."""
        ...

    async def take_back(self, unit: int) -> None:
        """Let what a unit claimed be owned as before it, however often it was claimed since."""
        ...


class DroppedFields(Protocol):
    """What copies left out, by the place and the name of the copy."""

    async def get(self, place: str, name: str) -> DroppedField | None:
        """What the copy of that name left out."""
        ...

    async def set(self, place: str, name: str, left: DroppedField | None) -> None:
        """Keep what a copy left out in place of what was kept; None forgets it."""
        ...
