"""Real daemons as the nodes of one cluster."""

from pathlib import Path

import psutil
import pytest

from tests.api.asgi import slug
from tests.api.daemon import one
from tests.cli.commands import echo
from tests.cluster.nodes import cluster_of, place_on
from tests.cluster.recording import Recording
from tests.postgres import running
from tests.process_families import all_gone

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.mark.spec("F8.3")
def test_every_node_answers_for_every_server(tmp_path: Path, dsn: str) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        for number in range(4):
            first.register(f"echo{number}", echo())
        for node in (first, second):
            for number in range(4):
                node.until_connected(f"echo{number}")
                assert node.text_of(f"echo{number}", "hi") == "hi"
        assert {first.record(f"echo{number}")["node"] for number in range(4)} == {"n1", "n2"}


@pytest.mark.spec("F8.1")
def test_the_servers_of_a_killed_node_answer_elsewhere(tmp_path: Path, dsn: str) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", "n3") as cluster:
        first, second, third = cluster.nodes.values()
        names = [f"echo{number}" for number in range(6)]
        for name in names:
            first.register(name, echo())
        for name in names:
            second.until_connected(name)
        fences = {name: second.record(name)["fence"] for name in names}
        lost = [name for name in names if first.record(name)["node"] == "n3"]
        assert lost
        gone = third.kill()
        # A call that is made meanwhile waits, and is answered.
        assert [second.text_of(name, "still there") for name in names] == ["still there"] * 6
        for name in names:
            record = first.record(name)
            assert record["node"] in {"n1", "n2"}
            assert (record["fence"] > fences[name]) == (name in lost)
        assert all_gone(gone)
        states = {each["name"]: each["state"] for each in first.get("/api/cluster")["nodes"]}
        assert states == {"n1": "up", "n2": "up", "n3": "left"}


@pytest.mark.spec("F8.4")
def test_without_the_database_calls_go_on_and_changes_are_refused(tmp_path: Path) -> None:
    with running(durable=True) as postgres:
        dsn = postgres.dsn(postgres.new_database())
        with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
            first, second = cluster.nodes.values()
            for number in range(4):
                first.register(f"echo{number}", echo())
            for number in range(4):
                second.until_connected(f"echo{number}")
            pids = {number: first.record(f"echo{number}")["pid"] for number in range(4)}
            postgres.kill()
            first.until(lambda: first.get("/api/cluster")["database"] == "away")
            for node in (first, second):
                for number in range(4):
                    assert node.text_of(f"echo{number}", "hi") == "hi"
            refused = first.client.patch(one("echo0"), json={"timeout": 1000})
            assert slug(refused) == (503, "store-away")
            assert first.get("/readyz")["status"] == "degraded"
            postgres.start()
            first.until(lambda: first.get("/api/cluster")["database"] == "ok")
            changed = first.client.patch(one("echo0"), json={"timeout": 1000})
            assert changed.status_code == 200, changed.text
            second.until(lambda: second.record("echo0")["timeout"] == 1000)
            assert {number: first.record(f"echo{number}")["pid"] for number in range(4)} == pids


@pytest.mark.spec("F8.4")
def test_without_the_database_servers_are_started_and_restarted_where_they_are(
    tmp_path: Path,
) -> None:
    recording, names = Recording(tmp_path / "record"), ["crashing", "sleeping"]
    with running(durable=True) as postgres:
        dsn = postgres.dsn(postgres.new_database())
        with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
            first, second = cluster.nodes.values()
            for name in names:
                first.register(name, recording.server(name))
            place_on(cluster, "n2", *names)
            asleep = {"wanted": "on_demand"}
            assert first.client.patch(one("sleeping"), json=asleep).status_code == 200
            # The copy of a server that was moved ends after the new one was started.
            first.until(lambda: len(recording.all_copies()) == len(names))
            (crashing,) = recording.copies("crashing")
            (sleeping,) = recording.copies("sleeping")
            second.until(lambda: second.record("sleeping")["wanted"] == "on_demand")
            postgres.kill()
            first.until(lambda: first.get("/api/cluster")["database"] == "away")
            for pid in (crashing, sleeping):
                psutil.Process(pid).kill()
            for name in names:
                first.until(lambda name=name: first.call(name, "record").status_code == 200)
            for name in names:
                record = second.record(name)
                (copy,) = recording.copies(name)
                started = recording.starts(name)[-1]
                assert (record["node"], record["fence"]) == ("n2", started.fence)
                assert copy == started.pid not in {crashing, sleeping}
