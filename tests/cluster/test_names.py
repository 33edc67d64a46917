"""One name, several daemons: only one of them is the node, and no server has two owners."""

import shutil
import signal
from pathlib import Path

import pytest

from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import ClusterOfNodes, cluster_of, place_on
from tests.cluster.recording import Recording, calling, overtaken
from tests.process_families import all_gone

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

TTL = 2.0
NAMES = ["single", "other"]


def register(recording: Recording, cluster: ClusterOfNodes, on: str) -> None:
    for name in NAMES:
        cluster.nodes[on].register(name, recording.server(name), singleton=name == "single")
    place_on(cluster, on, *NAMES)


@pytest.mark.spec("F8.2")
@pytest.mark.parametrize("others", [(), ("n2",)])
def test_a_daemon_that_was_replaced_ends_when_it_wakes(
    tmp_path: Path, dsn: str, others: tuple[str, ...]
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", *others, ttl=TTL) as cluster:
        before = cluster.nodes["n1"]
        register(recording, cluster, "n1")
        old = recording.all_copies()
        family = before.tree()
        before.signal(signal.SIGSTOP)
        after = cluster.start("n1", "--replace", home="elsewhere", ttl=TTL)
        with calling([after], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            before.signal(signal.SIGCONT)
            before.until(lambda: len(recording.copies("other")) == 1, 15)
            assert before.up.process.wait(TIMEOUT) == 1
            assert 'another daemon has the node name \\"n1\\"' in before.up.rest()
            assert all_gone(family)
            callers.wait_answered(NAMES, ["n1"])
        assert not recording.all_copies() & old
        assert [len(recording.copies(name)) for name in NAMES] == [1, 1]
        assert not overtaken(recording.calls())
        assert not recording.twice()


@pytest.mark.spec("F8.2")
def test_a_copy_of_a_home_waits_until_the_daemon_of_the_first_is_gone(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        assert cluster.nodes["n1"].up.end() == 0
        shutil.copytree(cluster.folder / "n1", cluster.folder / "copy")
        first = cluster.start("n1", ttl=TTL)
        register(recording, cluster, "n1")
        with calling([first], NAMES) as callers:
            callers.wait_answered(NAMES, ["n1"])
            copy = cluster.up("n1", home="copy", ttl=TTL)
            cluster.wait_beats("n1", 5)
            assert [len(recording.copies(name)) for name in NAMES] == [1, 1]
        assert all(each.answered for each in callers.of())
        gone = first.kill()
        copy.wait_ready()
        assert all_gone(gone)
        assert copy.end() == 0
        copy.close()
