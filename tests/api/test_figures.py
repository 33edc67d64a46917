"""The journal of calls and the figures, by what the official parser reads."""

from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.api.asgi import slug
from tests.api.fake_yard import SERVERS, Faked, faked

pytestmark = pytest.mark.real

CALLS = "/api/mcp/calls"


async def called(it: Faked, name: str, times: int) -> None:
    for _ in range(times):
        await it.client.post(f"{SERVERS}/{name}/tools/echo/call", json={"arguments": {"text": "x"}})


async def test_calls_are_shown_newest_first_a_page_at_a_time(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        record = await it.register("fs", start=True)
        await called(it, "fs", 5)
        first = (await it.client.get(f"{CALLS}?limit=3")).json()
        rest = (await it.client.get(f"{CALLS}?limit=3&before={first['next']}")).json()
        assert [each["id"] for each in first["calls"] + rest["calls"]] == [5, 4, 3, 2, 1]
        assert rest["next"] is None
        line = first["calls"][0]
        assert (line["server"], line["serverId"], line["tool"]) == ("fs", record["id"], "echo")
        assert (line["outcome"], line["who"]) == ("ok", "admin")
        assert line["bytesIn"] == len('{"text":"x"}')
        assert line["bytesOut"] > line["bytesIn"]


async def test_calls_can_be_asked_for_by_server_tool_outcome_and_caller(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        first = await it.register("one", start=True)
        await it.register("two", start=True)
        await called(it, "one", 2)
        await called(it, "two", 3)

        async def count(query: str) -> int:
            return len((await it.client.get(f"{CALLS}?{query}")).json()["calls"])

        assert [await count(f"server={ref}") for ref in ("one", "two", first["id"])] == [2, 3, 2]
        assert [await count("tool=echo"), await count("tool=none")] == [5, 0]
        assert [await count("outcome=ok"), await count("outcome=timed-out")] == [5, 0]
        assert [await count("who=admin"), await count("who=nobody")] == [5, 0]
        await it.client.delete(f"{SERVERS}/one")
        assert await count(f"server={first['id']}") == 2
        gone = await it.client.get(f"{CALLS}?server=one")
        assert slug(gone) == (404, "server-unknown")


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=x",
        "limit=-1",
        "limit=%D9%A3",
        "before=0",
        "before=1e5",
        "before=9223372036854775808",
    ],
)
async def test_a_page_that_makes_no_sense_is_refused(tmp_path: Path, query: str) -> None:
    async with faked(tmp_path / "home") as it:
        assert slug(await it.client.get(f"{CALLS}?{query}")) == (422, "invalid-arguments")


async def test_the_figures_are_what_happened(tmp_path: Path) -> None:
    name = 'a "b" \\n ü'
    async with faked(tmp_path / "home") as it:
        await it.register(name, start=True)
        await it.register("idle")
        await it.client.post(f"{SERVERS}/{name.replace(' ', '%20')}/restart")
        ref = it.yard.server(name).id
        await called(it, str(ref), 4)
        it.servers.answers = {}
        await called(it, str(ref), 1)
        page = await it.client.get("/metrics")
        assert page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        families = {each.name: each for each in text_string_to_metric_families(page.text)}

        def value(family: str, sample: str, **labels: str) -> float:
            expected = {"server": name, **labels}
            (number,) = [
                each.value
                for each in families[family].samples
                if each.name == sample and each.labels == expected
            ]
            return number

        assert value("mcpyard_server_status", "mcpyard_server_status", status="connected") == 1
        assert value("mcpyard_server_status", "mcpyard_server_status", status="error") == 0
        assert value("mcpyard_server_restarts", "mcpyard_server_restarts_total") == 1
        late = "mcpyard_server_late_events"
        assert value(late, f"{late}_total") == 0
        assert value("mcpyard_server_memory_bytes", "mcpyard_server_memory_bytes") == 1024
        assert value("mcpyard_server_processes", "mcpyard_server_processes") == 1
        used = "mcpyard_server_cpu_seconds"
        assert value(used, f"{used}_total") == 0.5
        assert [each.labels["server"] for each in families[used].samples] == [name]
        assert value("mcpyard_calls", "mcpyard_calls_total") == 5
        assert value("mcpyard_call_errors", "mcpyard_call_errors_total") == 1
        latency = "mcpyard_call_duration_seconds"
        assert value(latency, f"{latency}_count") == 5
        assert value(latency, f"{latency}_bucket", le="+Inf") == 5
        assert value(latency, f"{latency}_bucket", le="30") == 5
        assert 0 < value(latency, f"{latency}_sum") < 5
        sizes = "mcpyard_call_arguments_bytes"
        assert value(sizes, f"{sizes}_total") == 5 * len('{"text":"x"}')
        assert {each.labels["server"] for each in families["mcpyard_calls"].samples} == {
            name,
            "idle",
        }
