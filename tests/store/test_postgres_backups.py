"""Backups of a cluster, and the way back; the change of its key."""

import asyncio
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from mcpyard.domain.cluster import Node
from mcpyard.domain.errors import ClusterRefused, NewerState, StateBroken
from mcpyard.store.postgres.backups import (
    back_up_cluster,
    read_backup,
    restore_cluster,
    running_nodes,
)
from mcpyard.store.postgres.key_rotation import rotate_key
from mcpyard.store.postgres.leases import PostgresLeases
from mcpyard.store.postgres.setup import ClusterConnection, seal_of
from mcpyard.store.postgres.store import SharedStore
from mcpyard.store.sqlite.snapshots import examine, is_of_cluster, unreadable_sign_ins
from tests.postgres import KEY, Postgres
from tests.store.contract import LATER
from tests.store.contract_access import SIGNED_IN, a_token
from tests.store.contract_definitions import ODD

pytestmark = pytest.mark.real

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
NEW_KEY = "another key"
HOME, SERVER = UUID(int=1), UUID(int=2)


@pytest.fixture
def cluster(cluster_dsn: str) -> ClusterConnection:
    return ClusterConnection(cluster_dsn, seal_of(KEY))


async def fill(dsn: str, *names: str) -> UUID:
    """Store something in each table that a cluster shares; the id of the first server."""
    store = await SharedStore.open(dsn, KEY)
    try:
        made = await store.definitions.add_all(dict.fromkeys(names, ODD))
        one = made[0].id
        await store.policies.set(one, {"timeout": 5})
        store.memory.keep_names({(one, "t"): f"mcp_{one.hex}_t"})
        store.memory.keep_tools(one, [{"name": "t"}])
        await store.profiles.set("work", {"servers": [names[0]]})
        await store.tokens.add(a_token())
        await store.sessions.add_link("link", LATER)
        await store.credentials.put(SIGNED_IN)
        await store.admin.set("the hash")
        return one
    finally:
        await store.close()


async def taken(cluster: ClusterConnection, path: Path) -> dict[str, int]:
    return dict(await asyncio.to_thread(back_up_cluster, cluster.connect, path, NOW))


async def restored(cluster: ClusterConnection, path: Path) -> dict[str, int]:
    snapshot = await asyncio.to_thread(read_backup, path, cluster.seal)
    return dict(await asyncio.to_thread(restore_cluster, cluster.connect, snapshot, cluster.seal))


def rows(dsn: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query.encode()).fetchall()


async def test_a_backup_brings_a_cluster_back_as_it_was(
    tmp_path: Path, cluster: ClusterConnection
) -> None:
    one = await fill(cluster.dsn, "one", "two")
    counts = await taken(cluster, tmp_path / "b.db")
    assert (counts["definitions"], counts["tokens"], counts["credentials"]) == (2, 1, 1)
    assert (tmp_path / "b.db").stat().st_mode & 0o777 == 0o600
    assert is_of_cluster(tmp_path / "b.db")
    assert examine(tmp_path / "b.db") == 2
    store = await SharedStore.open(cluster.dsn, KEY)
    await store.definitions.remove(one)
    later, _ = await store.definitions.add_all({"later": {}, "one": {}})
    store.memory.keep_names({(later.id, "t"): f"mcp_{one.hex}_t2"})
    await store.credentials.delete(SIGNED_IN.resource)
    await store.admin.set("another hash")
    await store.close()
    assert await restored(cluster, tmp_path / "b.db") == counts
    store = await SharedStore.open(cluster.dsn, KEY)
    try:
        assert [each.name for each in store.definitions.all()] == ["one", "two"]
        assert store.definitions.all()[0].id == one
        assert store.policies.all() == {one: {"timeout": 5}}
        assert store.memory.exposed_names() == {(one, "t"): f"mcp_{one.hex}_t"}
        assert store.memory.tools(one) == [{"name": "t"}]
        assert await store.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        assert store.admin.hash == "the hash"
    finally:
        await store.close()


async def test_a_backup_gets_into_another_database_and_no_fence_goes_back(
    tmp_path: Path, cluster: ClusterConnection, postgres: Postgres
) -> None:
    await fill(cluster.dsn, "one")
    placed = "INSERT INTO mcpyard.placements (server, node, fence) VALUES ('{}', 'n1', {})"
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute(placed.format(SERVER, 7).encode())
    counts = await taken(cluster, tmp_path / "b.db")
    other = cluster._replace(dsn=postgres.new_cluster())
    with psycopg.connect(other.dsn, autocommit=True) as connection:
        connection.execute(placed.format(UUID(int=3), 4).encode())
    assert await restored(other, tmp_path / "b.db") == counts
    fences = "SELECT server, node, fence FROM mcpyard.placements ORDER BY server"
    assert rows(other.dsn, fences) == [(SERVER, "", 8), (UUID(int=3), "", 5)]


async def test_a_backup_is_of_one_moment_while_others_write(
    tmp_path: Path, cluster: ClusterConnection
) -> None:
    store = await SharedStore.open(cluster.dsn, KEY)
    backing_up = asyncio.create_task(taken(cluster, tmp_path / "b.db"))
    number = 0
    while not backing_up.done():
        await store.definitions.add_all({f"s{number}": {}})
        number += 1
    await store.close()
    counts = await backing_up
    # A definition and its identity are added in one transaction.
    assert counts["definitions"] == counts["identities"]


async def test_a_backup_that_does_not_fit_is_refused_and_changes_nothing(
    tmp_path: Path, cluster: ClusterConnection
) -> None:
    await fill(cluster.dsn, "one")
    backup = tmp_path / "b.db"
    await taken(cluster, backup)
    with pytest.raises(ClusterRefused, match="sealed with another MCPYARD_KEY"):
        read_backup(backup, seal_of(NEW_KEY))
    assert read_backup(backup, seal_of(NEW_KEY, KEY)).probe
    with sqlite3.connect(backup) as connection:
        connection.execute("UPDATE cluster_backup SET version = 99")
    connection.close()
    with pytest.raises(NewerState, match="newer mcpyard"):
        read_backup(backup, cluster.seal)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(backup.read_bytes()[:4096] + b"x" * 8192)
    with pytest.raises(StateBroken):
        read_backup(damaged, cluster.seal)


async def test_nodes_that_beat_are_seen_and_silent_ones_are_waited_for(
    cluster: ClusterConnection,
) -> None:
    assert running_nodes(cluster.connect) == []
    leases = PostgresLeases(cluster.dsn)
    for name in ("n1", "n2"):
        assert await leases.join(Node(name, HOME, "boot", "127.0.0.1:1", 1.0)) == 1
    assert await asyncio.to_thread(running_nodes, cluster.connect) == []
    never = asyncio.Event()

    async def beat(name: str, pause: float) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(never.wait(), pause)
            await leases.beat(name, 1)

    # The second one is seen at a later look than the first.
    beating = {asyncio.create_task(beat("n1", 0.01)), asyncio.create_task(beat("n2", 1.0))}
    assert await asyncio.to_thread(running_nodes, cluster.connect) == ["n1", "n2"]
    for task in beating:
        task.cancel()
    await asyncio.wait(beating)
    await leases.close()


async def test_nodes_with_both_keys_work_while_the_key_is_changed(
    cluster: ClusterConnection,
) -> None:
    await fill(cluster.dsn, "one")
    both = partial(SharedStore.open, cluster.dsn, NEW_KEY, KEY)
    node = await both()
    try:
        # Before the change, what it writes can be read by nodes that have the old key only.
        await node.credentials.put(SIGNED_IN)
        old = await SharedStore.open(cluster.dsn, KEY)
        assert await old.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        await old.close()
        rotated = await asyncio.to_thread(rotate_key, cluster.dsn, NEW_KEY, KEY)
        assert (rotated.sealed, [*rotated.unreadable]) == (1, [])
        assert await node.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        # After it, by nodes that have the new key only.
        await node.credentials.put(SIGNED_IN)
        new = await SharedStore.open(cluster.dsn, NEW_KEY)
        assert await new.credentials.get(SIGNED_IN.resource) == SIGNED_IN
        await new.close()
    finally:
        await node.close()
    with pytest.raises(ClusterRefused, match="not the key of this cluster"):
        await SharedStore.open(cluster.dsn, KEY)
    # Once more changes nothing.
    assert (await asyncio.to_thread(rotate_key, cluster.dsn, NEW_KEY, KEY)).sealed == 1


async def test_a_key_that_is_neither_changes_nothing(cluster: ClusterConnection) -> None:
    await fill(cluster.dsn, "one")
    with pytest.raises(ClusterRefused, match="not the key of this cluster"):
        rotate_key(cluster.dsn, NEW_KEY, "a third one")
    store = await SharedStore.open(cluster.dsn, KEY)
    assert await store.credentials.get(SIGNED_IN.resource) == SIGNED_IN
    await store.close()


async def test_a_sign_in_of_a_third_key_is_named(
    tmp_path: Path, cluster: ClusterConnection
) -> None:
    await fill(cluster.dsn, "one")
    sealed = seal_of("a third one").close(b"{}")
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        insert = "INSERT INTO mcpyard.credentials (issuer, resource, sealed) VALUES ('i', 'r', %s)"
        connection.execute(insert.encode(), (sealed,))
    rotated = await asyncio.to_thread(rotate_key, cluster.dsn, NEW_KEY, KEY)
    assert (rotated.sealed, [*rotated.unreadable]) == (1, ["r"])
    backup = tmp_path / "b.db"
    await taken(cluster._replace(seal=seal_of(NEW_KEY)), backup)
    assert unreadable_sign_ins(backup, seal_of(NEW_KEY)) == ["r"]
