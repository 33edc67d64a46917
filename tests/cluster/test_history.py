"""What the events of a cluster say about where each server is."""

from uuid import UUID

from mcpyard.cluster.history import SHOWN, ClusterHistory
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, PlacementReason, Why

SERVER, OTHER = UUID(int=1), UUID(int=2)
JOINED, LOST, MOVING = EventKind.JOINED, EventKind.LOST, EventKind.MOVING
PLACED, STAYED, DRAINING = EventKind.PLACED, EventKind.STAYED, EventKind.DRAINING


def history_of(*events: ClusterEvent) -> ClusterHistory:
    history = ClusterHistory()
    history.take(numbered(*events))
    return history


def numbered(*events: ClusterEvent, after: int = 0) -> list[ClusterEvent]:
    return [
        ClusterEvent(each.kind, each.node, each.server, each.source, each.why, each.by, number)
        for number, each in enumerate(events, after + 1)
    ]


def placed(node: str, why: Why = Why.CHOSEN, source: str = "") -> ClusterEvent:
    return ClusterEvent(PLACED, node, SERVER, source, why)


def test_a_server_is_where_it_was_placed_last() -> None:
    history = history_of(placed("n1"), placed("n2", Why.TAKEN_OVER, "n1"))
    assert history.reasons[SERVER] == PlacementReason("n2", Why.TAKEN_OVER, "n1")
    history.take(numbered(placed("", Why.TAKEN_OVER, "n2"), after=2))
    assert SERVER not in history.reasons


def test_a_move_has_the_reason_that_it_was_planned_for() -> None:
    planned = ClusterEvent(MOVING, "n2", SERVER, "n1", Why.DRAINED, "somebody")
    history = history_of(placed("n1"), planned)
    assert history.reasons[SERVER].node == "n1"
    news = history.take(numbered(placed("n2", Why.MOVED, "n1"), after=2))
    assert history.reasons[SERVER] == PlacementReason("n2", Why.DRAINED, "n1", "somebody")
    assert [(each.why, each.by) for each in news] == [(Why.DRAINED, "somebody")]


def test_a_move_that_the_drained_node_planned_tells_who_drained_it() -> None:
    planned = ClusterEvent(MOVING, "n2", SERVER, "n1", Why.DRAINED)
    drained = ClusterEvent(DRAINING, "n1", by="somebody")
    history = history_of(placed("n1"), drained, planned, placed("n2", Why.MOVED, "n1"))
    assert history.reasons[SERVER] == PlacementReason("n2", Why.DRAINED, "n1", "somebody")
    assert history.events[2].by == "somebody"


def test_who_drained_a_node_is_forgotten_once_it_is_back() -> None:
    drained, back = ClusterEvent(DRAINING, "n1", by="somebody"), ClusterEvent(JOINED, "n1")
    planned = ClusterEvent(MOVING, "n2", SERVER, "n1", Why.DRAINED)
    history = history_of(drained, back, placed("n1"), planned, placed("n2", Why.MOVED, "n1"))
    assert history.reasons[SERVER] == PlacementReason("n2", Why.DRAINED, "n1")


def test_a_move_that_was_given_up_leaves_the_earlier_reason() -> None:
    planned = ClusterEvent(MOVING, "n2", SERVER, "n1", Why.DRAINED, "somebody")
    history = history_of(placed("n1"), planned, ClusterEvent(STAYED, "n1", SERVER))
    assert history.reasons[SERVER] == PlacementReason("n1", Why.CHOSEN)
    history.take(numbered(placed("n2", Why.MOVED, "n1"), after=3))
    assert history.reasons[SERVER] == PlacementReason("n2", Why.MOVED, "n1")


def test_a_node_that_is_back_keeps_what_it_had() -> None:
    other = ClusterEvent(PLACED, "n2", OTHER, why=Why.CHOSEN)
    history = history_of(placed("n1"), other, ClusterEvent(JOINED, "n1"))
    assert history.reasons[SERVER].kept
    assert not history.reasons[OTHER].kept


def test_an_event_counts_once_and_the_last_ones_are_kept() -> None:
    events = numbered(*[ClusterEvent(LOST, f"n{number}") for number in range(SHOWN + 5)])
    history = ClusterHistory()
    assert history.take(events) == events
    assert history.take(events) == []
    assert history.newest == SHOWN + 5
    assert history.events == events[5:]
