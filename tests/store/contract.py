"""What every engine of the repositories has to keep.

An engine's test file gives a fixture `opener` and a class per contract, derived from it.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol

from mcpyard.domain.call_repositories import Journal
from mcpyard.domain.ports import Memory
from mcpyard.domain.repositories import (
    Approvals,
    Definitions,
    DroppedFields,
    Edits,
    LoginSessions,
    OwnedEntries,
    Policies,
    Profiles,
    SecretConsents,
    Secrets,
    Tokens,
)
from mcpyard.domain.stored import StoredDefinition
from mcpyard.wire.remote.credentials import CredentialStore


class Stored(Protocol):
    @property
    def definitions(self) -> Definitions: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def policies(self) -> Policies: ...
    @property
    def profiles(self) -> Profiles: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def sessions(self) -> LoginSessions: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def edits(self) -> Edits: ...
    @property
    def dropped_fields(self) -> DroppedFields: ...
    @property
    def owned_entries(self) -> OwnedEntries: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def secret_consents(self) -> SecretConsents: ...
    @property
    def credentials(self) -> CredentialStore: ...
    async def close(self) -> None: ...


Opener = Callable[[], Awaitable[Stored]]
"""Opens the same store each time."""

NOW = datetime(2026, 11, 15, 12, 0, 0, 123456, UTC)
LATER = NOW + timedelta(hours=1)


async def added(store: Stored, name: str, definition: Mapping[str, object]) -> StoredDefinition:
    """A definition that was just registered."""
    [made] = await store.definitions.add_all({name: definition})
    return made


@asynccontextmanager
async def opened(opener: Opener) -> AsyncGenerator[Stored]:
    store = await opener()
    try:
        yield store
    finally:
        await store.close()
