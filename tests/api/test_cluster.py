"""The routes of a cluster, over a yard that is a node of a faked one."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from mcpyard.api.security.isolation import IsolationGuard
from mcpyard.domain.cluster import Placement
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, PlacementReason, Why
from mcpyard.domain.cluster_insight import PinnedServer
from mcpyard.domain.planned_moves import Obstacle, PlannedMove
from mcpyard.domain.stored import CallRecord
from mcpyard.testing.cluster import FakeCluster
from mcpyard.web.degraded import DegradedRoutes
from tests.api.asgi import client_of, slug
from tests.api.fake_yard import Faked, faked

NODE = "/api/cluster/nodes"
AT = datetime(2026, 11, 18, 9, tzinfo=UTC)


async def test_the_cluster_lists_its_nodes(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    async with faked(tmp_path, cluster=cluster) as it:
        view = (await it.client.get("/api/cluster")).json()
        assert (view["node"], view["database"], view["isolated"]) == ("n1", "ok", False)
        assert view["nodes"][1] == {
            "name": "n2",
            "state": "up",
            "beatAgeMs": 250,
            "servers": 0,
            "capacity": 200,
            "labels": {},
            "version": "",
            "reachable": True,
            "problem": None,
        }
        cluster.shown = replace(cluster.shown, database_away=True)
        assert (await it.client.get("/api/cluster")).json()["database"] == "away"


async def test_every_screen_shows_that_the_node_is_isolated(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    async with faked(tmp_path, cluster=cluster) as it:
        page = Starlette(routes=[Route("/banner", DegradedRoutes(it.yard).banner)])
        async with client_of(page) as browser:
            assert (await browser.get("/banner")).text.strip() == ""
            cluster.shown = replace(cluster.shown, isolated=True)
            assert "neither the database" in (await browser.get("/banner")).text


async def test_a_record_says_where_its_server_runs(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    (tmp_path / "project").mkdir()
    async with faked(tmp_path / "home", tmp_path / "project", cluster) as it:
        pinned = await it.register("pinned", scope="project")
        assert (pinned["node"], pinned["fence"], pinned["pinned"]) == ("n1", None, True)
        shared = await it.register("shared", scope="user")
        assert (shared["node"], shared["fence"], shared["pinned"]) == (None, None, False)
        server = UUID(shared["id"])
        cluster.placed[server] = Placement(server, "n2", 4)
        record = (await it.client.get("/api/mcp/servers/shared")).json()
        assert (record["node"], record["fence"]) == ("n2", 4)
        assert record["nodeReason"] == {
            "why": None,
            "source": None,
            "by": None,
            "since": None,
            "kept": False,
            "labels": {},
        }
        reason = PlacementReason("n2", Why.TAKEN_OVER, "n3", "", AT, kept=True)
        cluster.insight.reasons[server] = reason
        record = (await it.client.get("/api/mcp/servers/shared")).json()
        assert record["nodeReason"] == record["nodeReason"] | {
            "why": "taken-over",
            "source": "n3",
            "since": "2026-11-18T09:00:00.000+00:00",
            "kept": True,
        }
        moved = await it.client.post("/api/mcp/servers/shared/move", json={"node": "n1"})
        assert moved.json() == {
            "server": shared["id"],
            "node": "n2",
            "fence": 4,
            "nextNode": "n1",
        }
        refused = await it.client.post("/api/mcp/servers/pinned/move", json={"node": "n2"})
        assert slug(refused) == (404, "node-unknown")
        assert refused.json()["hint"] == "Only servers of the user scope can be moved."
        without = await it.client.post("/api/mcp/servers/shared/move", json={})
        assert slug(without)[0] == 422


async def test_the_cluster_tells_where_servers_are_and_what_happened(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    (tmp_path / "project").mkdir()
    async with faked(tmp_path / "home", tmp_path / "project", cluster) as it:
        await it.register("pinned", scope="project")
        shared = await it.register("shared", scope="user", singleton=True)
        await it.register("waiting", scope="user")
        server = UUID(shared["id"])
        cluster.placed[server] = Placement(server, "n2", 4, "n1")
        cluster.insight.pinned.append(PinnedServer("n2", UUID(int=5), "pinned"))
        event = ClusterEvent(EventKind.PLACED, "n2", server, "n1", Why.MOVED, "admin", 17, AT)
        cluster.insight.happened.append(event)
        plain = (await it.client.get("/api/cluster")).json()
        assert not {"placements", "events"} & plain.keys()
        view = (await it.client.get("/api/cluster?placements=1&events=1")).json()
        rows = [(each["name"], each["node"], each["nextNode"]) for each in view["placements"]]
        of_files = [("pinned", "n1", None), ("pinned", "n2", None)]
        assert rows == [*of_files, ("shared", "n2", "n1"), ("waiting", None, None)]
        placements = view["placements"]
        assert [each["pinned"] for each in placements] == [True, True, False, False]
        assert [each["singleton"] for each in placements] == [False, False, True, False]
        assert [each["nodeReason"] is None for each in placements] == [True, True, False, True]
        [event_view] = view["events"]
        assert event_view == {
            "id": 17,
            "at": "2026-11-18T09:00:00.000+00:00",
            "kind": "placed",
            "node": "n2",
            "server": shared["id"],
            "name": "shared",
            "source": "n1",
            "why": "moved",
            "by": "admin",
        }


async def test_what_happens_in_the_cluster_is_an_event(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    async with faked(tmp_path, cluster=cluster) as it:
        reader = it.yard.events()
        cluster.insight.tell(ClusterEvent(EventKind.LOST, "n2", by="n1", id=3))
        gone = UUID(int=7)
        cluster.insight.tell(ClusterEvent(EventKind.PLACED, "n1", gone, "n2", Why.TAKEN_OVER))
        lost, placed = await reader.batch()
        assert (lost.kind, lost.data["kind"], lost.data["node"]) == ("cluster", "lost", "n2")
        assert (placed.data["name"], placed.data["why"]) == (str(gone), "taken-over")


async def test_a_dry_run_tells_what_would_move_and_changes_nothing(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    async with faked(tmp_path, cluster=cluster) as it:
        shared = await it.register("shared", scope="user")
        server = UUID(shared["id"])
        cluster.placed[server] = Placement(server, "n2", 4)
        cluster.insight.drained = [
            PlannedMove(server, "n2", "n1", singleton=True),
            PlannedMove(UUID(int=3), "n2", "", obstacle=Obstacle.LABELS),
        ]
        plan = (await it.client.post(f"{NODE}/n2/drain?dryRun=1")).json()
        assert plan["node"] == "n2"
        assert plan["moves"][1] == {
            "server": shared["id"],
            "name": "shared",
            "source": "n2",
            "target": "n1",
            "singleton": True,
            "obstacle": None,
        }
        assert (plan["moves"][0]["target"], plan["moves"][0]["obstacle"]) == (None, "labels")
        body = {"node": "n1", "dryRun": True}
        plan = (await it.client.post("/api/mcp/servers/shared/move", json=body)).json()
        assert [(each["name"], each["target"]) for each in plan["moves"]] == [("shared", "n1")]
        assert cluster.placed[server] == Placement(server, "n2", 4)
        assert [each["state"] for each in (await nodes(it))] == ["up", "up"]


async def nodes(it: Faked) -> list[dict[str, object]]:
    return (await it.client.get("/api/cluster")).json()["nodes"]


async def test_the_calls_of_all_nodes_are_one_list(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2", "n3")
    journals = cluster.insight.journals
    journals["n1"] = [call(3, 30), call(2, 10), call(1, 5)]
    journals["n2"] = [call(2, 20), call(1, 15)]
    journals["n3"] = None
    async with faked(tmp_path, cluster=cluster) as it:
        first = (await it.client.get("/api/mcp/calls?limit=3")).json()
        rows = [(each["node"], each["id"]) for each in first["calls"]]
        assert rows == [("n1", 3), ("n2", 2), ("n2", 1)]
        assert first["missing"] == ["n3"]
        path = f"/api/mcp/calls?limit=3&before={first['next']}"
        second = (await it.client.get(path)).json()
        assert [(each["node"], each["id"]) for each in second["calls"]] == [("n1", 2), ("n1", 1)]
        assert second["next"] is None
        for wrong in ("n1", "0", "n1.0", "x"):
            refused = await it.client.get(f"/api/mcp/calls?before={wrong}")
            assert slug(refused)[0] == 422
            assert refused.json()["problems"][0]["field"] == "before"


def call(number: int, second: int) -> CallRecord:
    at = AT + timedelta(seconds=second)
    return CallRecord(at, "rest", UUID(int=1), "files", "read", 1.0, "ok", 1, 2, number)


async def test_nodes_are_drained_forgotten_and_evened_out(tmp_path: Path) -> None:
    cluster = FakeCluster("n1", "n2")
    async with faked(tmp_path, cluster=cluster) as it:
        drained = (await it.client.post(f"{NODE}/n2/drain")).json()
        assert [each["state"] for each in drained["nodes"]] == ["up", "draining"]
        assert cluster.asked_by == "admin"
        assert (await it.client.post("/api/cluster/rebalance")).json() == []
        assert (await it.client.delete(f"{NODE}/n2")).status_code == 204
        assert slug(await it.client.delete(f"{NODE}/n2")) == (404, "node-unknown")


@pytest.mark.spec("F8.6")
async def test_without_a_cluster_records_do_not_mention_one(tmp_path: Path) -> None:
    async with faked(tmp_path) as it:
        record = await it.register("alone")
        assert not {"node", "fence", "pinned"} & record.keys()
        refused = await it.client.get("/api/cluster")
        assert slug(refused) == (404, "node-unknown")
        assert "--node" in refused.json()["hint"]


async def test_an_isolated_node_answers_its_own_machine_only() -> None:
    isolated = True

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("served")(scope, receive, send)

    def elsewhere(scope: Scope, receive: Receive, send: Send) -> object:
        return guard({**scope, "client": ("10.0.0.9", 5000)}, receive, send)

    guard = IsolationGuard(app, lambda: isolated)
    async with client_of(guard) as local, client_of(elsewhere) as remote:  # pyright: ignore[reportArgumentType]
        assert (await local.get("/api/cluster")).text == "served"
        assert slug(await remote.get("/api/cluster")) == (503, "isolated")
        assert (await remote.get("/livez")).text == "served"
        isolated = False
        assert (await remote.get("/api/cluster")).text == "served"
