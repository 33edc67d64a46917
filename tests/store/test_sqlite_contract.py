from pathlib import Path

import pytest

from mcpyard.store.sqlite.store import Store
from tests.store.contract import Opener
from tests.store.contract_access import (
    ApprovalsContract,
    CredentialsContract,
    SessionsContract,
    TokensContract,
)
from tests.store.contract_definitions import (
    DefinitionsContract,
    PoliciesContract,
    ProfilesContract,
)
from tests.store.contract_journal import DroppedFieldsContract, EditsContract, JournalContract
from tests.store.contract_memory import MemoryContract
from tests.store.contract_owned import OwnedEntriesContract
from tests.store.contract_secrets import SecretConsentsContract, SecretsContract


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    monkeypatch.delenv("MCPYARD_KEY", raising=False)
    return lambda: Store.open(tmp_path / "home")


class TestDefinitions(DefinitionsContract):
    pass


class TestPolicies(PoliciesContract):
    pass


class TestProfiles(ProfilesContract):
    pass


class TestMemory(MemoryContract):
    pass


class TestTokens(TokensContract):
    pass


class TestSessions(SessionsContract):
    pass


class TestApprovals(ApprovalsContract):
    pass


class TestCredentials(CredentialsContract):
    pass


class TestJournal(JournalContract):
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
