"""Leases in PostgreSQL: membership, placements and fences of a cluster.

A change locks the row of the revision, as every group of writes does (see `engine`), so that
changes come one after the other. It reads the tables, applies the rules that the store in memory
has, and writes what differs. The nodes are locked too, because beats do not touch the revision: a
node that beats meanwhile waits, and finds that it was taken over.

Beats have a thread and a connection for themselves. No wall clock is compared anywhere.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson
from msgspec.structs import replace
from psycopg.sql import SQL, Literal

from mcpyard.domain.cluster import Assign, Member, Node, NodeState, Placement
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, Why
from mcpyard.store.lease_tables import LeaseTables
from mcpyard.store.postgres.connecting import BEGIN_DURABLE
from mcpyard.store.postgres.lease_thread import LeaseThread, TimedConnection
from mcpyard.store.postgres.schema import CHANNEL

T = TypeVar("T")

# Local to the transaction, because a pooler gives each transaction another connection. A node that
# is frozen in the middle of one must not keep the others from beating.
_BEGIN: Final = f"""{BEGIN_DURABLE}; SET LOCAL statement_timeout TO 2000;
    SET LOCAL idle_in_transaction_session_timeout TO 1000"""
_LOCK: Final = """UPDATE mcpyard.revision SET rev = rev + 1, raised = pg_current_xact_id()
    RETURNING rev"""
_BEAT: Final = SQL(
    f"""{BEGIN_DURABLE}; SET LOCAL statement_timeout TO 2000;
    UPDATE mcpyard.nodes SET beat = beat + 1 WHERE name = {{}} AND epoch = {{}} AND NOT blocked;
    COMMIT"""  # noqa: S608  constants
)
_NODES: Final = """SELECT name, home, boot, address, ttl_ms, labels, capacity, version, epoch, beat,
    state, cannot, blocked FROM mcpyard.nodes ORDER BY name"""
_PLACEMENTS: Final = """SELECT server, node, fence, next_node FROM mcpyard.placements
    ORDER BY server"""
_PUT_NODE: Final = """INSERT INTO mcpyard.nodes (name, home, boot, address, ttl_ms, labels,
        capacity, version, epoch, beat, state, cannot, blocked)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, false)
    ON CONFLICT (name) DO UPDATE SET home = excluded.home, boot = excluded.boot,
        address = excluded.address, ttl_ms = excluded.ttl_ms, labels = excluded.labels,
        capacity = excluded.capacity, version = excluded.version, epoch = excluded.epoch,
        beat = excluded.beat, state = excluded.state, cannot = excluded.cannot, blocked = false"""
_BLOCK: Final = "UPDATE mcpyard.nodes SET blocked = true WHERE name = ?"
_PUT_PLACEMENT: Final = """INSERT INTO mcpyard.placements AS p (server, node, fence, next_node)
    VALUES (?, ?, ?, ?)
    ON CONFLICT (server) DO UPDATE SET node = excluded.node, fence = excluded.fence,
        next_node = excluded.next_node,
        since = CASE WHEN p.fence = excluded.fence THEN p.since ELSE now() END"""
_PUT_EVENT: Final = """INSERT INTO mcpyard.events (kind, node, server, source, why, by)
    VALUES (?, ?, ?, ?, ?, ?)"""
_EVENTS: Final = """SELECT kind, node, server, source, why, by, id, at FROM mcpyard.events
    WHERE id > ? ORDER BY id"""
_TRIM: Final = "DELETE FROM mcpyard.events WHERE id <= (SELECT max(id) FROM mcpyard.events) - ?"
_EVENTS_KEPT: Final = 5000
_KINDS: Final = frozenset(each.value for each in EventKind)
_REASONS: Final = {each.value: each for each in Why}
_NOTE: Final = "INSERT INTO mcpyard.changes (rev, topic, key) VALUES (?, 'nodes', ?)"


class PostgresLeases:
    """The `LeaseStore` port over the database of a cluster, whose schema is there."""

    def __init__(self, dsn: str) -> None:
        self._beats = LeaseThread(dsn, "cluster beats")
        self._jobs = LeaseThread(dsn, "cluster leases")

    async def join(
        self, node: Node, *, watched: Member | None = None, replace: bool = False
    ) -> int:
        """Take the name of a node; safe to repeat after a lost answer."""
        return await self._change(lambda tables: tables.join(node, watched, replace_it=replace))

    async def beat(self, name: str, epoch: int) -> bool:
        """Renew a lease."""

        def job(connection: TimedConnection) -> bool:
            return connection.changed(_BEAT.format(Literal(name), Literal(epoch))) == 1

        return await self._beats.run(job)

    async def members(self) -> Sequence[Member]:
        """Every node."""
        return await self._jobs.run(lambda connection: [*_read_nodes(connection)[0].values()])

    async def placements(self) -> Sequence[Placement]:
        """Every placement."""
        return await self._jobs.run(lambda connection: [*_read_placements(connection).values()])

    async def take_over(
        self, dead: Sequence[Member], assign: Assign, *, by: str = ""
    ) -> Sequence[Placement]:
        """Place the servers of dead nodes elsewhere."""
        return await self._change(lambda tables: tables.take_over(dead, assign, by))

    async def leave(
        self, name: str, epoch: int, keep: Collection[UUID], assign: Assign
    ) -> Sequence[Placement]:
        """Place the servers of a node that ends elsewhere."""
        return await self._change(lambda tables: tables.leave(name, epoch, keep, assign))

    async def place(self, assign: Assign) -> Sequence[Placement]:
        """Give nodes to servers that have none; without a lock when none is without."""
        if not await self._jobs.run(lambda connection: _read(connection).place(assign)):
            return []
        return await self._change(lambda tables: tables.place(assign))

    async def plan_move(
        self, server: UUID, node: str, *, why: Why = Why.MOVED, by: str = ""
    ) -> Placement:
        """Say which node gets a server next."""
        return await self._change(lambda tables: tables.plan_move(server, node, why, by))

    async def plan_moves(
        self, moves: Mapping[UUID, str], *, why: Why = Why.MOVED, by: str = ""
    ) -> Sequence[Placement]:
        """Say which nodes get servers next."""
        return await self._change(lambda tables: tables.plan_moves(moves, why, by))

    async def hand_over(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Give servers to their next nodes."""
        return await self._change(lambda tables: tables.hand_over(fences))

    async def raise_fence(self, server: UUID, fence: int) -> Placement:
        """Raise the fence of a server."""
        return await self._change(lambda tables: tables.raise_fence(server, fence))

    async def unplace(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Take the nodes of servers away."""
        return await self._change(lambda tables: tables.unplace(fences))

    async def set_state(self, name: str, state: NodeState, *, by: str = "") -> None:
        """Say whether a node takes servers."""
        await self._change(lambda tables: tables.set_state(name, state, by))

    async def set_cannot(self, name: str, servers: frozenset[UUID]) -> None:
        """Say which servers cannot run on a node."""

        def rule(tables: LeaseTables) -> None:
            tables.set_member(name, lambda member: replace(member, cannot=servers))

        await self._change(rule)

    async def forget(self, name: str, *, by: str = "") -> None:
        """Take a node out of the list."""
        await self._change(lambda tables: tables.forget(name, by))

    async def events(self, after: int) -> Sequence[ClusterEvent]:
        """What happened since the event of that number."""

        def job(connection: TimedConnection) -> list[ClusterEvent]:
            rows = connection.execute(_EVENTS, (after,))
            # A later version may tell of more.
            return [_event(*row) for row in rows if row[0] in _KINDS]

        return await self._jobs.run(job)

    async def close(self) -> None:
        """Let go of both connections."""
        await self._beats.close()
        await self._jobs.close()

    async def _change(self, rule: Callable[[LeaseTables], T]) -> T:
        """Apply a rule in a transaction of its own; nothing is written if it changes nothing."""

        def job(connection: TimedConnection) -> T:
            rev: int = connection.last(f"{_BEGIN}; {_LOCK}")[0]
            tables = _read(connection, lock="FOR UPDATE")
            nodes, placed = {**tables.nodes}, {**tables.placed}
            outcome = rule(tables)
            if (tables.nodes, tables.placed) == (nodes, placed):
                connection.execute("ROLLBACK")
                return outcome
            _write_nodes(connection, nodes, tables, rev)
            _write_placements(connection, placed, tables.placed)
            _write_events(connection, tables.events)
            connection.execute("COMMIT")
            return outcome

        return await self._jobs.run(job)


def _read(connection: TimedConnection, lock: str = "") -> LeaseTables:
    nodes, blocked = _read_nodes(connection, lock)
    return LeaseTables(nodes, _read_placements(connection), blocked)


def _read_nodes(
    connection: TimedConnection, lock: str = ""
) -> tuple[dict[str, Member], dict[str, int]]:
    nodes: dict[str, Member] = {}
    blocked: dict[str, int] = {}
    for *columns, is_blocked in connection.execute(f"{_NODES} {lock}"):
        member = _member(*columns)
        if is_blocked:
            blocked[member.node.name] = member.epoch
        else:
            nodes[member.node.name] = member
    return nodes, blocked


def _member(*columns: Any) -> Member:  # noqa: ANN401  as the database has them
    name, home, boot, address, ttl_ms, labels, capacity, version, epoch, beat, state, cannot = (
        columns
    )
    node = Node(name, home, boot, address, ttl_ms / 1000, orjson.loads(labels), capacity, version)
    servers = frozenset(map(UUID, orjson.loads(cannot)))
    return Member(node, epoch, beat, NodeState(state), servers)


def _columns(member: Member) -> tuple[object, ...]:
    node = member.node
    return (
        *(node.name, node.home, node.boot, node.address, round(node.ttl * 1000)),
        *(orjson.dumps({**node.labels}).decode(), node.capacity, node.version),
        *(member.epoch, member.beat, member.state.value),
        orjson.dumps(sorted(map(str, member.cannot))).decode(),
    )


def _read_placements(connection: TimedConnection) -> dict[UUID, Placement]:
    return {row[0]: Placement(*row) for row in connection.execute(_PLACEMENTS)}


def _write_nodes(
    connection: TimedConnection, before: Mapping[str, Member], tables: LeaseTables, rev: int
) -> None:
    changed = [each for name, each in tables.nodes.items() if before.get(name) != each]
    gone = before.keys() - tables.nodes.keys()
    if changed:
        connection.executemany(_PUT_NODE, [_columns(each) for each in changed])
    if gone:
        connection.executemany(_BLOCK, [(name,) for name in gone])
    names = [*gone, *(each.node.name for each in changed)]
    if names:
        # No trigger notes changes of nodes: it would note every beat.
        connection.executemany(_NOTE, [(rev, name) for name in names])
        connection.execute("SELECT pg_notify(?, ?)", (CHANNEL, str(rev)))


def _write_placements(
    connection: TimedConnection,
    before: Mapping[UUID, Placement],
    after: Mapping[UUID, Placement],
) -> None:
    changed = [each for server, each in after.items() if before.get(server) != each]
    if changed:
        rows = [(each.server, each.node, each.fence, each.next_node) for each in changed]
        connection.executemany(_PUT_PLACEMENT, rows)


def _event(*columns: Any) -> ClusterEvent:  # noqa: ANN401  as the database has them
    kind, node, server, source, why, by, number, at = columns
    return ClusterEvent(EventKind(kind), node, server, source, _REASONS.get(why), by, number, at)


def _write_events(connection: TimedConnection, events: Sequence[ClusterEvent]) -> None:
    if events:
        rows = [
            (each.kind.value, each.node, each.server, each.source, str(each.why or ""), each.by)
            for each in events
        ]
        connection.executemany(_PUT_EVENT, rows)
        connection.execute(_TRIM, (_EVENTS_KEPT,))
