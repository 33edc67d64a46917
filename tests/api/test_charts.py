"""The routes of what the charts are drawn from."""

import time
from pathlib import Path

import pytest

from tests.api.daemon import Daemon, daemon
from tests.cli.commands import echo

pytestmark = pytest.mark.real


@pytest.mark.spec("F6.4")
def test_the_numbers_of_every_chart(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as yard:
        yard.register("mine", echo(), start=True)
        yard.register("idle", echo())
        for tool in ("echo", "echo", "fail"):
            yard.post(f"/api/mcp/servers/mine/tools/{tool}/call", {"arguments": {"text": "x"}})
        yard.get("/api/mcp/calls")
        for name, step, count in (
            ("15m", 60, 15),
            ("1h", 60, 60),
            ("24h", 300, 288),
            ("7d", 1800, 336),
        ):
            chart = yard.get(f"/api/mcp/charts/calls?range={name}&server=mine")
            assert (chart["step"], chart["total"]) == (step, 3)
            assert chart["until"] - chart["since"] == step * count
            assert chart["since"] <= time.time() <= chart["until"]
            assert {each: sum(counts) for each, counts in chart["calls"].items()} == {
                "ok": 2,
                "tool_error": 1,
            }
            assert [len(each) for each in chart["latency"].values()] == [count] * 5
            assert chart["overall"]["p50"] <= chart["overall"]["p95"]
            points = chart["points"]
            assert (points is None) == (name in {"24h", "7d"})
            if points:
                assert (points["every"], sorted(points["outcome"])) == (
                    1,
                    ["ok", "ok", "tool_error"],
                )
        assert yard.get("/api/mcp/charts/calls?server=idle")["total"] == 0
        assert yard.get("/api/mcp/charts/calls")["total"] == 3
        assert set(yard.get("/api/mcp/charts/usage?server=mine")["rss"]) == {None}
        refuses(yard)
        costs(yard)


def refuses(yard: Daemon) -> None:
    for path, status, field in (
        ("calls?range=1y", 422, "range"),
        ("usage", 422, "server"),
        ("usage?server=nobody", 404, None),
    ):
        answer = yard.client.get(f"/api/mcp/charts/{path}")
        assert answer.status_code == status
        if field:
            assert answer.json()["problems"][0]["field"] == field


def costs(yard: Daemon) -> None:
    yard.post("/api/profiles", {"name": "all", "servers": ["*"]}, 201)
    hidden = {"mine": {"echo": {"enabled": False}, "fail": {"description": "x" * 4000}}}
    yard.post("/api/profiles", {"name": "few", "servers": ["mine"], "tools": hidden}, 201)
    tokens = yard.get("/api/mcp/charts/tokens")
    mine = next(each for each in tokens["servers"] if each["name"] == "mine")
    assert mine["tools"] == 7
    assert tokens["all"]["tokens"] == mine["tokens"] > 50
    profiles = {each["name"]: each for each in tokens["profiles"]}
    assert profiles["all"]["tokens"] == mine["tokens"]
    assert profiles["few"]["tools"] == 6
    assert profiles["few"]["tokens"] > 1000
