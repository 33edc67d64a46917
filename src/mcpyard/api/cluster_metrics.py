"""The metrics of a cluster: what this node knows of itself, and of every node."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from mcpyard.domain.cluster import NodeState
from mcpyard.domain.cluster_insight import NodeFigures
from mcpyard.yard.cluster_operations import ClusterOperations
from mcpyard.yard.views.cluster import ClusterNodeView, ClusterView

Value = tuple[Mapping[str, str], float]
"""The labels and the value of a sample."""


class ClusterSample(Struct, frozen=True):
    """What the metrics are read from: the cluster as this node sees it, and its own figures."""

    view: ClusterView
    figures: NodeFigures


class ClusterMetric(Struct, frozen=True):
    """A metric, and how it is read."""

    name: str
    kind: str
    meaning: str
    read: Callable[[ClusterSample], Iterable[Value]]


def sample_cluster(cluster: ClusterOperations) -> ClusterSample | None:
    """What there is to measure; None without a cluster."""
    return ClusterSample(cluster.view(), cluster.figures) if cluster.exists else None


def _own(
    read: Callable[[ClusterSample], float],
) -> Callable[[ClusterSample], Iterable[Value]]:
    return lambda sample: [({"node": sample.view.node}, read(sample))]


def _each(
    read: Callable[[ClusterNodeView], float],
) -> Callable[[ClusterSample], Iterable[Value]]:
    return lambda sample: [({"node": each.name}, read(each)) for each in sample.view.nodes]


def _states(sample: ClusterSample) -> Iterator[Value]:
    for each in sample.view.nodes:
        for state in NodeState:
            yield {"node": each.name, "state": str(state)}, float(state is each.state)


CLUSTER_METRICS: Final = (
    ClusterMetric(
        "mcpyard_lease_seconds_left",
        "gauge",
        "For how long this node may run singletons without another beat.",
        _own(lambda sample: sample.figures.lease_seconds_left),
    ),
    ClusterMetric(
        "mcpyard_takeovers_total",
        "counter",
        "Nodes that stopped beating and were taken over by this node.",
        _own(lambda sample: sample.figures.takeovers),
    ),
    ClusterMetric(
        "mcpyard_fenced_total",
        "counter",
        "Times that this node lost its lease: it ended, or another node took over.",
        _own(lambda sample: sample.figures.fenced),
    ),
    ClusterMetric(
        "mcpyard_database_away",
        "gauge",
        "1 while this node cannot reach the database of the cluster, else 0.",
        _own(lambda sample: float(sample.view.database == "away")),
    ),
    ClusterMetric(
        "mcpyard_node_isolated",
        "gauge",
        "1 while this node reaches neither the database nor another node, else 0.",
        _own(lambda sample: float(sample.view.isolated)),
    ),
    ClusterMetric(
        "mcpyard_node_servers",
        "gauge",
        "Servers that are placed on a node.",
        _each(lambda node: node.servers),
    ),
    ClusterMetric(
        "mcpyard_node_capacity",
        "gauge",
        "Servers that a node takes.",
        _each(lambda node: node.capacity),
    ),
    ClusterMetric(
        "mcpyard_node_beat_age_seconds",
        "gauge",
        "Time since a node's last beat was seen.",
        _each(lambda node: node.beat_age_ms / 1000),
    ),
    ClusterMetric(
        "mcpyard_node_reachable",
        "gauge",
        "1 if this node can make calls to a node, else 0.",
        _each(lambda node: float(node.reachable)),
    ),
    ClusterMetric(
        "mcpyard_node_state", "gauge", "1 for the current state of a node, else 0.", _states
    ),
)
