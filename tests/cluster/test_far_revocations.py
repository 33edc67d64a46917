"""Keys that are taken away while a node reaches some of what it should reach, or none of it."""

import signal
from pathlib import Path

import pytest

from tests.cluster.network import network
from tests.cluster.nodes import RunningNode, cluster_of
from tests.cluster.test_cut_nodes import TTL, reachable, state_of
from tests.cluster.test_relayed_sessions import bearer, opens

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.mark.spec("F8.3")
def test_a_node_that_was_taken_over_is_told_of_revocations_as_long_as_it_answers_callers(
    tmp_path: Path, dsn: str
) -> None:
    with network() as net, cluster_of(tmp_path / "cluster", dsn, "n1", "n3", ttl=TTL) as cluster:
        database, far = net.to_database(dsn)
        way, arguments = net.to_node("n2")
        first, third = cluster.nodes.values()
        second = cluster.start("n2", *arguments, dsn=far, ttl=TTL)
        first.post("/api/profiles", {"name": "some", "servers": ["*"]}, 201)
        keys = [bearer(first, name, profile="some") for name in ("one", "two", "three")]
        second.until(lambda: all(opens(second, key) for key in keys))
        for other in (first, third):
            other.until(lambda other=other: reachable(other, "n2"))
        database.cut()
        first.until(lambda: state_of(first, "n2") == "left")
        _revokes_everywhere(first, "one", second, keys[0])
        # From here on only the third node has a way to it.
        way.cut("n1")
        first.until(lambda: not reachable(first, "n2"))
        _revokes_everywhere(first, "two", second, keys[1])
        processes = second.signal_all(signal.SIGSTOP)
        try:
            assert "n2" in revoked(first, "three")
        finally:
            for each in processes:
                each.send_signal(signal.SIGCONT)
        database.heal()
        second.until(lambda: not opens(second, keys[2]))


def _revokes_everywhere(node: RunningNode, name: str, other: RunningNode, key: str) -> None:
    """A token opens a node no more that has no database, or the node is late and named."""
    late = revoked(node, name)
    assert late or not opens(other, key)
    other.until(lambda: not opens(other, key))


def revoked(node: RunningNode, name: str) -> list[str]:
    """Revoke a token; the nodes that did not confirm."""
    reply = node.client.delete(f"/api/tokens/{name}")
    assert reply.status_code in {202, 204}, reply.text
    return reply.json()["unconfirmed"] if reply.status_code == 202 else []
