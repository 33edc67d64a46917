"""A node that is frozen and woken, and one that was away: no old copy of a server takes a call.

What began when is what the servers wrote themselves, with the fence that they were started with.
"""

import signal
import threading
from pathlib import Path

import pytest

from tests.cluster.nodes import ClusterOfNodes, RunningNode, cluster_of, place_on
from tests.cluster.recording import Recording, boot_time, calling, overtaken
from tests.process_families import all_gone

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SINGLE, OTHER = ["single0", "single1"], ["other0", "other1"]
NAMES = SINGLE + OTHER

asleep = threading.Event()


def register(recording: Recording, cluster: ClusterOfNodes, on: str) -> None:
    """Two singletons and two other servers, all on one node."""
    for name in NAMES:
        cluster.nodes[on].register(name, recording.server(name), singleton=name in SINGLE)
    place_on(cluster, on, *NAMES)


@pytest.mark.spec("F8.1")
def test_no_call_begins_on_a_node_that_was_frozen(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=2.0) as cluster:
        first, second = cluster.nodes.values()
        register(recording, cluster, "n2")
        old = {each.pid for each in recording.starts()}
        with calling([first, second], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1", "n2"])
            second.signal_all(signal.SIGSTOP)
            frozen = boot_time()
            callers.wait_answered(NAMES, ["n1"])
            woken = boot_time()
            second.signal_all(signal.SIGCONT)
            callers.wait_answered(NAMES, ["n1", "n2"])
            first.until(lambda: all(len(recording.copies(name)) == 1 for name in NAMES))
        # What was sent before may be in the pipe of its server, which reads it when it wakes; the
        # bench counts these.
        sent_before = {each.text for each in callers.of() if each.sent < frozen}
        records = [each for each in recording.calls() if each.text not in sent_before]
        assert not [each for each in records if each.pid in old and each.at > woken]
        assert not [each for each in overtaken(recording.calls(*SINGLE)) if each in records]
        assert not recording.twice()
        for name in NAMES:
            assert first.record(name)["node"] == second.record(name)["node"] == "n1"


@pytest.mark.spec("F8.1")
def test_a_node_that_is_stopped_gives_its_servers_away_at_once(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=60.0) as cluster:
        first, second = cluster.nodes.values()
        register(recording, cluster, "n2")
        family = second.tree()
        with calling([first], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            # Its lease would last for a minute.
            assert second.up.end() == 0
            callers.wait_answered(NAMES, ["n1"])
        assert all(each.answered for each in callers.of()), callers.of()[-20:]
        assert all_gone(family)
        assert not overtaken(recording.calls(*SINGLE))
        assert not recording.twice()
        states = {each["name"]: each["state"] for each in first.get("/api/cluster")["nodes"]}
        assert states == {"n1": "up", "n2": "left"}
        cluster.start("n2", ttl=60.0)
        place_on(cluster, "n2", *NAMES)
        assert not overtaken(recording.calls(*SINGLE))


@pytest.mark.spec("F8.2")
def test_singletons_end_with_the_lease_of_a_daemon_that_is_frozen(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=2.0) as cluster:
        first, second = cluster.nodes.values()
        register(recording, cluster, "n2")
        old = recording.all_copies()
        with calling([first], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            second.up.process.send_signal(signal.SIGSTOP)
            callers.wait_answered(NAMES, ["n1"])
            # The keeper ended them; the daemon could not.
            ended = {each.pid for each in recording.starts(*SINGLE)} & old - recording.all_copies()
            assert len(ended) == len(SINGLE)
            second.up.process.send_signal(signal.SIGCONT)
            first.until(lambda: len(recording.all_copies()) == len(NAMES))
        assert not overtaken(recording.calls(*SINGLE))


@pytest.mark.spec("F8.2")
def test_nodes_that_slept_together_keep_their_servers(tmp_path: Path, dsn: str) -> None:
    """As when the machine that runs them all is suspended."""
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=2.0) as cluster:
        first, second = cluster.nodes.values()
        register(recording, cluster, "n2")
        fences = {name: first.record(name)["fence"] for name in NAMES}
        for node in (first, second):
            node.signal_all(signal.SIGSTOP)
        asleep.wait(4.0)
        first.signal_all(signal.SIGCONT)
        asleep.wait(0.5)
        second.signal_all(signal.SIGCONT)
        for node in (first, second):
            for name in NAMES:
                node.until(lambda node=node, name=name: answers(node, name))
        assert {name: first.record(name)["fence"] for name in NAMES} == fences
        assert {first.record(name)["node"] for name in NAMES} == {"n2"}


def answers(node: RunningNode, server: str) -> bool:
    return node.call(server, "record").status_code == 200
