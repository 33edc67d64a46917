"""Nothing that was acknowledged is lost, and nothing is stored twice, whatever is cut or killed."""

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from uuid import UUID

import psycopg
import pytest

from mcpyard.domain.cluster import Node
from mcpyard.domain.errors import OutcomeUnknown, StoreAway
from mcpyard.store.postgres.engine import BEGIN
from mcpyard.store.postgres.key_rotation import rotate_key
from mcpyard.store.postgres.leases import PostgresLeases
from mcpyard.store.postgres.store import SharedStore
from tests.postgres import KEY, Postgres, running
from tests.relay import CutAt, Relay, relayed

pytestmark = pytest.mark.real

FULL = os.environ.get("MCPYARD_PROOF") == "full"
CHANGES = 1000 if FULL else 60
KILLS = 8 if FULL else 2
AT_ONCE = 4
SERVER = UUID(int=7)

Reached = Callable[[int], object]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.engine._RETRY_SECONDS", 0.02)


@pytest.fixture(scope="module")
def durable() -> Generator[Postgres]:
    with running(durable=True) as instance:
        yield instance


@asynccontextmanager
async def a_node(dsn: str, relay: Relay) -> AsyncGenerator[SharedStore]:
    host = f"127.0.0.1:{relay.target}"
    store = await SharedStore.open(dsn.replace(host, f"127.0.0.1:{relay.port}"), KEY)
    try:
        yield store
    finally:
        await store.close()


def raised(count: object) -> int:
    return count + 1 if isinstance(count, int) else 1


async def change(store: SharedStore, number: int) -> str:
    """Raise a counter of its own by one; how that ended."""
    name = f"k{number}"
    try:
        await store.policies.change(SERVER, lambda old: {**old, name: raised(old.get(name))})
    except StoreAway:
        return "away"
    except OutcomeUnknown:
        return "unknown"
    return "stored"


async def counters(dsn: str) -> dict[str, object]:
    store = await SharedStore.open(dsn, KEY)
    try:
        return dict(store.policies.all().get(SERVER, {}))
    finally:
        await store.close()


def check(ends: dict[int, str], stored: dict[str, object]) -> None:
    for number, end in ends.items():
        count = stored.get(f"k{number}", 0)
        allowed = {"stored": {1}, "away": {0}, "unknown": {0, 1}}[end]
        assert count in allowed, (number, end, count)


async def persistent(store: SharedStore, number: int) -> str:
    """Raise a counter by one; what was certainly not stored is asked for again."""
    while (end := await change(store, number)) == "away":
        pass
    return end


async def several(
    stores: list[SharedStore], numbers: range, ends: dict[int, str], reached: Reached
) -> None:
    """Make changes on several nodes, some at once on each."""
    waiting = iter(numbers)

    async def work(store: SharedStore) -> None:
        for number in waiting:
            ends[number] = await persistent(store, number)
            reached(len(ends))

    await asyncio.gather(*(work(store) for store in stores for _ in range(AT_ONCE)))


@pytest.mark.timeout(600 if FULL else 60)
async def test_connections_cut_at_a_commit_lose_nothing_and_repeat_nothing(
    durable: Postgres,
) -> None:
    dsn = durable.new_cluster()
    chance = random.Random(None if FULL else 3)  # noqa: S311  no secret
    ends: dict[int, str] = {}

    def plan() -> CutAt:
        places: tuple[CutAt, ...] = ("", "", "", "before", "after")
        return chance.choice(places)

    async with AsyncExitStack() as stack:
        relays = [await stack.enter_async_context(relayed(durable.port)) for _ in range(3)]
        stores = [await stack.enter_async_context(a_node(dsn, relay)) for relay in relays]
        for relay in relays:
            relay.plan = plan
        await several(stores, range(CHANGES), ends, lambda _: None)
        for relay in relays:
            relay.plan = lambda: ""
        assert sum(relay.cuts for relay in relays) > 3
    print("cuts at COMMIT:", sum(relay.cuts for relay in relays), Counter(ends.values()))
    check(ends, await counters(dsn))
    assert Counter(ends.values())["stored"] == CHANGES, "each is found out, and tried again"


@pytest.mark.timeout(900 if FULL else 120)
async def test_a_database_that_is_killed_during_changes_loses_nothing(durable: Postgres) -> None:
    dsn = durable.new_cluster()
    chance = random.Random(None if FULL else 5)  # noqa: S311  no secret
    ends: dict[int, str] = {}
    async with AsyncExitStack() as stack:
        relays = [await stack.enter_async_context(relayed(durable.port)) for _ in range(3)]
        stores = [await stack.enter_async_context(a_node(dsn, relay)) for relay in relays]
        share = CHANGES // KILLS
        for turn in range(KILLS):
            numbers = range(turn * share, (turn + 1) * share)
            limit = turn * share + chance.randrange(1, share // 2)
            due = asyncio.Event()
            changes = asyncio.create_task(
                several(stores, numbers, ends, partial(_set_at, due, limit))
            )
            await due.wait()
            durable.kill()
            await asyncio.to_thread(durable.start)
            await changes
    print("database killed", KILLS, "times:", Counter(ends.values()))
    check(ends, await counters(dsn))
    assert len(ends) == KILLS * share
    assert Counter(ends.values())["stored"] >= len(ends) - KILLS * AT_ONCE * len(stores)


def _set_at(due: asyncio.Event, limit: int, count: int) -> None:
    if count >= limit:
        due.set()


async def test_a_database_that_is_away_refuses_at_once_and_takes_changes_when_it_is_back(
    durable: Postgres,
) -> None:
    dsn = durable.new_cluster()
    async with relayed(durable.port) as relay, a_node(dsn, relay) as store:
        assert await change(store, 1) == "stored"
        durable.kill()
        ends = [await change(store, number) for number in range(2, 40)]
        assert {*ends} == {"away"}
        assert store.engine.fault() is not None
        await asyncio.to_thread(durable.start)
        assert await persistent(store, 100) == "stored"
        assert store.engine.fault() is None
    stored = await counters(dsn)
    assert {*stored} == {"k1", "k100"}


async def test_a_database_that_stands_still_lets_no_caller_wait_for_ever(
    durable: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.connecting.LimitedConnection.limit", 0.3)
    monkeypatch.setattr("mcpyard.store.postgres.engine._DOUBT_SECONDS", 0.3)
    dsn = durable.new_cluster()
    async with relayed(durable.port) as relay, a_node(dsn, relay) as store:
        assert await change(store, 1) == "stored"
        relay.freeze()
        began = time.monotonic()
        assert await change(store, 2) == "away"
        assert time.monotonic() - began < 15
        relay.thaw()
        relay.cut()
        assert await persistent(store, 3) == "stored"
    assert {*await counters(dsn)} == {"k1", "k3"}


async def test_a_node_that_is_frozen_in_its_middle_holds_the_others_up_for_seconds_only(
    durable: Postgres,
) -> None:
    dsn = durable.new_cluster()
    store = await SharedStore.open(dsn, KEY)
    frozen = psycopg.connect(dsn, autocommit=True)
    try:
        frozen.execute(f"{BEGIN}; SELECT 1 FROM revision FOR UPDATE".encode())  # noqa: S608  constants
        assert await change(store, 1) == "stored"
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            frozen.execute("COMMIT")
    finally:
        frozen.close()
        await store.close()


async def test_an_answer_that_never_comes_leaves_the_outcome_unknown_and_nothing_repeated(
    durable: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.postgres.engine._DOUBT_SECONDS", 0.3)
    dsn = durable.new_cluster()
    async with relayed(durable.port) as relay, a_node(dsn, relay) as store:

        def last_one() -> CutAt:
            relay.target = 1
            return "after"

        relay.plan = last_one
        assert await change(store, 1) == "unknown"
    assert await counters(dsn) == {"k1": 1}


SEEN = """CREATE TABLE mcpyard.seen (who text, durable text, isolation text);
CREATE FUNCTION mcpyard.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO mcpyard.seen VALUES (TG_TABLE_NAME, current_setting('synchronous_commit'),
        current_setting('transaction_isolation'));
    RETURN NULL;
END $$;
CREATE TRIGGER seen AFTER UPDATE ON mcpyard.revision FOR EACH ROW EXECUTE FUNCTION mcpyard.see();
CREATE TRIGGER seen AFTER UPDATE ON mcpyard.nodes FOR EACH ROW EXECUTE FUNCTION mcpyard.see()"""


async def test_what_is_acknowledged_is_durable_however_the_database_is_set_up(
    postgres: Postgres,
) -> None:
    dsn = postgres.new_cluster()
    database = dsn.rpartition("/")[2]
    for setting in ("synchronous_commit = off", "default_transaction_isolation = 'serializable'"):
        postgres.administer(f"ALTER DATABASE {database} SET {setting}")
    postgres.administer(SEEN, database)
    leases = PostgresLeases(dsn)
    store = await SharedStore.open(dsn, KEY)
    try:
        assert await change(store, 0) == "stored"
        epoch = await leases.join(Node("n1", SERVER, "boot", "127.0.0.1:1", 6.0))
        assert await leases.beat("n1", epoch)
        await asyncio.to_thread(rotate_key, dsn, "another key", KEY)
    finally:
        await leases.close()
        await store.close()
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT who, durable, isolation FROM mcpyard.seen").fetchall()
    assert {*rows} == {("revision", "on", "read committed"), ("nodes", "on", "read committed")}


async def test_changes_that_wait_together_raise_the_revision_once_and_readers_not_at_all(
    durable: Postgres,
) -> None:
    store = await SharedStore.open(durable.new_cluster(), KEY)
    try:
        await change(store, 0)
        before = store.engine.written
        free = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hold(_: object) -> None:
            asyncio.run_coroutine_threadsafe(free.wait(), loop).result(10)

        held = asyncio.create_task(store.engine.read(hold))
        jobs = [asyncio.create_task(change(store, number)) for number in range(1, 50)]
        await asyncio.sleep(0)
        free.set()
        await asyncio.gather(held, *jobs)
        assert store.engine.written == before + 1
        await store.engine.flush()
        assert await store.follower.catch_up() == {}, "its own changes are no news"
        assert store.follower.seen == before + 1
    finally:
        await store.close()
