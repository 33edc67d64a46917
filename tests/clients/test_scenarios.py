"""The scenarios of the specification about other programs' servers, over HTTP."""

import json
import tomllib
from pathlib import Path

import pytest

from mcpyard.formats.copying.matrix import Matrix
from tests.api.asgi import slug
from tests.clients.machine import claude_text, machine

BOTH = pytest.mark.parametrize("matrix", [str(each) for each in Matrix])

CLAUDE = claude_text("x", "fast")
CODEX = """# mine
model = "o5"

[mcp_servers.x] # the files
command = "npx"
args = ["-y", "@acme/files"]
enabled = true

[mcp_servers.x.env]
API_KEY = "a-secret-value"
"""
GEMINI = '{\n  // hello\n  "mcpServers": {"x": {"command": "run", "args": ["a"]}}\n}\n'
OPENCODE = """{
  // hello
  "mcp": {
    "x": { "type": "local", "command": ["run", "a", "b"], "environment": { "K": "v" } },
  },
}
"""
REMOTE_CODEX = """[mcp_servers.x]
url = "https://docs.example.com/mcp"
bearer_token_env_var = "DOCS_TOKEN"
"""


@pytest.mark.spec("E1.1")
async def test_all_servers_are_listed_by_tool_with_command_and_switch(tmp_path: Path) -> None:
    texts = {"claude": CLAUDE, "codex": CODEX.replace("= true", "= false"), "opencode": OPENCODE}
    async with machine(tmp_path, gemini=GEMINI, **texts) as it:
        groups = await it.get("/api/clients")
        servers = {
            group["client"]: (each["name"], each["command"], each["args"], each["enabled"])
            for group in groups
            for each in group["servers"]
        }
        assert servers == {
            "claude-code": ("x", "npx", ["-y", "@acme/files"], True),
            "codex": ("x", "npx", ["-y", "@acme/files"], False),
            "gemini": ("x", "run", ["a"], True),
            "opencode": ("x", "run", ["a", "b"], True),
        }
        (codex,) = [each for each in groups if (each["client"], each["scope"]) == ("codex", "user")]
        assert codex["path"] == str(it.path("codex"))
        (server,) = codex["servers"]
        assert server["effective"] == "disabled"
        assert server["reason"]


@pytest.mark.spec("E1.2")
async def test_one_server_is_shown_with_command_args_env_and_url(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=REMOTE_CODEX) as it:
        local = await it.get("/api/clients/claude/servers/x")
        assert (local["command"], local["args"]) == ("npx", ["-y", "@acme/files"])
        assert local["env"].keys() == {"API_KEY", "MODE"}
        assert local["env"]["API_KEY"]["masked"] is True
        assert "a-secret-value" not in json.dumps(local)
        assert local["url"] is None
        remote = await it.get("/api/clients/codex/servers/x", scope="user")
        assert remote["url"] == "https://docs.example.com/mcp"
        assert remote["bearerTokenEnvVar"] == "DOCS_TOKEN"


@pytest.mark.spec("E2.1")
@pytest.mark.parametrize(
    ("client", "text", "old", "new"),
    [
        ("claude", CLAUDE, '"command": "npx"', '"command": "uvx"'),
        ("codex", CODEX, 'command = "npx"', 'command = "uvx"'),
        ("gemini", GEMINI, '"command": "run"', '"command": "uvx"'),
        ("opencode", OPENCODE, '["run", "a", "b"]', '["uvx", "a", "b"]'),
    ],
)
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
async def test_an_edit_changes_its_field_and_no_other_byte(  # noqa: PLR0917  a case
    tmp_path: Path, client: str, text: str, old: str, new: str, ends: str
) -> None:
    text = text.replace("\n", ends)
    async with machine(tmp_path, **{client: text}) as it:
        done = await it.patch(client, {"command": "uvx"})
        assert it.read(client) == text.replace(old, new)
        (file,) = done["files"]
        assert file["path"] == str(it.path(client))
        assert new in file["diff"]


@pytest.mark.spec("E2.2")
@pytest.mark.parametrize(
    ("client", "text", "old", "new"),
    [
        ("codex", CODEX, "enabled = true", "enabled = false"),
        ("opencode", OPENCODE, '"v" } }', '"v" }, "enabled": false }'),
    ],
)
async def test_the_switch_is_the_entrys_field_where_it_has_one(
    tmp_path: Path, client: str, text: str, old: str, new: str
) -> None:
    async with machine(tmp_path, **{client: text}) as it:
        done = await it.patch(client, {"enabled": False})
        assert it.read(client) == text.replace(old, new)
        assert done["warnings"] == []


@pytest.mark.spec("E2.2")
@pytest.mark.parametrize(
    ("client", "text", "file"),
    [
        ("claude", CLAUDE, ".claude.json"),
        ("gemini", GEMINI, ".gemini/mcp-server-enablement.json"),
        (
            "copilot",
            '{"mcpServers": {"x": {"command": "run"}}}',
            ".copilot/settings.json",
        ),
    ],
)
async def test_elsewhere_the_tools_own_switch_is_used_and_the_preview_says_where(
    tmp_path: Path, client: str, text: str, file: str
) -> None:
    async with machine(tmp_path, **{client: text}) as it:
        look = await it.patch(client, {"enabled": False}, dryRun="1")
        assert it.read(client) == text
        (warning,) = look["warnings"]
        assert (warning["kind"], warning["field"]) == ("relocated", "enabled")
        assert Path(file).name in warning["message"]
        done = await it.patch(client, {"enabled": False})
        assert {key: done[key] for key in ("files", "warnings")} == {
            key: look[key] for key in ("files", "warnings")
        }
        assert [each["path"] for each in done["files"]] == [str(it.home / file)]
        record = await it.get(f"/api/clients/{client}/servers/x")
        assert (record["enabled"], record["effective"]) == (False, "disabled")
        await it.patch(client, {"enabled": True})
        assert (await it.get(f"/api/clients/{client}/servers/x"))["enabled"] is True


@pytest.mark.spec("E3.1")
@pytest.mark.spec("E5.1")
@BOTH
async def test_claude_to_codex_gives_tables_and_arrays_of_valid_toml(
    tmp_path: Path, matrix: str
) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex='model = "o5"\n') as it:
        done = await it.copy("claude", "codex", matrix=matrix)
        assert it.read("codex") == (
            'model = "o5"\n'
            "\n"
            "[mcp_servers.x]\n"
            'command = "npx"\n'
            'args = ["-y", "@acme/files"]\n'
            "\n"
            "[mcp_servers.x.env]\n"
            'API_KEY = "a-secret-value"\n'
            'MODE = "fast"\n'
        )
        assert tomllib.loads(it.read("codex"))["mcp_servers"]["x"]["env"]["MODE"] == "fast"
        assert it.read("claude") == CLAUDE
        assert done["warnings"] == []
        assert "a-secret-value" not in json.dumps(done)


@pytest.mark.spec("E3.2")
@pytest.mark.spec("E5.2")
@BOTH
async def test_codex_to_opencode_gives_one_command_and_environment(
    tmp_path: Path, matrix: str
) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        done = await it.copy("codex", "opencode", matrix=matrix)
        written = it.json("opencode")["mcp"]["x"]
        switch = {} if matrix == "spec" else {"enabled": True}
        assert written == {
            "type": "local",
            "command": ["npx", "-y", "@acme/files"],
            "environment": {"API_KEY": "a-secret-value"},
            **switch,
        }
        # The matrix of the specification has no place for it in OpenCode.
        warnings = [(each["kind"], each["field"]) for each in done["warnings"]]
        assert warnings == [("unsupported" if matrix == "spec" else "info", "enabled")]


@pytest.mark.spec("E3.3")
async def test_what_the_destination_cannot_hold_is_told_and_the_copy_completes(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, codex=REMOTE_CODEX) as it:
        done = await it.copy("codex", "opencode", matrix="spec")
        assert it.json("opencode")["mcp"]["x"] == {
            "type": "remote",
            "url": "https://docs.example.com/mcp",
        }
        (warning,) = done["warnings"]
        assert (warning["kind"], warning["field"]) == ("unsupported", "bearer_token_env_var")
        native = await it.copy("codex", "claude", matrix="native")
        assert native["warnings"][0]["kind"] == "translated"
        headers = it.json("claude")["mcpServers"]["x"]["headers"]
        assert headers == {"Authorization": "Bearer ${DOCS_TOKEN}"}


ROWS = {
    "command": ("command", "command", "command", "command"),
    "args": ("args", "args", "args", "command"),
    "env": ("env", "env", "env", "environment"),
    "url": ("-", "url", "-", "url"),
    "enabled": ("-", "enabled", "-", "-"),
    "type": ("-", "-", "-", "type"),
    "headers": ("-", "-", "-", "headers"),
}
"""The matrix of the specification: Claude Code, Codex, Gemini CLI, OpenCode."""

KEYS = {"claude": "mcpServers", "codex": "mcp_servers", "gemini": "mcpServers", "opencode": "mcp"}
SAID = {
    "command": {"command": "npx"},
    "args": {"command": "npx", "args": ["-y"]},
    "env": {"command": "npx", "env": {"A": "b"}},
    "url": {"url": "https://h.example"},
    "enabled": {"command": "npx", "enabled": True},
    "type": {"command": "npx", "type": "stdio"},
    "headers": {"url": "https://h.example", "headers": {"A": "b"}},
}


@pytest.mark.spec("E4.1")
@pytest.mark.parametrize("field", ROWS)
async def test_the_matrix_holds_field_by_field_with_a_warning_for_each_drop(
    tmp_path: Path, field: str
) -> None:
    async with machine(tmp_path) as it:
        body = {"name": "x", "scope": "user", "start": False, **SAID[field]}
        assert (await it.http.post("/api/mcp/servers", json=body)).status_code == 201
        for target, word in zip(KEYS, ROWS[field], strict=True):
            done = await it.copy("yard", target, matrix="spec")
            text = it.read(target)
            parsed = tomllib.loads(text) if target == "codex" else json.loads(text)
            entry = parsed[KEYS[target]]["x"]
            dropped = [each["kind"] for each in done["warnings"] if each["field"] == field]
            if word == "-":
                assert (field in entry, dropped) == (False, ["unsupported"])
            else:
                assert (word in entry, dropped) == (True, [])


@pytest.mark.spec("E4.2")
@BOTH
async def test_a_command_list_is_taken_apart_and_an_empty_one_refused(
    tmp_path: Path, matrix: str
) -> None:
    empty = '{"mcp": {"none": {"type": "local", "command": []}}}'
    async with machine(tmp_path, opencode=OPENCODE) as it:
        await it.copy("opencode", "codex", matrix=matrix)
        entry = tomllib.loads(it.read("codex"))["mcp_servers"]["x"]
        assert (entry["command"], entry["args"]) == ("run", ["a", "b"])
        before = it.read("codex")
        it.path("opencode").write_text(empty)
        body = {"from": "opencode", "to": "codex", "name": "none", "matrix": matrix}
        refused = await it.http.post("/api/clients/copy", json=body)
        assert slug(refused) == (422, "invalid-definition")
        assert "command" in refused.json()["detail"]
        assert it.read("codex") == before


@pytest.mark.spec("E4.3")
@BOTH
async def test_an_empty_command_is_refused_for_opencode(tmp_path: Path, matrix: str) -> None:
    async with machine(tmp_path, codex='[mcp_servers.x]\ncommand = ""\n') as it:
        body = {"from": "codex", "to": "opencode", "name": "x", "matrix": matrix}
        refused = await it.http.post("/api/clients/copy", json=body)
        assert slug(refused) == (422, "invalid-definition")
        assert not it.path("opencode").exists()
