"""What a home has to share gets into a cluster and back, all of it."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import ClusterRefused
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Capabilities, Items
from mcpyard.domain.stored import LoginSession, StoredSecret
from mcpyard.store.postgres.copying import export_home, import_home
from mcpyard.store.postgres.schema import ADDRESSES
from mcpyard.store.postgres.store import SharedStore
from mcpyard.store.sqlite.store import Store
from tests.postgres import KEY
from tests.store.contract import LATER, NOW
from tests.store.contract_access import SIGNED_IN, a_token
from tests.store.contract_definitions import ODD

pytestmark = pytest.mark.real

PROJECT = Owner(Scope.PROJECT, "p")
OFFER = Capabilities(prompts=Items(({"name": "p"},)))


@pytest.fixture(autouse=True)
def key_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPYARD_KEY", raising=False)


async def fill(folder: Path) -> tuple[UUID, UUID]:
    store = await Store.open(folder)
    one, _ = await store.definitions.add_all({"one": ODD, "two": {}})
    pinned = store.memory.identity(PROJECT, "pinned")
    for server in (one.id, pinned):
        await store.policies.set(server, {"timeout": 5})
        store.memory.keep_names({(server, "t"): f"mcp_{server.hex}_t"})
        store.memory.keep_names({(UUID(ADDRESSES), f"x://{server}"): str(server)})
        store.memory.keep_tools(server, [{"name": "t"}])
        store.memory.keep_offer(server, OFFER)
    await store.profiles.set("work", {"servers": ["one"]})
    await store.tokens.add(a_token())
    revoked = a_token("old")
    await store.tokens.add(revoked)
    await store.tokens.revoke(revoked.id, LATER)
    await store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
    await store.sessions.add_link("link", LATER)
    await store.credentials.put(SIGNED_IN)
    await store.secrets.set("TOKEN", "a-secret-value")
    await store.secrets.set("IN_RING", None)
    await store.close()
    return one.id, pinned


async def test_a_home_gets_into_a_cluster_and_back(tmp_path: Path, cluster_dsn: str) -> None:
    one, pinned = await fill(tmp_path / "from")
    shared = await SharedStore.open(cluster_dsn, KEY)
    try:
        counts = await import_home(tmp_path / "from", shared)
        assert counts == {
            "identities": 2,
            "definitions": 2,
            "exposed_names": 2,
            **dict.fromkeys(("tools", "offers", "policies", "profiles"), 1),
            "tokens": 2,
            **dict.fromkeys(("login_sessions", "login_links", "credentials", "secrets"), 1),
        }
        assert [each.name for each in shared.definitions.all()] == ["one", "two"]
        assert shared.policies.all() == {one: {"timeout": 5}}
        assert await shared.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        assert pinned not in {server for server, _ in shared.memory.exposed_names()}
        with pytest.raises(ClusterRefused, match="in use already"):
            await import_home(tmp_path / "from", shared)
        assert await export_home(shared, tmp_path / "to") == counts
        with pytest.raises(ClusterRefused, match="in use already"):
            await export_home(shared, tmp_path / "to")
    finally:
        await shared.close()
    before, after = [await Store.open(tmp_path / name) for name in ("from", "to")]
    try:
        assert after.definitions.all() == before.definitions.all()
        assert after.tokens.all() == before.tokens.all()
        assert after.profiles.all() == before.profiles.all()
        assert after.policies.all() == {one: {"timeout": 5}}
        assert after.memory.tools(one) == [{"name": "t"}]
        assert after.memory.offer(one) == OFFER
        assert after.sessions.get("cookie", NOW) == before.sessions.get("cookie", NOW)
        assert await after.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        assert await after.sessions.take_link("link", NOW)
        assert after.secrets.all() == {"TOKEN": StoredSecret("a-secret-value")}
    finally:
        await asyncio.gather(before.close(), after.close())


async def test_many_servers_get_into_a_cluster(tmp_path: Path, cluster_dsn: str) -> None:
    store = await Store.open(tmp_path / "from")
    made = await store.definitions.add_all({f"s{each}": {"n": each} for each in range(1200)})
    store.memory.keep_names({(each.id, "t"): f"mcp_{each.name}_t" for each in made})
    await store.close()
    shared = await SharedStore.open(cluster_dsn, KEY)
    try:
        counts = await import_home(tmp_path / "from", shared)
        assert (counts["definitions"], counts["exposed_names"]) == (1200, 1200)
        assert len(shared.definitions.all()) == 1200
    finally:
        await shared.close()
