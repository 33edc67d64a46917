"""Nodes that end in the middle of something: joining, taking over, moving a server, leaving."""

import os
import random
import signal
import threading
from pathlib import Path

import pytest

from tests.api.daemon import one
from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import ClusterOfNodes, cluster_of, place_on
from tests.cluster.recording import Recording, calling, overtaken
from tests.postgres import running
from tests.process_families import all_gone

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

FULL = os.environ.get("MCPYARD_PROOF") == "full"
ROUNDS = 10 if FULL else 1
TTL = 2.0
NAMES = ["single", "other"]

dice = random.Random(None if FULL else 22)  # noqa: S311  moments, not secrets
moment = threading.Event()


def register(recording: Recording, cluster: ClusterOfNodes, on: str) -> None:
    for name in NAMES:
        cluster.nodes[on].register(name, recording.server(name), singleton=name == "single")
    place_on(cluster, on, *NAMES)


@pytest.mark.spec("F8.1")
def test_a_node_killed_while_it_joins_can_be_started_again(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        first = cluster.nodes["n1"]
        for _ in range(2 * ROUNDS):
            up = cluster.up("n2", ttl=TTL)
            moment.wait(dice.uniform(0.2, 1.5))
            family = [*up.family()]
            up.process.kill()
            up.process.wait(TIMEOUT)
            up.close()
            assert all_gone(family)
        first.register("other", recording.server("other"))
        second = cluster.start("n2", ttl=TTL)
        place_on(cluster, "n2", "other")
        assert second.call("other", "record").status_code == 200
        assert first.call("other", "record").status_code == 200


@pytest.mark.spec("F8.1")
def test_what_was_registered_at_a_node_that_is_killed_runs_elsewhere(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=TTL) as cluster:
        first = cluster.nodes["n1"]
        for number in range(ROUNDS):
            name = f"other{number}"
            second = cluster.nodes["n2"]
            second.register(name, recording.server(name))
            gone = second.kill()
            first.until_connected(name, "n1")
            assert first.call(name, "record").status_code == 200
            assert all_gone(gone)
            cluster.start("n2", ttl=TTL)


@pytest.mark.spec("F8.2")
def test_a_node_killed_in_the_middle_of_a_move_loses_no_server(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=TTL) as cluster:
        register(recording, cluster, "n1")
        for number in range(2 * ROUNDS):
            # Once it has all servers, once it is to get them.
            victim, other = "n2", cluster.nodes["n1"]
            place_on(cluster, *([victim] if number % 2 == 0 else ["n1"]), *NAMES)
            target = "n1" if number % 2 == 0 else victim
            with calling([other], NAMES) as callers:
                callers.wait_answered(NAMES, ["n1"])
                for name in NAMES:
                    other.post(one(name, "move"), {"node": target})
                moment.wait(dice.uniform(0.0, 0.3))
                gone = cluster.nodes[victim].kill()
                callers.wait_answered(NAMES, ["n1"])
            assert all_gone(gone)
            assert {other.record(name)["node"] for name in NAMES} == {"n1"}
            cluster.start(victim, ttl=TTL)
        assert not overtaken(recording.calls("single"))
        assert not recording.twice()


@pytest.mark.spec("F8.1")
def test_a_taker_that_is_killed_too_leaves_all_to_the_third(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", "n3", ttl=TTL) as cluster:
        first, second, third = cluster.nodes.values()
        register(recording, cluster, "n3")
        with calling([first], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            gone = third.kill()
            second.until(lambda: {second.record(it)["node"] for it in NAMES} != {"n3"})
            gone += second.kill()
            callers.wait_answered(NAMES, ["n1"])
        assert all_gone(gone)
        assert not overtaken(recording.calls("single"))
        assert not recording.twice()


@pytest.mark.spec("F8.4")
def test_nodes_that_start_and_end_without_the_database(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "record")
    with running(durable=True) as postgres:
        dsn = postgres.dsn(postgres.new_database())
        with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=TTL) as cluster:
            register(recording, cluster, "n2")
            postgres.kill()
            gone = cluster.nodes["n1"].kill()
            family = cluster.nodes["n2"].tree()
            assert cluster.nodes["n2"].up.end() == 0
            assert all_gone([*gone, *family])
            for name in ("n1", "n2"):
                cluster.start(name, ttl=TTL)
            postgres.start()
            for node in cluster.nodes.values():
                for name in NAMES:
                    node.until_connected(name)
                    assert node.call(name, "record").status_code == 200
            assert not overtaken(recording.calls("single"))


@pytest.mark.spec("F8.1")
def test_nodes_that_are_stopped_together_give_their_servers_back(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=60.0) as cluster:
        register(recording, cluster, "n2")
        nodes = [*cluster.nodes.values()]
        family = [process for node in nodes for process in node.tree()]
        for node in nodes:
            node.up.process.send_signal(signal.SIGTERM)
        assert [node.up.process.wait(TIMEOUT) for node in nodes] == [0, 0]
        assert all_gone(family)
        first = cluster.start("n1", ttl=60.0)
        for name in NAMES:
            first.until_connected(name, "n1")
            assert first.call(name, "record").status_code == 200
        assert not overtaken(recording.calls("single"))
