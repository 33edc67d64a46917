"""What a node knows of its cluster besides where servers are: events, plans, calls of all nodes."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcpyard.domain.cluster import Placement
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, Why
from mcpyard.domain.cluster_insight import PinnedServer
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.planned_moves import PlannedMove
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.mesh.insight import NodeInsight
from mcpyard.mesh.journals import ASK, MOST_CALLS
from mcpyard.mesh.pinned_servers import ASK as ASK_PINNED
from tests.mesh.nodes import ECHO, OTHER, ClusterNode, cluster_in, desired_servers

AT = datetime(2026, 11, 18, tzinfo=UTC)


class FakeJournal:
    """A journal with some calls; one that hangs answers nothing."""

    dropped = trimmed = 0

    def __init__(self, *numbers: int) -> None:
        self.calls = [
            CallRecord(AT, "cli", ECHO, "echo", "say", 1.5, "ok", 3, 4, number)
            for number in numbers
        ]
        self.queries: list[CallQuery] = []
        self.hangs = False

    def append(self, call: CallRecord) -> None:
        raise NotImplementedError

    async def query(self, query: CallQuery) -> Sequence[CallRecord]:
        self.queries.append(query)
        if self.hangs:
            await asyncio.Event().wait()
        return self.calls[: query.limit]


def insight_of(node: ClusterNode, journal: FakeJournal) -> NodeInsight:
    return NodeInsight(node.leases, node.mesh, journal)


async def test_calls_of_other_nodes_come_over_the_link(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        one, two = await cluster.start("n1", "n2")
        near, far = FakeJournal(5), FakeJournal(9, 8, 7)
        insight = insight_of(one, near)
        insight_of(two, far)
        query = CallQuery(ECHO, "say", "ok", "cli", 10, 2)
        calls = await insight.calls({"n1": query, "n2": query, "n3": query})
        assert calls["n1"] == [near.calls[0]._replace(node="n1")]
        assert calls["n2"] == [each._replace(node="n2") for each in far.calls[:2]]
        assert calls["n3"] is None
        assert near.queries == far.queries == [query]
        await insight.calls({"n2": CallQuery(limit=10**6)})
        assert far.queries[-1].limit == MOST_CALLS


async def test_a_node_that_cannot_tell_its_calls_in_time_is_missing(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        one, two = await cluster.start("n1", "n2")
        insight = insight_of(one, FakeJournal())
        # One of an earlier version does not know the question.
        assert await insight.calls({"n2": CallQuery()}) == {"n2": None}
        hanging = FakeJournal()
        hanging.hangs = True
        insight_of(two, hanging)
        assert await insight.calls({"n2": CallQuery()}) == {"n2": None}

        async def nonsense(_params: bytes) -> bytes:
            return b'{"no": "list"}'

        two.mesh.answers.add(ASK, nonsense)
        assert await insight.calls({"n2": CallQuery()}) == {"n2": None}


async def test_every_node_knows_the_servers_of_the_files_of_the_others(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        one, two = await cluster.start("n1", "n2")
        insight = insight_of(one, FakeJournal())
        # One of an earlier version does not know the question.
        assert await insight.pinned_elsewhere() == []
        insight_of(two, FakeJournal())
        assert await insight.pinned_elsewhere() == []
        two.want(desired_servers("other", scope=Scope.PROJECT))
        pinned = [PinnedServer("n2", OTHER, "other")]
        assert await insight.pinned_elsewhere() == pinned

        async def nonsense(_params: bytes) -> bytes:
            return b'{"no": "list"}'

        two.mesh.answers.add(ASK_PINNED, nonsense)
        assert await insight.pinned_elsewhere() == pinned
        await two.close()
        await one.until(lambda: one.mesh.links.get("n2") is None)
        assert await insight.pinned_elsewhere() == []


async def test_events_are_told_from_the_start_of_a_node_on(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        (one,) = await cluster.start("n1")
        insight = insight_of(one, FakeJournal())
        news: list[ClusterEvent] = []
        insight.follow(news.append)
        insight.reader.start()
        await one.until(lambda: insight.reason(ECHO) is not None)
        assert news == []
        one.leases.away = True
        cluster.tables.events += [
            ClusterEvent(EventKind.LOST, "n2", by="n1"),
            ClusterEvent(EventKind.LOST, "n3", by="n4"),
        ]
        one.leases.away = False
        insight.reader.hint()
        await one.until(lambda: len(news) == 2)
        assert insight.figures.takeovers == 1
        assert insight.events()[-2:] == news
        await insight.reader.close()


async def test_a_listener_that_fails_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with cluster_in(tmp_path) as cluster:
        (one,) = await cluster.start("n1")
        insight = insight_of(one, FakeJournal())
        news: list[ClusterEvent] = []

        def fail(event: ClusterEvent) -> None:
            news.append(event)
            raise ZeroDivisionError

        insight.follow(fail)
        insight.reader.start()
        await one.until(lambda: insight.reason(ECHO) is not None)
        for number in (1, 2):
            cluster.tables.events.append(ClusterEvent(EventKind.DRAINING, "n1"))
            insight.reader.hint()
            await one.until(lambda number=number: len(news) == number)
        await insight.reader.close()
        assert "cannot be read" in caplog.text


async def test_plans_are_made_from_what_the_node_knows(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.desired = desired_servers("echo", "other")
        one, _ = await cluster.start("n1", "n2")
        await one.until(lambda: len(one.view.admission.placements) == 2)
        insight = insight_of(one, FakeJournal())
        placement = one.view.admission.placements[ECHO]
        target = "n2" if placement.node == "n1" else "n1"
        assert insight.plan_move(ECHO, target) == PlannedMove(ECHO, placement.node, target)
        moves = insight.plan_drain(placement.node)
        assert PlannedMove(ECHO, placement.node, target) in moves
        one.view.admission.learn([Placement(OTHER, "", 99)], from_store=True)
        with pytest.raises(ServerUnknown):
            insight.plan_move(OTHER, "n2")


async def test_a_reason_of_another_node_is_not_shown(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        (one,) = await cluster.start("n1")
        insight = insight_of(one, FakeJournal())
        event = ClusterEvent(EventKind.PLACED, "n2", ECHO, "", Why.CHOSEN, id=1)
        insight.reader.history.take([event])
        assert insight.reason(ECHO) is None
