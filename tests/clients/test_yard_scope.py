"""The yard as one more client, and what is found on a machine taken into it."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mcpyard.domain.errors import (
    DefinitionError,
    NameRefused,
    NameTaken,
    ReadOnlyOwner,
    ServerUnknown,
)
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.views.base import plain
from tests.clients.machine import Machine, machine

CLAUDE = """{"mcpServers": {
  "x": {"command": "run", "args": ["a"], "env": {"KEY": "a-secret-value", "REF": "${REF}"}},
  "web": {"type": "sse", "url": "https://h.example/sse", "headers": {"A": "b"}, "timeout": 5000}
}}"""


async def record(it: Machine, name: str) -> dict[str, Any]:
    return await it.get(f"/api/mcp/servers/{name}")


async def test_a_server_copied_into_the_yard_waits_stopped(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        done = await it.copy("claude", "yard:user")
        assert "a-secret-value" not in json.dumps(done)
        (file,) = done["files"]
        assert (file["path"], '+      "command": "run",' in file["diff"]) == ("yard:user", True)
        await it.copy("claude", "yard:user", "web")
        local, remote = await record(it, "x"), await record(it, "web")
        assert (local["wanted"], local["state"], local["scope"]) == ("stopped", "stopped", "user")
        assert (local["command"], local["args"]) == ("run", ["a"])
        assert (remote["transport"], remote["timeout"]) == ("sse", 5000)
        assert (await it.http.post("/api/mcp/servers/x/reveal")).json()["env"] == {
            "KEY": "a-secret-value",
            "REF": "${REF}",
        }


async def test_a_server_copied_into_the_project_goes_to_its_file_with_launch_fields_alone(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        look = await it.copy("claude", "yard:project", "web", dryRun=True)
        assert not (it.project / ".mcp.json").exists()
        done = await it.copy("claude", "yard:project", "web")
        assert done["files"] == look["files"]
        assert json.loads((it.project / ".mcp.json").read_text())["mcpServers"] == {
            "web": {
                "type": "sse",
                "url": "https://h.example/sse",
                "headers": {"A": "b"},
                "transport": "sse",
            }
        }
        server = await record(it, "web")
        assert (server["wanted"], server["timeout"], server["scope"]) == (
            "stopped",
            5000,
            "project",
        )


async def test_a_secret_that_would_lie_in_the_projects_file_is_told(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        assert (await it.copy("claude", "yard:user", newName="mine"))["warnings"] == []
        for dry in (True, False):
            done = await it.copy("claude", "yard:project", dryRun=dry)
            (warning,) = done["warnings"]
            assert (warning["kind"], warning["field"]) == ("info", "env.KEY")
            assert "use ${NAME}" in warning["message"]


async def test_out_of_the_yard_and_back_is_the_same_server(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        for name in ("x", "web"):
            await it.clients.copy(Copy("claude", "yard", name))
            before = await record(it, name)
            await it.clients.copy(Copy("yard", "opencode", name))
            await it.clients.copy(Copy("opencode", "yard", name, replace=True))
            after = await record(it, name)
            changed = {key for key in before if before[key] != after[key]}
            # OpenCode finds out by itself whether an address speaks SSE.
            assert changed <= {"transport", "digest", "warnings"}
        await it.clients.copy(Copy("yard", "claude:local", "x"))
        local = it.json("claude")["projects"][str(it.project)]["mcpServers"]["x"]
        assert local["env"] == {"KEY": "a-secret-value", "REF": "${REF}"}


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_a_server_of_the_yard_can_be_replaced_by_one_of_another_kind(
    tmp_path: Path, scope: str
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        target = f"yard:{scope}"
        await it.clients.copy(Copy("claude", target, "x", "s"))
        await it.clients.copy(Copy("claude", target, "web", "s", replace=True))
        server = await record(it, "s")
        assert (server["url"], server["transport"]) == ("https://h.example/sse", "sse")
        assert "command" not in server
        await it.clients.copy(Copy("claude", target, "x", "s", replace=True))
        server = await record(it, "s")
        assert (server["command"], server["env"].keys()) == ("run", {"KEY", "REF"})
        assert server["timeout"] == 30000


async def test_every_change_of_the_yards_own_servers_can_be_undone(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard", "x"))
        states: list[object] = []
        for change in (
            it.clients.edit("yard", "x", {"args": ["b"], "env": {"KEY": None}}),
            it.clients.toggle("yard", "x", enabled=False),
            it.clients.rename("yard", "x", "y"),
            it.clients.remove("yard", "y"),
        ):
            states.append(await definitions(it))
            await change
        assert await definitions(it) == {}
        for state in reversed(states):
            await it.clients.undo()
            assert await definitions(it) == state


async def test_what_is_kept_beside_the_projects_file_comes_back_with_an_undo(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:project", "web"))
        off = await it.clients.toggle("yard:project", "web", enabled=False)
        assert [path for path, _ in off.files] == ["yard:project"]
        assert (await record(it, "web"))["enabled"] is False
        await it.clients.undo()
        assert (await record(it, "web"))["enabled"] is True
        await it.http.post("/api/mcp/servers/web/start?wait=5")
        removed = await it.clients.remove("yard:project", "web")
        assert len(removed.files) == 2
        assert await it.get("/api/mcp/servers") == []
        await it.clients.undo(removed.edit)
        server = await appeared(it, "web")
        assert (server["timeout"], server["wanted"]) == (5000, "stopped")


async def test_a_server_of_the_project_stays_the_same_when_its_new_name_is_undone(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:project", "web"))
        await it.http.post("/api/mcp/servers/web/start?wait=5")
        text, before = (it.project / ".mcp.json").read_bytes(), await record(it, "web")
        await it.clients.rename("yard:project", "web", "net")
        await it.clients.undo()
        assert (it.project / ".mcp.json").read_bytes() == text
        after = await record(it, "web")
        fields = ("id", "wanted", "timeout", "pid", "since")
        assert [after[key] for key in fields] == [before[key] for key in fields]
        assert (after["timeout"], after["wanted"]) == (5000, "running")


async def appeared(it: Machine, name: str) -> dict[str, Any]:
    """The record of a server that the watched file has, or soon will."""
    events = it.yard.events()
    while name not in {each.server.name for each in it.yard.pictures()}:
        await anext(aiter(events))
    events.finish()
    return await record(it, name)


async def definitions(it: Machine) -> dict[str, object]:
    words = ("command", "args", "enabled")
    by_name: dict[str, object] = {}
    for each in await it.get("/api/mcp/servers"):
        secrets = (await it.http.post(f"/api/mcp/servers/{each['name']}/reveal")).json()
        by_name[each["name"]] = [each[word] for word in words], secrets
    return by_name


async def test_the_yards_servers_keep_their_id_when_they_are_renamed_here(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:project", "x"))
        identity = (await record(it, "x"))["id"]
        await it.clients.rename("yard:project", "x", "y")
        assert (await record(it, "y"))["id"] == identity
        await it.clients.toggle("yard:project", "y", enabled=False)
        assert (await record(it, "y"))["enabled"] is False
        assert "enabled" not in (it.project / ".mcp.json").read_text()
        await it.clients.remove("yard:project", "y")
        assert json.loads((it.project / ".mcp.json").read_text()) == {"mcpServers": {}}


async def test_what_the_yard_cannot_take_is_refused(tmp_path: Path) -> None:
    text = '{"mcpServers": {"x": {"command": " "}, "a/b\\u0000": {"command": "y"}}}'
    async with machine(tmp_path, gemini=text) as it:
        with pytest.raises(DefinitionError, match="command"):
            await it.clients.copy(Copy("gemini", "yard", "x"))
        with pytest.raises(NameRefused):
            await it.clients.copy(Copy("gemini", "yard", "a/b\0"))
        with pytest.raises(ServerUnknown):
            await it.clients.copy(Copy("yard", "gemini", "nobody"))
        with pytest.raises(ServerUnknown):
            await it.clients.show("yard", "nobody")
        assert await it.get("/api/mcp/servers") == []


async def test_a_name_in_use_in_the_yard_is_kept(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:project", "x"))
        with pytest.raises(NameTaken):
            await it.clients.copy(Copy("claude", "yard:project", "x"))
        for terms in (EditTerms(), EditTerms(dry_run=True)):
            with pytest.raises(NameTaken):
                await it.clients.copy(Copy("claude", "yard:user", "x"), terms)
        await it.clients.copy(Copy("claude", "yard:user", "x", "z"))
        with pytest.raises(NameTaken):
            await it.clients.rename("yard:user", "z", "x")
        assert len(await it.clients.edits()) == 2


async def test_a_move_out_of_the_yard_is_one_unit(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard", "x"))
        await it.clients.copy(Copy("yard", "codex", "x", move=True))
        assert await it.get("/api/mcp/servers") == []
        await it.clients.undo()
        assert [each["name"] for each in await it.get("/api/mcp/servers")] == ["x"]
        assert not it.path("codex").exists()


async def test_the_yards_servers_are_listed_shown_and_compared_with_the_others(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard", "x"))
        await it.clients.edit("claude", "x", {"args": ["other"]})
        (group,) = [
            each
            for each in await it.get("/api/clients")
            if (each["client"], each["scope"]) == ("yard", "user")
        ]
        assert [each["name"] for each in group["servers"]] == ["x"]
        server = await it.get("/api/clients/yard/servers/x")
        assert (server["path"], server["args"], server["effective"]) == (
            "yard:user",
            ["a"],
            "enabled",
        )
        (drift,) = await it.get("/api/clients/drift")
        assert drift["name"] == "x"
        variants = {
            (place["client"], variant["values"]["args"])
            for variant in drift["variants"]
            for place in variant["in"]
        }
        assert variants == {("claude-code", "other"), ("yard", "a")}


async def test_one_that_another_scope_hides_is_told_as_shadowed(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:user", "x"))
        (it.project / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "y"}}}')
        events = it.yard.events()
        while it.yard.server("x").owner.scope != "project":
            await anext(aiter(events))
        events.finish()
        server = await it.clients.show("yard:user", "x")
        assert (server.effective, server.reason) == (
            "shadowed",
            f"overridden by the one of the project scope, {it.project / '.mcp.json'}",
        )
        assert (await it.clients.show("yard:project", "x")).effective == "enabled"


async def test_a_yard_without_a_project_or_without_programs_says_so(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        it.clients._own.project = None
        with pytest.raises(ReadOnlyOwner, match="no project is open"):
            await it.clients.copy(Copy("claude", "yard:project", "x"))
        del it.yard.clients
        it.yard._ports = replace(it.yard._ports, clients=None)
        with pytest.raises(ReadOnlyOwner, match="has no access to other programs"):
            _ = it.yard.clients


CODEX = """[mcp_servers.x]
command = "run"
args = ["a"]
env_vars = ["REF"]

[mcp_servers.x.env]
KEY = "a-secret-value"

[mcp_servers.web]
url = "https://other.example"

[mcp_servers.here]
command = "mcpyard"
args = ["stdio"]

[mcp_servers.fresh]
command = "fresh"
"""
GEMINI = '{"mcpServers": {"bad": {"command": 5}, "blank": {"command": " "}}}'


async def test_all_that_is_found_is_imported_once_and_told(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX, gemini=GEMINI) as it:
        look = await it.http.post("/api/mcp/import", json={"dryRun": True})
        assert await it.get("/api/mcp/servers") == []
        answer = await it.http.post("/api/mcp/import", json={})
        assert answer.status_code == 200
        rows = {(each["from"], each["name"]): each for each in answer.json()["servers"]}
        assert {key: each["outcome"] for key, each in rows.items()} == {
            ("claude-code:user", "x"): "imported",
            ("claude-code:user", "web"): "imported",
            ("codex:user", "x"): "skipped",
            ("codex:user", "web"): "skipped",
            ("codex:user", "here"): "skipped",
            ("codex:user", "fresh"): "imported",
            ("gemini:user", "bad"): "refused",
            ("gemini:user", "blank"): "refused",
        }
        assert rows["codex:user", "web"]["reason"].startswith("differs from the one in claude-code")
        assert rows["codex:user", "here"]["reason"] == "points back to this gateway (loop)"
        tried = [each["outcome"] for each in look.json()["servers"]]
        assert tried.count("importable") == 3
        states = {each["name"]: each["wanted"] for each in await it.get("/api/mcp/servers")}
        assert states == dict.fromkeys(("fresh", "web", "x"), "stopped")
        again = await it.clients.import_all(None, EditTerms())
        assert "imported" not in {each.outcome for each in again}
        assert again[0].reason == "is identical to the one in yard:user"
        assert "a-secret-value" not in json.dumps([answer.json(), plain(again)])


async def test_an_import_can_go_into_the_project(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        answer = await it.http.post("/api/mcp/import", json={"scope": "project"})
        assert [each["outcome"] for each in answer.json()["servers"]] == ["imported"] * 2
        assert json.loads((it.project / ".mcp.json").read_text())["mcpServers"].keys() == {
            "x",
            "web",
        }
        refused = await it.http.post("/api/mcp/import", json={"scope": "moon"})
        assert refused.status_code == 422
