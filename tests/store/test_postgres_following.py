"""What one node changes, the others know: by hints, without them, and after any loss."""

import asyncio
import os
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import StoreAway
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Capabilities, Items
from mcpyard.domain.stored import LoginSession
from mcpyard.store.postgres.following import Changes
from mcpyard.store.postgres.store import ClusterStore
from tests.postgres import KEY, Postgres
from tests.relay import Relay, relayed
from tests.store.contract import LATER, NOW
from tests.store.contract_access import SIGNED_IN, a_token

pytestmark = pytest.mark.real

FULL = os.environ.get("MCPYARD_PROOF") == "full"
CHANGES = 300 if FULL else 40
USER = Owner(Scope.USER)


@dataclass
class Node:
    """A node that follows, and all it was told."""

    store: ClusterStore
    news: list[Changes] = field(default_factory=list[Changes])

    async def knows(self, other: "Node") -> None:
        """Return when this node knows all that another wrote so far."""
        await self.store.reached(other.store.written)


@asynccontextmanager
async def a_node(home: Path, dsn: str, *, follows: bool = True) -> AsyncGenerator[Node]:
    store = await ClusterStore.open(home, dsn, KEY)
    node = Node(store)
    if follows:
        store.follow(node.news.append)
    try:
        yield node
    finally:
        await store.close()


@asynccontextmanager
async def nodes(tmp_path: Path, dsn: str, *names: str) -> AsyncGenerator[list[Node]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(a_node(tmp_path / name, dsn)) for name in names]


def through(dsn: str, relay: Relay) -> str:
    return dsn.replace(f"127.0.0.1:{relay.target}", f"127.0.0.1:{relay.port}")


async def test_every_kind_of_change_is_seen_by_the_other_nodes(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with nodes(tmp_path, cluster_dsn, "a", "b", "c") as (a, b, c):
        one, two = await a.store.definitions.add_all({"one": {"n": 1}, "two": {"n": 2}})
        await a.store.policies.set(one.id, {"timeout": 5})
        await a.store.profiles.set("work", {"servers": ["one"]})
        token = a_token()
        await a.store.tokens.add(token)
        await a.store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
        await a.store.credentials.put(SIGNED_IN)
        a.store.memory.keep_names({(one.id, "t"): "mcp_one_t"})
        a.store.memory.keep_tools(one.id, [{"name": "t"}])
        offer = Capabilities(prompts=Items(({"name": "p"},)))
        a.store.memory.keep_offer(one.id, offer)
        await a.store.admin.set("hash")
        assert await a.store.turns.raise_(one.id) == 1
        await a.store.memory.flush()
        for node in (b, c):
            await node.knows(a)
            assert node.store.definitions.all() == (one, two)
            assert node.store.memory.identity(USER, "one") == one.id
            assert node.store.policies.all() == {one.id: {"timeout": 5}}
            assert node.store.profiles.all() == {"work": {"servers": ["one"]}}
            assert node.store.tokens.by_hash(token.hash) == token
            assert node.store.sessions.get("cookie", NOW) is not None
            assert await node.store.credentials.get(SIGNED_IN.resource) == SIGNED_IN
            assert node.store.memory.exposed_names() == {(one.id, "t"): "mcp_one_t"}
            assert node.store.memory.tools(one.id) == [{"name": "t"}]
            assert node.store.memory.offer(one.id) == offer
            assert node.store.admin.hash == "hash"
            assert node.store.turns.all() == {one.id: 1}


async def test_what_one_node_takes_away_is_gone_from_the_others(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with nodes(tmp_path, cluster_dsn, "a", "b", "c") as (a, b, c):
        one, two = await a.store.definitions.add_all({"one": {"n": 1}, "two": {"n": 2}})
        await a.store.policies.set(one.id, {"timeout": 5})
        await a.store.profiles.set("work", {"servers": ["one"]})
        token = a_token()
        await a.store.tokens.add(token)
        await a.store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
        a.store.memory.keep_tools(one.id, [{"name": "t"}])
        await a.store.turns.raise_(one.id)
        await b.knows(a)
        assert await b.store.turns.raise_(one.id) == 2
        await b.store.definitions.rename(two.id, "three")
        await b.store.tokens.revoke(token.id, LATER)
        await b.store.profiles.remove("work")
        await b.store.sessions.remove("cookie")
        await b.store.definitions.remove(one.id)
        for node in (a, c):
            await node.knows(b)
            assert [each.name for each in node.store.definitions.all()] == ["three"]
            assert node.store.memory.identity(USER, "three") == two.id
            assert node.store.turns.all() == {one.id: 2}
            assert node.store.tokens.by_hash(token.hash) is None
            assert node.store.policies.all() == {}
            assert node.store.profiles.all() == {}
            assert node.store.sessions.get("cookie", NOW) is None
            assert node.store.memory.tools(one.id) == ()
        assert str(token.id) in [key for each in a.news for key in each.get("tokens") or ()]


async def test_two_servers_that_swap_their_names_keep_their_ids_everywhere(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with nodes(tmp_path, cluster_dsn, "a", "b") as (a, b):
        one, two = await a.store.definitions.add_all({"one": {}, "two": {}})
        await b.knows(a)
        names = (one.id, "spare"), (two.id, "one"), (one.id, "two")
        await asyncio.gather(*(a.store.definitions.rename(*each) for each in names))
        await b.knows(a)
        for node in (a, b):
            assert node.store.memory.identity(USER, "one") == two.id
            assert node.store.memory.identity(USER, "two") == one.id


@pytest.mark.timeout(300 if FULL else 60)
async def test_listeners_that_are_cut_miss_nothing(
    tmp_path: Path, postgres: Postgres, cluster_dsn: str
) -> None:
    async with AsyncExitStack() as stack:
        relays = [await stack.enter_async_context(relayed(postgres.port)) for _ in range(2)]
        a = await stack.enter_async_context(a_node(tmp_path / "a", cluster_dsn))
        b, c = [
            await stack.enter_async_context(
                a_node(tmp_path / f"b{at}", through(cluster_dsn, relay))
            )
            for at, relay in enumerate(relays)
        ]
        servers: list[UUID] = []
        for number in range(CHANGES):
            [made] = await a.store.definitions.add_all({f"s{number}": {"n": number}})
            servers.append(made.id)
            if number % 5 == 0:
                relays[number // 5 % 2].cut()
        for node in (b, c):
            await node.knows(a)
            assert [each.id for each in node.store.definitions.all()] == servers


async def test_changes_are_seen_without_hints_behind_a_pooler(
    tmp_path: Path, cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The hints of a pooler's connections arrive nowhere.
    monkeypatch.setattr("mcpyard.store.postgres.following.CHANNEL", "elsewhere")
    monkeypatch.setattr("mcpyard.store.postgres.following._POLL", 0.05)
    async with a_node(tmp_path / "a", cluster_dsn) as a, a_node(tmp_path / "b", cluster_dsn) as b:
        [made] = await a.store.definitions.add_all({"one": {}})
        await b.knows(a)
        assert b.store.definitions.all() == (made,)


async def test_a_node_knows_whether_hints_arrive(tmp_path: Path, cluster_dsn: str) -> None:
    async with a_node(tmp_path / "a", cluster_dsn) as a:
        follower = a.store.shared.follower
        while a.store.hears is None:
            await follower.catch_up()
        assert a.store.hears is True


async def test_a_node_that_is_too_far_behind_reads_everything_anew(
    tmp_path: Path, cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.engine.KEPT_REVISIONS", 3)
    monkeypatch.setattr("mcpyard.store.postgres.engine._PRUNED_EVERY", 1)
    async with (
        a_node(tmp_path / "a", cluster_dsn) as a,
        a_node(tmp_path / "b", cluster_dsn, follows=False) as b,
    ):
        [gone] = await a.store.definitions.add_all({"gone": {}})
        await b.store.shared.follower.catch_up()
        assert b.store.definitions.all() == (gone,)
        await a.store.definitions.remove(gone.id)
        for number in range(10):
            await a.store.definitions.add_all({f"s{number}": {}})
        changes = await b.store.shared.follower.catch_up()
        assert changes["definitions"] is None
        assert b.store.definitions.all() == a.store.definitions.all()


async def test_a_nodes_own_writes_are_never_taken_back_by_what_it_hears(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with nodes(tmp_path, cluster_dsn, "a", "b") as (a, b):
        [made] = await a.store.definitions.add_all({"one": {}})
        await b.knows(a)

        async def count(node: Node, key: str) -> None:
            for number in range(CHANGES):
                await node.store.policies.change(made.id, lambda old, n=number: {**old, key: n})
                assert node.store.policies.all()[made.id][key] == number

        await asyncio.gather(count(a, "a"), count(b, "b"))
        await a.knows(b)
        await b.knows(a)
        last: dict[str, Any] = {"a": CHANGES - 1, "b": CHANGES - 1}
        assert a.store.policies.all()[made.id] == b.store.policies.all()[made.id] == last


async def test_a_store_that_opens_while_its_database_is_away_is_filled_when_it_is_back(
    tmp_path: Path, postgres: Postgres, cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.engine._RETRY_SECONDS", 0.02)
    monkeypatch.setattr("mcpyard.store.postgres.following._POLL", 0.05)
    async with a_node(tmp_path / "a", cluster_dsn) as a, relayed(1) as relay:
        [made] = await a.store.definitions.add_all({"one": {}})
        dsn = cluster_dsn.replace(str(postgres.port), str(relay.port))
        store = await ClusterStore.open(tmp_path / "b", dsn, KEY, required=False)
        back: asyncio.Future[Changes] = asyncio.get_running_loop().create_future()
        try:
            assert store.definitions.all() == ()
            assert store.away is not None
            pinned = store.memory.identity(Owner(Scope.PROJECT, "p"), "x")
            await store.policies.set(pinned, {"timeout": 1})
            store.follow(back.set_result)
            relay.target = postgres.port
            assert "definitions" in await back
            assert store.definitions.all() == (made,)
            assert store.policies.all() == {pinned: {"timeout": 1}}
            assert store.away is None
        finally:
            await store.close()


@pytest.mark.timeout(120)
async def test_how_soon_a_change_is_seen(tmp_path: Path, cluster_dsn: str) -> None:
    seconds: list[float] = []
    async with nodes(tmp_path, cluster_dsn, "a", "b", "c") as (a, b, c):
        for node in (b, c):
            while node.store.hears is None:
                await node.store.shared.follower.catch_up()
        for number in range(CHANGES):
            await a.store.profiles.set("p", {"n": number})
            began = time.perf_counter()
            await asyncio.gather(b.knows(a), c.knows(a))
            seconds.append(time.perf_counter() - began)
    cuts = statistics.quantiles(seconds, n=100)
    print(f"seen by all after p50 {cuts[49] * 1000:.1f} ms, p99 {cuts[98] * 1000:.1f} ms")
    assert not FULL or cuts[98] < 0.05


async def test_what_was_refused_while_the_database_was_away_follows_when_it_is_back(
    tmp_path: Path, postgres: Postgres, cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.engine._RETRY_SECONDS", 0.02)
    monkeypatch.setattr("mcpyard.store.postgres.following._POLL", 0.05)
    async with relayed(postgres.port) as relay:
        dsn = through(cluster_dsn, relay)
        async with a_node(tmp_path / "a", dsn) as a, a_node(tmp_path / "b", cluster_dsn) as b:
            [made] = await a.store.definitions.add_all({"one": {}})
            relay.target = 1
            relay.cut()
            key = made.id, f"t{uuid4().hex}"
            a.store.memory.keep_names({key: "mcp_one_t"})
            with pytest.raises(StoreAway):
                await a.store.memory.flush()
            relay.target = postgres.port
            while key not in b.store.memory.exposed_names():
                await b.store.shared.follower.catch_up()
