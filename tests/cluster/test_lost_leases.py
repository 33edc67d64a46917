"""Leases in PostgreSQL when it is killed, cut off or frozen, and when nodes race."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Collection, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mcpyard.domain.cluster import Member, Placement
from mcpyard.domain.errors import StoreAway
from mcpyard.store.postgres.leases import PostgresLeases
from mcpyard.store.postgres.store import SharedStore
from tests.cluster.test_lease_stores import OTHER, SERVER, assign_all, node
from tests.postgres import KEY, Postgres, running
from tests.relay import CutAt, Relay, relayed

pytestmark = pytest.mark.real

FULL = os.environ.get("MCPYARD_PROOF") == "full"
SECONDS = 3.0 if FULL else 10.0
ROUNDS = 200 if FULL else 10


@pytest.fixture(scope="module")
def durable() -> Generator[Postgres]:
    with running(durable=True) as instance:
        yield instance


@asynccontextmanager
async def leases_at(dsn: str) -> AsyncGenerator[PostgresLeases]:
    store = PostgresLeases(dsn)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def behind_relay(postgres: Postgres) -> AsyncGenerator[tuple[PostgresLeases, Relay]]:
    dsn = postgres.new_cluster()
    async with relayed(postgres.port) as relay:
        far = dsn.replace(f":{postgres.port}/", f":{relay.port}/")
        async with leases_at(far) as store:
            yield store, relay


async def refuses(store: PostgresLeases) -> None:
    """Every question is answered in time, by a refusal."""
    for question in (store.beat("n1", 1), store.members(), store.place(assign_all)):
        with pytest.raises(StoreAway):
            async with asyncio.timeout(SECONDS):
                await question


async def test_a_killed_database_is_away_until_it_is_back(durable: Postgres) -> None:
    async with leases_at(durable.new_cluster()) as store:
        epoch = await store.join(node("n1"))
        placements = await store.place(assign_all)
        durable.kill()
        await refuses(store)
        durable.start()
        assert await store.beat("n1", epoch)
        assert await store.placements() == placements


async def test_a_network_that_swallows_everything_is_away_until_it_is_back(
    postgres: Postgres,
) -> None:
    async with behind_relay(postgres) as (store, relay):
        epoch = await store.join(node("n1"))
        assert await store.beat("n1", epoch)
        relay.freeze()
        await refuses(store)
        relay.thaw()
        assert await store.beat("n1", epoch)
        assert len(await store.members()) == 1


async def test_a_cut_connection_is_made_anew(postgres: Postgres) -> None:
    async with behind_relay(postgres) as (store, relay):
        epoch = await store.join(node("n1"))
        for _ in range(3):
            assert await store.beat("n1", epoch)
            relay.cut()
            # Until the end of the connection has arrived here, a beat may still go into the void.
            while not await beats(store, epoch):
                pass
        assert len(await store.members()) == 1


async def beats(store: PostgresLeases, epoch: int) -> bool:
    try:
        return await store.beat("n1", epoch)
    except StoreAway:
        return False


@pytest.mark.parametrize(("where", "fences"), [("before", {1}), ("after", {2})])
async def test_a_lost_answer_is_seen_by_reading_again(
    postgres: Postgres, where: CutAt, fences: set[int]
) -> None:
    async with behind_relay(postgres) as (store, relay):
        await store.join(node("n1"))
        await store.place(assign_all)
        await store.join(node("n2", 2))
        dead, _ = await store.members()
        relay.plan = lambda: where
        with pytest.raises(StoreAway):
            await store.take_over([dead], assign_all)
        relay.plan = lambda: ""
        while {each.fence for each in await store.placements()} != fences:
            pass
        await store.take_over([dead], assign_all)
        assert {(each.node, each.fence) for each in await store.placements()} == {("n2", 2)}


async def test_a_join_whose_answer_is_lost_can_be_repeated(postgres: Postgres) -> None:
    async with behind_relay(postgres) as (store, relay):
        relay.plan = lambda: "after"
        with pytest.raises(StoreAway):
            await store.join(node("n1"))
        relay.plan = lambda: ""
        epoch = await store.join(node("n1"))
        assert await store.beat("n1", epoch)


async def test_nothing_of_the_dsn_is_told() -> None:
    dsn = "postgresql://someone:a-secret@127.0.0.1:1/somewhere"
    async with leases_at(dsn) as store:
        with pytest.raises(StoreAway) as refusal:
            await store.beat("n1", 1)
        text = f"{refusal.value} {refusal.value.advice}"
        assert not any(each in text for each in ("someone", "a-secret", "127.0.0.1", "somewhere"))


async def test_a_taker_that_is_frozen_in_its_transaction_holds_nobody_up(
    cluster_dsn: str,
) -> None:
    frozen, waking = threading.Event(), threading.Event()

    def freeze(_: Sequence[Member], __: Sequence[Placement]) -> Mapping[UUID, str]:
        frozen.set()
        waking.wait(SECONDS)
        return {}

    async with leases_at(cluster_dsn) as taker, leases_at(cluster_dsn) as other:
        epoch = await other.join(node("n1"))
        taking = asyncio.create_task(taker.take_over([], freeze))
        await asyncio.to_thread(frozen.wait, SECONDS)
        assert await other.beat("n1", epoch)
        assert await other.place(assign_all)
        waking.set()
        with pytest.raises(StoreAway):
            await taking


async def test_of_two_takers_one_takes_over(cluster_dsn: str) -> None:
    async with leases_at(cluster_dsn) as first, leases_at(cluster_dsn) as second:
        await first.join(node("n1"))
        await first.place(assign_all)
        await first.join(node("n2", 2))
        dead, _ = await first.members()
        taken = await asyncio.gather(
            *(store.take_over([dead], assign_all) for store in (first, second))
        )
        assert sorted(map(len, taken)) == [0, 2]
        assert {each.fence for each in await second.placements()} == {2}


async def test_a_node_that_beats_is_never_taken_over_by_the_same_look(cluster_dsn: str) -> None:
    async with leases_at(cluster_dsn) as mine, leases_at(cluster_dsn) as taker:
        await taker.join(node("n2", 2))
        won = {True: 0, False: 0}
        for _ in range(ROUNDS):
            epoch = await mine.join(node("n1"))
            seen, _ = await taker.members()
            held, _ = await asyncio.gather(
                mine.beat("n1", epoch), taker.take_over([seen], assign_all)
            )
            now, _ = await taker.members()
            assert held is (now.epoch == epoch)
            won[held] += 1
        assert sum(won.values()) == ROUNDS


async def test_nodes_hear_of_placements_and_members(cluster_dsn: str) -> None:
    changes: asyncio.Queue[Mapping[str, Collection[str] | None]] = asyncio.Queue()
    listener = await SharedStore.open(cluster_dsn, KEY)
    listener.follower.begin(changes.put_nowait)
    try:
        async with leases_at(cluster_dsn) as store:
            await store.join(node("n1"))
            await store.place(assign_all)
            changed: dict[str, set[str]] = {}
            expected = {"nodes": {"n1"}, "placements": {str(SERVER), str(OTHER)}}
            while changed != expected:
                for topic, keys in (await changes.get()).items():
                    changed.setdefault(topic, set()).update(keys or ())
    finally:
        await listener.close()
