"""Texts that no process can be given, and times that are none: refused at every door, by field."""

import json
from pathlib import Path

import pytest

from tests.api.asgi import slug
from tests.clients.machine import Machine, machine

CODEX = '[mcp_servers.x]\ncommand = "run"\n'
FOUND = '{"mcpServers": {"x": {"command": "run", "args": ["a\\u0000"], "timeout": 5000}}}'
UNFIT: list[tuple[dict[str, object], str]] = [
    ({"command": "a\0b"}, "command"),
    ({"args": ["a", "b\0"]}, "args[1]"),
    ({"env": {"A": "b\0"}}, "env.A"),
    ({"env": {"A\0": "b"}}, "env.A\0"),
    ({"cwd": "/a\0"}, "cwd"),
    ({"timeout": 0.1}, "timeout"),
    ({"startTimeout": 0.9}, "startTimeout"),
]


async def refused(it: Machine, method: str, path: str, body: object) -> list[str]:
    """The fields that are named by an answer that refuses a definition."""
    answer = await it.http.request(method, path, json=body)
    assert slug(answer) == (422, "invalid-definition"), answer.text
    return [each["field"] for each in answer.json()["problems"]]


@pytest.mark.parametrize(("unfit", "field"), UNFIT, ids=[field for _, field in UNFIT])
async def test_what_cannot_be_is_refused_with_its_field(
    tmp_path: Path, unfit: dict[str, object], field: str
) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        fit = {"command": "run", "args": [], "name": "y"}
        assert await refused(it, "POST", "/api/mcp/servers", {**fit, **unfit}) == [field]
        await it.http.post("/api/mcp/servers", json=fit)
        assert await refused(it, "PATCH", "/api/mcp/servers/y", unfit) == [field]
        assert await refused(it, "PATCH", "/api/clients/codex/servers/x", unfit) == [field]
        assert it.read("codex") == CODEX
        file = {"mcpServers": {"z": {"command": "run", "args": [], **unfit}}}
        (it.project / ".mcp.json").write_text(json.dumps(file))
        events = it.yard.events()
        while not it.yard.desired.problems:
            await anext(aiter(events))
        events.finish()
        (problem,) = it.yard.desired.problems
        assert problem.field == f"mcpServers.z.{field}"


@pytest.mark.parametrize("target", ["codex", "claude:local", "yard"])
async def test_what_cannot_be_is_not_carried_into_another_file(tmp_path: Path, target: str) -> None:
    async with machine(tmp_path, gemini=FOUND, codex=CODEX) as it:
        copy = {"from": "gemini", "to": target, "name": "x", "newName": "y"}
        assert await refused(it, "POST", "/api/clients/copy", copy) == ["args[0]"]
        assert it.read("codex") == CODEX


async def test_what_was_there_before_keeps_nobody_from_changing_something_else(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, gemini=FOUND) as it:
        path = "/api/clients/gemini/servers/x"
        assert (await it.http.patch(path, json={"timeout": 7000})).status_code == 200
        assert await refused(it, "PATCH", path, {"command": "a\0"}) == ["command"]
        assert (await it.http.patch(path, json={"args": ["a"]})).status_code == 200


async def test_a_bridge_that_cannot_be_run_is_not_written_down(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        body = {"client": "codex", "command": ["mcpyard", "stdio\0"]}
        assert await refused(it, "POST", "/api/clients/connect", body) == ["args[0]"]
        assert it.read("codex") == CODEX
