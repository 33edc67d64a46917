"""Nodes that are drained, stopped and restarted while they and others are called."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.cluster_chaos import (
    ChaosOptions,
    chaos,
    freeze_machine,
    isolate,
    kill,
    restart_database,
)
from bench.cluster_drain import DrainOptions, drain
from bench.cluster_scene import Scene
from bench.cluster_sessions import SessionOptions, sessions
from bench.measuring import Figures
from mcpyard.domain import limits
from tests.cli.commands import TIMEOUT, answer
from tests.cluster.nodes import TOKEN, cluster_of, place_on
from tests.cluster.recording import Recording
from tests.postgres import KEY, running

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

NAMES = ["single", "other"]


@pytest.mark.spec("F8.5")
def test_a_drain_and_a_rolling_restart_lose_no_call(tmp_path: Path) -> None:
    figures = Figures()
    with running(durable=True) as postgres:
        scene = Scene(tmp_path, postgres)
        drain(scene, figures, DrainOptions(servers=30, callers=20, pause=0.1))
        assert not scene.orphans()
    assert not figures.missed


@pytest.mark.spec("F8.5")
@pytest.mark.timeout(240)
def test_whatever_fails_calls_end_and_changes_are_kept(tmp_path: Path) -> None:
    figures = Figures()
    with running(durable=True) as postgres:
        scene = Scene(tmp_path, postgres)
        faults = kill, isolate, restart_database, freeze_machine
        chaos(scene, figures, ChaosOptions(minutes=0.1, faults=faults, servers=10, callers=60))
        assert not scene.orphans()
    assert not figures.missed


@pytest.mark.spec("F8.3")
@pytest.mark.timeout(240)
def test_sessions_go_on_while_the_nodes_that_relay_them_are_killed_and_replaced(
    tmp_path: Path,
) -> None:
    figures = Figures()
    with running(durable=True) as postgres:
        scene = Scene(tmp_path, postgres)
        sessions(scene, figures, SessionOptions(kills=2, interactive=1, plain=1, away=1.0))
        assert not scene.orphans()
    assert not figures.missed


@pytest.mark.spec("F8.5")
def test_a_client_of_a_node_that_is_stopped_gets_its_calls_finished(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        for name in NAMES:
            first.register(name, recording.server(name), singleton=name == "single")
        place_on(cluster, "n1", "single")
        place_on(cluster, "n2", "other")
        with ThreadPoolExecutor() as pool:
            slow = [
                pool.submit(node.call, name, "record", text=f"{name} {node.name}", seconds=5.5)
                for node in (first, second)
                for name in NAMES
            ]
            first.until(lambda: len(recording.calls()) == len(slow))
            first.up.process.send_signal(signal.SIGTERM)
            second.until(lambda: not first.client.get("/readyz").json()["ok"])
            ready = first.client.get("/readyz")
            assert (ready.status_code, ready.json()["status"]) == (503, "stopping")
            later = [pool.submit(node.call, "single", "record") for node in (first, second)]
            assert [each.result().status_code for each in [*slow, *later]] == [200] * 6
            assert first.up.process.wait(TIMEOUT) == 0
        assert not recording.twice()
        states = {each["name"]: each["state"] for each in second.get("/api/cluster")["nodes"]}
        assert states == {"n1": "left", "n2": "up"}
        fences = [each.fence for each in recording.starts("single")]
        assert fences == sorted(set(fences))


@pytest.mark.spec("F8.5")
def test_a_second_signal_ends_a_node_that_waits_for_calls(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("other", recording.server("other"))
        place_on(cluster, "n1", "other")
        home = cluster.folder / "n2"
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(second.call, "other", "record", seconds=25.0)
            first.until(lambda: bool(recording.calls()))
            drained = answer(
                *("cluster", "drain", "n1"),
                home=home,
                MCPYARD_CLUSTER=dsn,
                MCPYARD_KEY=KEY,
                MCPYARD_TOKEN=TOKEN,
            )
            assert {each["name"]: each["state"] for each in drained["nodes"]}["n1"] == "draining"
            second.until_connected("other", "n2")
            assert not slow.done()
            first.up.process.send_signal(signal.SIGTERM)
            second.until(lambda: not first.client.get("/readyz").json()["ok"])
            first.up.process.send_signal(signal.SIGTERM)
            assert first.up.process.wait(TIMEOUT) == 0
            assert slow.result().status_code != 200


@pytest.mark.spec("F8.5")
def test_a_service_manager_is_told_how_long_a_node_may_take_to_end(
    tmp_path: Path, dsn: str
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        # A path in the test's folder may be too long for a socket.
        manager.bind(f"\0mcpyard-{os.getpid()}-{tmp_path.name}")
        manager.settimeout(TIMEOUT)
        address = manager.getsockname().replace(b"\0", b"@").decode()
        with cluster_of(tmp_path / "cluster", dsn, "n1", NOTIFY_SOCKET=address) as cluster:
            cluster.nodes["n1"].up.process.send_signal(signal.SIGTERM)
            while not (message := manager.recv(1000)).startswith(b"STOPPING=1"):
                """The others say that it runs."""
        extended = int(message.partition(b"EXTEND_TIMEOUT_USEC=")[2]) / 1_000_000
    assert extended >= limits.HAND_OVER + limits.LAST_REQUESTS + limits.SHUTDOWN
