"""Pasted texts are read, tried and imported."""

import json
import time
from pathlib import Path

import pytest

from mcpyard.domain.cause import Cause, Code
from tests.api.asgi import slug
from tests.api.fake_yard import SERVERS, faked

pytestmark = pytest.mark.real

PASTED = json.dumps(
    {
        "mcpServers": {
            "files": {"command": "npx", "args": ["files"], "env": {"KEY": "a-secret-value"}},
            "web": {"type": "http", "url": "https://web.example/mcp"},
            "bad": {"command": 5},
        }
    }
)


async def test_a_pasted_text_is_read_without_being_kept(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        parsed = (await it.client.post("/api/mcp/parse", json={"text": PASTED})).json()
        files, web = parsed["servers"]
        assert (files["name"], files["definition"]["command"]) == ("files", "npx")
        assert files["definition"]["env"] == {"KEY": "a-secret-value"}
        assert web["definition"] == {
            "type": "remote",
            "url": "https://web.example/mcp",
            "transport": "http",
        }
        assert [each["field"] for each in parsed["problems"]] == ["mcpServers.bad.command"]
        assert (await it.client.get(SERVERS)).json() == []


async def test_what_was_parsed_can_be_registered_as_it_is(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        parsed = (await it.client.post("/api/mcp/parse", json={"text": PASTED})).json()
        assert len(parsed["servers"]) > 1
        for each in parsed["servers"]:
            response = await it.client.post(
                SERVERS, json={"name": each["name"], **each["definition"]}
            )
            assert (response.status_code, response.json()["warnings"]) == (201, [])


async def test_a_pasted_command_is_read_with_its_headers_and_what_is_lost(tmp_path: Path) -> None:
    lines = (
        "claude mcp add -t http web https://web.example/mcp --header 'Authorization: Bearer x'\n"
        "gemini mcp add far https://far.example/mcp --trust\n"
        "claude mcp add files --colour red -- npx files"
    )
    async with faked(tmp_path / "home") as it:
        parsed = (await it.client.post("/api/mcp/parse", json={"text": lines})).json()
        web, far = parsed["servers"]
        assert web["definition"]["headers"] == {"Authorization": "Bearer x"}
        assert (web["warnings"], far["warnings"]) == (
            [],
            ["--trust: not supported by mcpyard: dropped"],
        )
        assert parsed["problems"] == [
            {"field": "line 3", "message": 'the option "--colour" is unknown'}
        ]
        alone = {"text": lines.splitlines()[2]}
        refused = await it.client.post("/api/mcp/import", json=alone)
        assert slug(refused) == (422, "broken-document")
        assert "the pasted text:1:1: the option" in refused.json()["detail"]


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", "{", "[" * 100_000, "a=" + "[" * 100_000, '{"a":' * 50_000, "[[[a.b", "{}"],
    ids=["empty", "nonsense", "open", "deep", "deep toml", "deep objects", "toml", "no server"],
)
async def test_a_text_that_makes_no_sense_is_refused(tmp_path: Path, text: str) -> None:
    async with faked(tmp_path / "home") as it:
        for path in ("/api/mcp/parse", "/api/mcp/import"):
            refused = await it.client.post(path, json={"text": text})
            assert slug(refused) == (422, "broken-document")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("parse", {}, "text"),
        ("parse", {"text": 5}, "text"),
        ("parse", {"text": "x", "more": 1}, "more"),
        ("import", {"text": PASTED, "dryRun": "yes"}, "dryRun"),
        ("import", {"text": None}, "text"),
    ],
)
async def test_a_request_of_the_wrong_shape_is_refused(
    tmp_path: Path, path: str, body: dict[str, object], field: str
) -> None:
    async with faked(tmp_path / "home") as it:
        refused = await it.client.post(f"/api/mcp/{path}", json=body)
        assert slug(refused) == (422, "invalid-arguments")
        assert refused.json()["problems"][0]["field"] == field


async def test_a_large_text_is_read_in_a_reasonable_time(tmp_path: Path) -> None:
    servers = {f"s{number}": {"command": "x", "args": ["y" * 50]} for number in range(20_000)}
    async with faked(tmp_path / "home") as it:
        began = time.monotonic()
        response = await it.client.post("/api/mcp/parse", json={"text": json.dumps(servers)})
        assert len(response.json()["servers"]) == 20_000
        assert time.monotonic() - began < 20


async def test_a_definition_is_tried_without_being_kept(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        body = {"name": "files", "command": "npx", "scope": "user", "start": True}
        tried = (await it.client.post("/api/mcp/test", json=body)).json()
        assert (tried["ok"], [each["name"] for each in tried["tools"]]) == (True, ["echo"])
        assert "name" not in str(tried["warnings"])
        cause = Cause(Code.EXITED, "it exited with 3", "look there", ("no licence",))
        it.servers.broken["trial"] = cause
        failed = await it.client.post("/api/mcp/test", json=body)
        assert slug(failed) == (502, "start-failed")
        assert failed.json()["cause"] == {
            "code": "exited",
            "message": "it exited with 3",
            "hint": "look there",
            "stderr": ["no licence"],
        }
        assert slug(await it.client.post("/api/mcp/test", json={})) == (422, "invalid-definition")
        assert (await it.client.get(SERVERS)).json() == []


async def test_imported_servers_wait_and_each_has_its_own_outcome(tmp_path: Path) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        await it.register("web")
        dry = (
            await it.client.post("/api/mcp/import", json={"text": PASTED, "dryRun": True})
        ).json()
        assert [(each["name"], each["outcome"]) for each in dry["servers"]] == [
            ("files", "importable"),
            ("web", "refused"),
        ]
        assert len((await it.client.get(SERVERS)).json()) == 1
        done = (await it.client.post("/api/mcp/import", json={"text": PASTED})).json()
        files, web = done["servers"]
        assert (files["outcome"], files["server"]["state"]) == ("imported", "stopped")
        assert files["server"]["scope"] == "project"
        assert files["server"]["env"] == {"KEY": {"masked": True, "hint": ""}}
        assert (web["outcome"], web["problem"]["type"]) == (
            "refused",
            "urn:mcpyard:error:name-taken",
        )
        assert [each["field"] for each in done["problems"]] == ["mcpServers.bad.command"]
        running = [each.server.name for each in it.yard.pictures() if each.observed.state.epoch]
        assert running == ["web"]


async def test_a_scope_that_cannot_be_written_is_each_servers_own_problem(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        for scope, kind in (("env", "read-only-owner"), ([], "invalid-definition")):
            body = {"text": PASTED, "scope": scope}
            done = (await it.client.post("/api/mcp/import", json=body)).json()
            assert {each["problem"]["type"].split(":")[-1] for each in done["servers"]} == {kind}
