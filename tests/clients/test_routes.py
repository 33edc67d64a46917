"""What the routes of other programs' servers answer to what makes no sense."""

from pathlib import Path

import pytest

from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.plan import StartServer
from mcpyard.testing import FakeServers
from mcpyard.yard.clients.clients import Copy
from tests.api.asgi import slug
from tests.clients.machine import machine

CODEX = '[mcp_servers.x]\ncommand = "run"\n'
COPY = {"from": "codex", "to": "claude", "name": "x"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({**COPY, "matrix": "other"}, "matrix"),
        ({**COPY, "matrix": 3}, "matrix"),
        ({**COPY, "from": "nobody"}, "client"),
        ({**COPY, "to": "claude:moon"}, "scope"),
        ({**COPY, "project": "relative"}, "project"),
        ({**COPY, "project": 5}, "project"),
        ({**COPY, "newName": None}, "newName"),
        ({**COPY, "dryRun": "yes"}, "dryRun"),
        ({**COPY, "showSecrets": True}, "showSecrets"),
        ({"from": "codex", "to": "claude"}, "name"),
    ],
)
async def test_a_request_that_makes_no_sense_is_refused_with_its_field(
    tmp_path: Path, body: dict[str, object], field: str
) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        refused = await it.http.post("/api/clients/copy", json=body)
        assert slug(refused) == (422, "invalid-arguments")
        assert refused.json()["problems"][0]["field"] == field
        assert not it.path("claude").exists()


@pytest.mark.parametrize("number", [0, -1, "1", True, 1.5, 2**63])
async def test_a_number_that_is_none_of_an_edit_is_refused(tmp_path: Path, number: object) -> None:
    async with machine(tmp_path) as it:
        refused = await it.http.post("/api/clients/undo", json={"id": number})
        assert slug(refused) == (422, "invalid-arguments")


@pytest.mark.parametrize("path", ["", "/lint", "/drift", "/codex/servers/x"])
async def test_a_project_must_be_an_absolute_path(tmp_path: Path, path: str) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        assert (await it.http.get(f"/api/clients{path}?project=here")).status_code == 422
        assert (await it.http.get(f"/api/clients{path}?project=%00")).status_code == 422
        assert (await it.http.get(f"/api/clients{path}?project=/here/")).status_code == 200


async def test_names_are_percent_encoded(tmp_path: Path) -> None:
    async with machine(tmp_path, codex='[mcp_servers."a/b ü"]\ncommand = "run"\n') as it:
        record = await it.get("/api/clients/codex/servers/a%2Fb%20%C3%BC")
        assert record["name"] == "a/b ü"


async def test_a_broken_file_of_the_switch_is_told_with_its_place(tmp_path: Path) -> None:
    async with machine(tmp_path, gemini='{"mcpServers": {"x": {"command": "run"}}}') as it:
        switch = it.home / ".gemini" / "mcp-server-enablement.json"
        switch.write_text('{"x": ')
        with pytest.raises(DocumentBroken, match=r"enablement\.json:1:"):
            await it.clients.toggle("gemini", "x", enabled=False)
        with pytest.raises(DocumentBroken, match=r"enablement\.json:1:"):
            await it.clients.copy(Copy("gemini", "codex", "x"))
        assert switch.read_text() == '{"x": '


async def test_what_lint_finds_has_its_rule_its_place_and_what_to_do(tmp_path: Path) -> None:
    text = '{"mcpServers": {"x": {"url": "https://h.example"}}}'
    async with machine(tmp_path, claude=text) as it:
        (finding,) = await it.get("/api/clients/lint")
        assert (finding["client"], finding["name"], finding["level"]) == (
            "claude-code",
            "x",
            "error",
        )
        assert finding["place"]["file"] == str(it.path("claude"))
        assert finding["hint"]


@pytest.mark.parametrize("dry", [True, False])
async def test_a_project_that_is_not_there_is_refused_and_not_made(
    tmp_path: Path, *, dry: bool
) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        there = tmp_path / "none" / "there"
        copy = {"from": "codex", "to": "claude:project", "name": "x", "project": str(there)}
        for path, body in (
            ("/api/clients/copy", copy),
            ("/api/clients/connect", {"client": "claude", "project": str(there)}),
            ("/api/mcp/import", {"project": str(there)}),
        ):
            refused = await it.http.post(path, json={**body, "dryRun": dry})
            assert slug(refused) == (422, "invalid-arguments"), path
            assert refused.json()["problems"] == [
                {"field": "project", "message": f"there is no folder {there}"}
            ]
        changed = await it.http.patch(
            "/api/clients/codex/servers/x",
            json={"args": []},
            params={"project": str(there), "dryRun": str(dry).lower()},
        )
        assert slug(changed) == (422, "invalid-arguments")
        assert not there.parent.exists()


async def test_nothing_of_another_program_is_ever_started_by_looking(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        await it.get("/api/clients")
        await it.clients.copy(Copy("codex", "yard", "x"))
        (server,) = it.yard.servers()
        assert (server.name, server.phase) == ("x", "stopped")
        servers = it.yard._servers
        assert isinstance(servers, FakeServers)
        assert StartServer not in map(type, servers.applied)
