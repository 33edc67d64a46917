"""The repositories of a node keep what those of a single machine keep."""

from pathlib import Path
from typing import cast

import pytest

from mcpyard.store.postgres.store import ClusterStore, SharedStore
from tests.postgres import KEY
from tests.store.contract import Opener, Stored
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

pytestmark = pytest.mark.real


@pytest.fixture
def opener(tmp_path: Path, cluster_dsn: str) -> Opener:
    return lambda: ClusterStore.open(tmp_path / "home", cluster_dsn, KEY)


class TestDefinitions(DefinitionsContract):
    pass


class TestPolicies(PoliciesContract):
    pass


class TestSharedPolicies(PoliciesContract):
    """The same for servers that are not pinned."""

    @pytest.fixture
    def opener(self, cluster_dsn: str) -> Opener:
        async def shared() -> Stored:
            return cast("Stored", await SharedStore.open(cluster_dsn, KEY))

        return shared


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
