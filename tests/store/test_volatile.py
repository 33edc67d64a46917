"""What a private yard keeps in memory behaves like a store while the program runs."""

from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from mcpyard.domain.errors import NameTaken
from mcpyard.store.sqlite.store import Store
from mcpyard.store.volatile import VolatileApprovals, VolatileCallTokens, VolatileSessions
from mcpyard.store.volatile_edits import VolatileDroppedFields, VolatileEdits
from mcpyard.store.volatile_owned import VolatileOwnedEntries
from mcpyard.store.volatile_secrets import VolatileSecretConsents, VolatileSecrets
from tests.store.contract import LATER, NOW, Opener
from tests.store.contract_access import ApprovalsContract, SessionsContract, a_token
from tests.store.contract_journal import DroppedFieldsContract, EditsContract
from tests.store.contract_owned import OwnedEntriesContract
from tests.store.contract_secrets import SecretConsentsContract, SecretsContract


@dataclass(frozen=True, slots=True)
class Volatile:
    """The part of a store that can be held in memory."""

    tokens: VolatileCallTokens = field(default_factory=VolatileCallTokens)
    sessions: VolatileSessions = field(default_factory=VolatileSessions)
    approvals: VolatileApprovals = field(default_factory=VolatileApprovals)
    edits: VolatileEdits = field(default_factory=VolatileEdits)
    dropped_fields: VolatileDroppedFields = field(default_factory=VolatileDroppedFields)
    owned_entries: VolatileOwnedEntries = field(default_factory=VolatileOwnedEntries)

    secrets: VolatileSecrets = field(default_factory=VolatileSecrets)
    secret_consents: VolatileSecretConsents = field(default_factory=VolatileSecretConsents)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def opener() -> Opener:
    store = Volatile()

    async def open_it() -> Store:
        return cast("Store", store)

    return open_it


class TestSessions(SessionsContract):
    pass


class TestApprovals(ApprovalsContract):
    pass


class TestEdits(EditsContract):
    pass


class TestDroppedFields(DroppedFieldsContract):
    pass


class TestOwnedEntries(OwnedEntriesContract):
    pass


class TestSecrets(SecretsContract):
    pass


class TestSecretConsents(SecretConsentsContract):
    pass


async def test_a_token_is_found_until_it_is_revoked_and_then_its_name_is_free() -> None:
    tokens, token = VolatileCallTokens(), a_token()
    await tokens.add(token)
    assert tokens.by_hash(token.hash) == token
    assert tokens.by_hash("another") is None
    with pytest.raises(NameTaken):
        await tokens.add(a_token())
    tokens.used(token.id, NOW)
    tokens.used(a_token().id, NOW)
    revoked = await tokens.revoke(token.id, LATER)
    assert revoked == replace(token, last_used=NOW, revoked=LATER)
    assert await tokens.revoke(token.id, NOW) == revoked
    assert await tokens.revoke(a_token().id, NOW) is None
    assert tokens.by_hash(token.hash) is None
    await tokens.add(a_token())
    assert len(tokens.all()) == 2
