"""Servers that move between real nodes while they are called, on purpose or by force."""

import shutil
import subprocess
import time
from collections.abc import Generator
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import ClusterOfNodes, RunningNode, cluster_of, place_on
from tests.cluster.recording import Recording, boot_time, calling, overtaken
from tests.postgres import Postgres, running
from tests.process_families import all_gone

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

TTL = 2.0
NAMES = ["single", "other"]
COMPILER = shutil.which("cc")


@pytest.fixture
def own_postgres() -> Generator[Postgres]:
    """A database of this test only, not started yet."""
    instance = Postgres.make()
    try:
        yield instance
    finally:
        instance.remove()


def ahead(dsn: str) -> float:
    """By how many seconds the clock of a database is ahead of the one here."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        query = "SELECT extract(epoch FROM clock_timestamp())"
        (row,) = connection.execute(query).fetchall()
    return float(row[0]) - time.time()


def ahead_at(node: RunningNode, name: str) -> float:
    """By how many seconds the clock of a node is ahead, by the token of that name that it makes."""
    made = node.post("/api/tokens", {"name": name}, 201)["created"]
    return datetime.fromisoformat(made).timestamp() - time.time()


def register(recording: Recording, cluster: ClusterOfNodes, on: str) -> None:
    for name in NAMES:
        cluster.nodes[on].register(name, recording.server(name), singleton=name == "single")
    place_on(cluster, on, *NAMES)


@pytest.mark.spec("F8.2")
def test_planned_moves_lose_no_call(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        nodes = [*cluster.nodes.values()]
        register(recording, cluster, "n1")
        with calling(nodes, NAMES) as callers:
            for target in ("n2", "n1", "n2"):
                callers.wait_answered(NAMES, ["n1", "n2"])
                place_on(cluster, target, *NAMES)
            callers.wait_answered(NAMES, ["n1", "n2"])
        refused = [each for each in callers.of() if not each.answered]
        assert not refused
        assert not overtaken(recording.calls("single"))
        assert not recording.twice()
        fences = [each.fence for each in recording.starts("single")]
        assert fences == sorted(set(fences))


@pytest.mark.spec("F8.2")
def test_an_owner_that_returns_takes_nothing_back(tmp_path: Path, dsn: str) -> None:
    """Two times to live: a taker waits for the one of the node that it takes over."""
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", ttl=60.0) as cluster:
        first = cluster.nodes["n1"]
        second = cluster.start("n2", ttl=TTL)
        register(recording, cluster, "n2")
        with calling([first], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            gone = second.kill()
            # A call that is made meanwhile waits, and is answered.
            callers.wait_answered(NAMES, ["n1"])
            assert all_gone(gone)
            second = cluster.start("n2", ttl=TTL)
            for name in NAMES:
                second.until_connected(name, "n1")
                assert second.call(name, "record").status_code == 200
        in_flight = [each for each in callers.of() if not each.answered]
        assert all("disconnected" in each.problem for each in in_flight), in_flight
        assert not overtaken(recording.calls())
        assert not recording.twice()


@pytest.mark.spec("F8.2")
def test_a_node_that_is_back_before_its_lease_ends_keeps_its_servers(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=60.0) as cluster:
        first, second = cluster.nodes.values()
        register(recording, cluster, "n2")
        fences = {name: first.record(name)["fence"] for name in NAMES}
        gone = second.kill()
        second = cluster.start("n2", ttl=60.0)
        for node in (first, second):
            for name in NAMES:
                node.until_connected(name, "n2")
                assert node.call(name, "record").status_code == 200
        assert {name: first.record(name)["fence"] for name in NAMES} == fences
        assert all_gone(gone)


@pytest.mark.spec("F8.2")
def test_a_name_belongs_to_one_daemon(tmp_path: Path, dsn: str) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        refused = cluster.up("n1", home="elsewhere", ttl=TTL)
        assert refused.process.wait(TIMEOUT) == 1
        assert "another daemon has the node name" in refused.line()
        refused.close()
        other = cluster.up("n1", "--replace", home="elsewhere", ttl=TTL)
        cluster.wait_beats("n1", 5)
        assert other.process.poll() is None
        cluster.nodes["n1"].kill()
        other.wait_ready()
        assert other.end() == 0
        other.close()


@pytest.mark.spec("F8.4")
def test_singletons_end_with_the_lease_and_are_back_with_the_database(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "record")
    with running(durable=True) as postgres:
        dsn = postgres.dsn(postgres.new_database())
        with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", ttl=TTL) as cluster:
            first, second = cluster.nodes.values()
            register(recording, cluster, "n2")
            with calling([first, second], NAMES) as callers:
                callers.wait_answered(NAMES, ["n1", "n2"])
                postgres.kill()
                killed = boot_time()
                first.until(lambda: not recording.copies("single"))
                callers.wait_answered(["other"], ["n1", "n2"])
                postgres.start()
                callers.wait_answered(NAMES, ["n1", "n2"])
            assert all(each.answered for each in callers.of("other"))
            assert len({each.pid for each in recording.calls("other")}) == 1
            ended = [each for each in recording.calls("single") if each.at < killed + TTL]
            assert ended
            assert not overtaken(recording.calls("single"))
            assert not recording.twice()


@pytest.mark.spec("F8.2")
@pytest.mark.skipif(COMPILER is None, reason="no C compiler; on Debian: apt install gcc")
@pytest.mark.parametrize("place", ["node", "database"])
def test_a_wall_clock_that_jumps_changes_nothing(
    tmp_path: Path, own_postgres: Postgres, place: str
) -> None:
    recording, folder = Recording(tmp_path / "record"), own_postgres.folder
    shift, library = folder / "shift", folder / "wall_clock.so"
    shift.write_text("0")
    source = Path(__file__).with_name("wall_clock.c")
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    shifted = {"LD_PRELOAD": str(library), "WALL_CLOCK_SHIFT": str(shift)}
    of_node = shifted if place == "node" else dict.fromkeys(shifted, "")
    own_postgres.environment = shifted if place == "database" else {}
    own_postgres.start()
    dsn = own_postgres.dsn(own_postgres.new_database())
    with cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        first = cluster.nodes["n1"]
        preload, file = of_node["LD_PRELOAD"], of_node["WALL_CLOCK_SHIFT"]
        second = cluster.start("n2", ttl=TTL, LD_PRELOAD=preload, WALL_CLOCK_SHIFT=file)
        register(recording, cluster, "n2")
        fences = {name: first.record(name)["fence"] for name in NAMES}
        starts = recording.starts()
        with calling([first, second], NAMES) as callers:
            for hours in (5, -7, 48):
                shift.write_text(f"{timedelta(hours=hours).total_seconds():.0f}")
                if place == "database":
                    assert round(ahead(dsn) / 3600) == hours
                else:
                    assert round(ahead_at(second, f"made-{hours}") / 3600) == hours
                cluster.wait_beats("n2")
                cluster.wait_beats("n1")
                callers.wait_answered(NAMES, ["n1", "n2"])
        assert all(each.answered for each in callers.of())
        assert {name: first.record(name)["fence"] for name in NAMES} == fences
        assert recording.starts() == starts
