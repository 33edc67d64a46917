"""Nodes that are cut from the database, from each other, or from both."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.api.asgi import slug
from tests.api.daemon import one
from tests.cli.commands import answer, mcpyard
from tests.cluster.network import Network, network
from tests.cluster.nodes import TOKEN, ClusterOfNodes, RunningNode, cluster_of, place_on
from tests.cluster.recording import Recording, calling, overtaken
from tests.postgres import KEY

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

TTL = 2.0


def state_of(node: RunningNode, name: str) -> str:
    states = {each["name"]: each["state"] for each in node.get("/api/cluster")["nodes"]}
    return states.get(name, "")


def reachable(node: RunningNode, name: str) -> bool:
    nodes = {each["name"]: each["reachable"] for each in node.get("/api/cluster")["nodes"]}
    return bool(nodes.get(name))


def join(cluster: ClusterOfNodes, *arguments: str, dsn: str = "") -> tuple[RunningNode, ...]:
    """A second node beside the first, once both know each other."""
    second = cluster.start("n2", *arguments, dsn=dsn, ttl=TTL)
    first = cluster.nodes["n1"]
    first.until(lambda: reachable(first, "n2"))
    second.until(lambda: reachable(second, "n1"))
    return first, second


@pytest.mark.spec("F8.2")
def test_a_node_cut_from_the_database_loses_its_servers_and_stays_a_gateway(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with network() as net, cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        path, far = net.to_database(dsn)
        first, second = join(cluster, dsn=far)
        names = ["single", "other"]
        for name in names:
            first.register(name, recording.server(name), singleton=name == "single")
        place_on(cluster, "n2", *names)
        with calling([first, second], names) as callers:
            callers.wait_answered(names, ["n1", "n2"])
            path.cut()
            first.until(lambda: state_of(first, "n2") == "left")
            callers.wait_answered(names, ["n1", "n2"])
            assert slug(second.client.patch(one("other"), json={"timeout": 900})) == (
                503,
                "store-away",
            )
            assert second.get("/readyz")["status"] == "degraded"
            # The push over its link has it end its old copies.
            second.until(lambda: all(len(recording.copies(name)) == 1 for name in names))
            for name in names:
                assert first.record(name)["node"] == second.record(name)["node"] == "n1"
            path.heal()
            first.until(lambda: state_of(first, "n2") == "up")
            callers.wait_answered(names, ["n1", "n2"])
        second.until(lambda: second.get("/api/cluster")["database"] == "ok")
        assert second.client.patch(one("other"), json={"timeout": 900}).status_code == 200
        assert not overtaken(recording.calls("single"))
        assert not recording.twice()


@pytest.mark.spec("F8.3")
def test_a_cut_link_refuses_calls_to_the_other_node_only(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with network() as net, cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        path, arguments = net.to_node("n2")
        first, second = join(cluster, *arguments)
        for name in ("near", "far"):
            first.register(name, recording.server(name))
        place_on(cluster, "n1", "near")
        place_on(cluster, "n2", "far")
        starts = len(recording.starts())
        path.cut()
        first.until(lambda: not reachable(first, "n2"))
        second.until(lambda: not reachable(second, "n1"))
        for node, far_server, near_server in ((first, "far", "near"), (second, "near", "far")):
            problem = refusal(node, far_server)
            assert (problem["code"], "cannot be reached" in problem["detail"]) == (502, True)
            assert node.call(near_server, "record").status_code == 200
            changed = node.client.patch(one(near_server), json={"timeout": 900})
            assert changed.status_code == 200, changed.text
        assert first.record("far")["node"] == "n2"
        assert_explained(cluster, first)
        path.heal()
        for node in (first, second):
            for name in ("near", "far"):
                node.until(lambda node=node, name=name: answers(node, name))
        assert len(recording.starts()) == starts


def assert_explained(cluster: ClusterOfNodes, first: RunningNode) -> None:
    """The commands say why the second node cannot be reached."""
    first.until(lambda: bool(first.get("/api/cluster")["nodes"][1]["problem"]))
    home = cluster.folder / "n1"
    status = mcpyard("cluster", "status", home=home, MCPYARD_TOKEN=TOKEN)
    assert "n2 cannot be reached: " in status.stdout
    findings = answer(
        "doctor",
        home=home,
        code=1,
        MCPYARD_CLUSTER=cluster.dsn,
        MCPYARD_KEY=KEY,
        MCPYARD_TOKEN=TOKEN,
    )["findings"]
    (nodes,) = (each for each in findings if each["check"] == "cluster nodes")
    assert (nodes["status"], "cannot be reached: n2: " in nodes["message"]) == ("fail", True)


def refusal(node: RunningNode, server: str) -> dict[str, Any]:
    """The problem that a call ends with."""
    reply = node.call(server, "record")
    assert reply.status_code != 200
    return {**reply.json(), "code": reply.status_code}


def answers(node: RunningNode, server: str) -> bool:
    return node.call(server, "record").status_code == 200


@pytest.mark.spec("F8.4")
def test_a_node_cut_from_all_serves_its_own_machine_only(tmp_path: Path, dsn: str) -> None:
    recording = Recording(tmp_path / "record")
    with network() as net, cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        paths, far, arguments = cut_off(net, dsn)
        first, second = join(cluster, *arguments, dsn=far)
        names = ["single", "other"]
        for name in names:
            first.register(name, recording.server(name), singleton=name == "single")
        place_on(cluster, "n2", *names)
        for path in paths:
            path.cut()
        second.until(lambda: second.client.get("/readyz").status_code == 503)
        assert second.get("/api/cluster")["isolated"]
        with calling([first], names) as callers:
            callers.wait_answered(names, ["n1"])
            # Whoever is on the machine itself is served by the copy that is there.
            other = second.call("other", "record", text="isolated")
            assert other.status_code == 200, other.text
            assert other.json()["_meta"] == {"mcpyard/isolated": True}
            single = second.call("single", "record")
            assert single.status_code != 200
            for path in paths:
                path.heal()
            second.until(lambda: second.client.get("/readyz").status_code == 200)
            first.until(lambda: state_of(first, "n2") == "up")
            for name in names:
                second.until(lambda name=name: second.record(name)["node"] == "n1")
            second.until(lambda: all(len(recording.copies(name)) == 1 for name in names))
        assert not overtaken(recording.calls("single"))


def cut_off(net: Network, dsn: str):  # noqa: ANN201  what `Network` gives
    database, far = net.to_database(dsn)
    link, arguments = net.to_node("n2")
    return [database, link], far, arguments


@pytest.mark.spec("F8.4")
def test_a_node_started_without_the_database_joins_once_it_answers(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with network() as net, cluster_of(tmp_path / "cluster", dsn, "n1", ttl=TTL) as cluster:
        first = cluster.nodes["n1"]
        path, far = net.to_database(dsn)
        path.cut()
        second = cluster.start("n2", dsn=far, ttl=TTL)
        assert second.get("/api/cluster")["database"] == "away"
        with pytest.raises(httpx2.HTTPStatusError):
            second.client.get(one("shared")).raise_for_status()
        first.register("shared", recording.server("shared"))
        path.heal()
        second.until(lambda: reachable(second, "n1"))
        second.until_connected("shared")
        place_on(cluster, "n2", "shared")
        assert answers(second, "shared")
        assert answers(first, "shared")
