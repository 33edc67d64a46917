from collections.abc import Mapping

from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.formats.effective import Effective, ServerStatus, Text, files_of, judge
from mcpyard.formats.registry import CLIENTS, client_of
from tests.formats.clients.evaluations import HOME, PROJECT, host, judged, states, texts

RUN = {"command": "run"}
LOCAL = {"type": "local", "command": ["run"]}


def claude(**project: object) -> dict[str, object]:
    return {"projects": {PROJECT: {"hasTrustDialogAccepted": True, **project}}}


def one(client: str, files: Mapping[str, object], name: str) -> ServerStatus:
    all_statuses = judged(client, files, host()).statuses
    return next(each for each in all_statuses if each.listed.name == name)


def test_a_server_that_nothing_speaks_against_is_enabled() -> None:
    for client in CLIENTS:
        scope = next(each for each in client.scopes if each.location)
        shape = client.shapes[0]
        content: object = {"x": LOCAL if shape.joined else RUN}
        if client.id == "goose":
            content = {"x": {"enabled": True, "type": "stdio", "cmd": "run", "args": []}}
        elif client.id == "continue":
            content = [{"name": "x", **RUN}]
        elif shape.name_key:
            content = '[[mcp_servers]]\nname = "x"\ntransport = "stdio"\ncommand = "run"\n'
        elif client.format == "toml":
            content = '[mcp_servers.x]\ncommand = "run"\n'
        for key in () if isinstance(content, str) else reversed(shape.keys):
            content = {key: content}
        files = texts({})
        path = files_of(client, host())[0]
        files |= texts({path.replace(HOME, "~").replace(PROJECT, "."): content})
        files |= texts({"~/.gemini/trustedFolders.json": {PROJECT: "TRUST_FOLDER"}})
        [status] = judge(client, host(), files).statuses
        assert (status.state, status.ref.scope) == (Effective.ENABLED, scope), client.id


def test_the_files_to_look_at_are_those_of_servers_switches_and_trust() -> None:
    assert set(files_of(client_of("gemini"), host())) == {
        f"{HOME}/.gemini/settings.json",
        f"{HOME}/.gemini/mcp-server-enablement.json",
        f"{HOME}/.gemini/trustedFolders.json",
        f"{PROJECT}/.gemini/settings.json",
        "/etc/gemini-cli/settings.json",
    }
    assert f"{PROJECT}/.claude/settings.local.json" in files_of(client_of("claude"), host())


def test_without_a_project_nothing_of_a_project_is_looked_at() -> None:
    nowhere = host("")
    for client in CLIENTS:
        assert not any("//" in path or path[0] == "." for path in files_of(client, nowhere))
    evaluation = judged("claude", {"~/.claude.json": {"mcpServers": {"x": RUN}}}, nowhere)
    assert [str(each.ref) for each in evaluation.files] == ["claude-code:user"]
    assert states("gemini", {"~/.gemini/settings.json": {"mcpServers": {"x": RUN}}}, nowhere) == {
        "user x": "enabled"
    }


def test_of_a_scope_without_a_file_the_one_to_create_is_given() -> None:
    evaluation = judged("opencode", {"./opencode.jsonc": {"mcp": {"x": LOCAL}}}, host())
    assert [(each.path, each.exists) for each in evaluation.files] == [
        (f"{HOME}/.config/opencode/opencode.json", False),
        (f"{PROJECT}/opencode.jsonc", True),
    ]


def test_a_server_of_a_project_waits_for_claudes_approval() -> None:
    shared = {"./.mcp.json": {"mcpServers": {"x": RUN}}}
    assert states("claude", shared) == {"project x": "untrusted"}
    local = {"./.claude/settings.local.json": {"enabledMcpjsonServers": ["x"]}}
    status = one("claude", {**shared, **local}, "x")
    assert status.state == "untrusted"
    assert "the folder is not trusted" in status.reason
    trusted = {"~/.claude.json": claude()}
    assert states("claude", {**shared, **local, **trusted}) == {"project x": "enabled"}
    every = {"~/.claude/settings.json": {"enableAllProjectMcpServers": True}}
    assert states("claude", {**shared, **every, **trusted}) == {"project x": "enabled"}
    own = {"~/.claude.json": claude(enabledMcpjsonServers=["x"])}
    assert states("claude", {**shared, **own}) == {"project x": "enabled"}


def test_what_claude_was_told_to_reject_is_disabled_at_once() -> None:
    files = {
        "./.mcp.json": {"mcpServers": {"x": RUN}},
        "./.claude/settings.json": '{\n  "disabledMcpjsonServers": ["y", "x"]\n}',
    }
    status = one("claude", files, "x")
    assert status.state == "disabled"
    assert status.where == SourceLocation(f"{PROJECT}/.claude/settings.json", 2, 35)


def test_claudes_list_for_a_project_switches_servers_of_every_scope_off() -> None:
    files = {
        "~/.claude.json": {
            "mcpServers": {"x": RUN, "y": RUN},
            **claude(disabledMcpServers=["x", "z"], mcpServers={"l": RUN}),
        },
        "./.mcp.json": {"mcpServers": {"z": RUN}},
        "./.claude/settings.json": {"enabledMcpjsonServers": ["z"]},
    }
    assert states("claude", files) == {
        "user x": "disabled",
        "user y": "enabled",
        "local l": "enabled",
        "project z": "disabled",
    }


def test_a_stronger_scope_of_claude_hides_a_weaker_one_once_it_counts() -> None:
    files: dict[str, object] = {
        "~/.claude.json": {
            "mcpServers": {"x": RUN, "y": RUN, "asked": RUN, "rejected": RUN},
            **claude(mcpServers={"x": RUN}),
        },
        "./.mcp.json": {"mcpServers": {"x": RUN, "y": RUN, "asked": RUN, "rejected": RUN}},
        "./.claude/settings.json": {
            "enabledMcpjsonServers": ["x", "y"],
            "disabledMcpjsonServers": ["rejected"],
        },
    }
    assert states("claude", files) == {
        "user x": "shadowed",
        "user y": "shadowed",
        "user asked": "enabled",
        "user rejected": "enabled",
        "local x": "enabled",
        "project x": "shadowed",
        "project y": "enabled",
        "project asked": "untrusted",
        "project rejected": "disabled",
    }
    hidden = one("claude", files, "y")
    assert hidden.reason == f'"y" of claude-code:project ({PROJECT}/.mcp.json) wins'
    assert hidden.where is not None
    assert hidden.where.file == f"{PROJECT}/.mcp.json"


def test_an_administrator_can_block_servers_of_claude() -> None:
    servers = {"~/.claude.json": {"mcpServers": {"x": RUN, "y": RUN}}}

    def managed(rules: dict[str, object]) -> dict[str, str]:
        contents = texts(servers)
        path = "/etc/claude-code/managed-settings.json"
        contents |= {path: Text(path, texts({"~/x": rules})[f"{HOME}/x"].text)}
        evaluation = judge(client_of("claude"), host(), contents)
        return {each.listed.name: each.state for each in evaluation.statuses}

    assert managed({"deniedMcpServers": [{"serverName": "x"}]}) == {"x": "blocked", "y": "enabled"}
    assert managed({"allowedMcpServers": ["x"]}) == {"x": "enabled", "y": "blocked"}
    by_command = [{"serverCommand": ["run"]}, {"serverName": "z"}]
    assert managed({"allowedMcpServers": by_command}) == {"x": "enabled", "y": "enabled"}
    assert managed({"allowedMcpServers": "x"}) == {"x": "enabled", "y": "enabled"}


def codex(trust: str) -> str:
    return (
        '[mcp_servers.x]\ncommand = "run"\nenv = {A = "1"}\n'
        f'[projects."{PROJECT}"]\ntrust_level = "{trust}"\n'
    )


def test_codex_reads_the_file_of_a_trusted_project_together_with_the_users() -> None:
    half = '[mcp_servers.x]\nargs = ["a"]\nenv = {B = "2"}\n'
    files = {"~/.codex/config.toml": codex("trusted"), "./.codex/config.toml": half}
    assert states("codex", files) == {"user x": "shadowed", "project x": "enabled"}
    assert "is merged with" in one("codex", files, "x").reason
    off = {**files, "./.codex/config.toml": "[mcp_servers.x]\nenabled = false\n"}
    assert states("codex", off) == {"user x": "shadowed", "project x": "disabled"}
    files["~/.codex/config.toml"] = codex("untrusted")
    assert states("codex", files) == {"user x": "enabled", "project x": "untrusted"}


def test_two_halves_that_contradict_each_other_are_invalid() -> None:
    both = {
        "~/.codex/config.toml": codex("trusted"),
        "./.codex/config.toml": '[mcp_servers.x]\nurl = "https://example.com"\n',
    }
    assert states("codex", both) == {"user x": "invalid", "project x": "invalid"}
    reason = one("codex", both, "x").reason
    assert reason == "x.url: conflicts with command; set only one of them"


def test_one_bad_entry_costs_codex_every_server() -> None:
    text = '[mcp_servers.bad]\nenabled = true\n[mcp_servers.good]\ncommand = "run"\n'
    good = one("codex", {"~/.codex/config.toml": text}, "good")
    assert good.state == "invalid"
    assert good.reason.startswith('Codex loads no servers while "bad" is invalid: ')
    assert good.where == SourceLocation(f"{HOME}/.codex/config.toml", 1, 1)


def test_a_bad_entry_of_a_project_that_codex_does_not_read_costs_nothing() -> None:
    files = {
        "~/.codex/config.toml": codex("untrusted"),
        "./.codex/config.toml": "[mcp_servers.bad]\nenabled = true\n",
    }
    assert states("codex", files) == {"user x": "enabled", "project bad": "untrusted"}


def test_one_bad_entry_costs_claude_only_itself() -> None:
    files = {"~/.claude.json": {"mcpServers": {"bad": {"url": "u"}, "worse": 5, "good": RUN}}}
    assert states("claude", files) == {
        "user bad": "invalid",
        "user worse": "invalid",
        "user good": "enabled",
    }


def test_opencode_reads_all_its_files_together_and_the_last_wins() -> None:
    files = {
        "~/.config/opencode/opencode.json": {"mcp": {"x": LOCAL, "y": LOCAL}},
        "~/.config/opencode/opencode.jsonc": {"mcp": {"x": {"enabled": False}}},
        "./opencode.json": {"mcp": {"y": {"enabled": False}, "alone": {"enabled": True}}},
        "./.opencode/opencode.json": {"mcp": {"y": {"enabled": True}}},
    }
    rows = [
        (each.listed.place.file.removeprefix(HOME), each.listed.name, each.state)
        for each in judged("opencode", files, host()).statuses
    ]
    assert rows == [
        ("/.config/opencode/opencode.json", "x", "shadowed"),
        ("/.config/opencode/opencode.json", "y", "shadowed"),
        ("/.config/opencode/opencode.jsonc", "x", "disabled"),
        ("/code/it/opencode.json", "y", "shadowed"),
        ("/code/it/opencode.json", "alone", "invalid"),
        ("/code/it/.opencode/opencode.json", "y", "enabled"),
    ]


def test_a_lone_switch_of_opencode_is_no_server() -> None:
    files: dict[str, object] = {"./opencode.json": {"mcp": {"x": {"enabled": True}, "y": LOCAL}}}
    assert states("opencode", files) == {"project x": "invalid", "project y": "enabled"}
    assert "has neither a command nor a URL" in one("opencode", files, "x").reason


def test_a_time_in_the_old_form_costs_opencode_only_its_server() -> None:
    servers = {"x": {**LOCAL, "timeout": 5}, "y": {**LOCAL, "disabled": True}}
    files: dict[str, object] = {"./opencode.json": {"mcp": {"servers": servers}}}
    assert states("opencode", files) == {"project x": "invalid", "project y": "disabled"}


def test_an_entry_that_switches_itself_off_is_disabled_where_it_says_so() -> None:
    text = '{"mcpServers": {"x": {"command": "run",\n "disabled": true}}}'
    status = one("kiro", {"./.kiro/settings/mcp.json": text}, "x")
    assert status.state == "disabled"
    assert status.where == SourceLocation(f"{PROJECT}/.kiro/settings/mcp.json", 2, 2)


GEMINI = {
    "~/.gemini/settings.json": {"mcpServers": {"Files": RUN, "docs": RUN}},
    "~/.gemini/trustedFolders.json": {HOME: "TRUST_FOLDER"},
}


def test_geminis_own_file_switches_off_by_names_in_lower_case() -> None:
    off = {"files": {"enabled": False}, "docs": {"enabled": True}}
    files = {**GEMINI, "~/.gemini/mcp-server-enablement.json": off}
    assert states("gemini", files) == {"user Files": "disabled", "user docs": "enabled"}
    where = one("gemini", files, "Files").where
    assert where == SourceLocation(f"{HOME}/.gemini/mcp-server-enablement.json", 1, 23)


def test_geminis_lists_block_in_any_case() -> None:
    lists = {"./.gemini/settings.json": {"mcp": {"excluded": ["FILES"]}}}
    assert states("gemini", {**GEMINI, **lists}) == {
        "user Files": "blocked",
        "user docs": "enabled",
    }
    lists = {"./.gemini/settings.json": {"mcp": {"allowed": ["files "]}}}
    assert states("gemini", {**GEMINI, **lists}) == {
        "user Files": "enabled",
        "user docs": "blocked",
    }


def test_gemini_uses_no_server_in_a_folder_that_is_not_trusted() -> None:
    def with_rules(rules: object, **environment: str) -> str:
        files = {**GEMINI, "~/.gemini/trustedFolders.json": rules}
        return states("gemini", files, host(**environment))["user docs"]

    assert with_rules({}) == "untrusted"
    assert with_rules([]) == "untrusted"
    assert with_rules("5") == "untrusted"
    assert with_rules({PROJECT: "DO_NOT_TRUST", HOME: "TRUST_FOLDER"}) == "untrusted"
    assert with_rules({f"{HOME}/code/other": "TRUST_PARENT"}) == "enabled"
    assert with_rules({"/": "TRUST_PARENT"}) == "untrusted"
    assert with_rules({}, GEMINI_CLI_TRUST_WORKSPACE="true") == "enabled"
    assert with_rules({PROJECT: "TRUST_FOLDER"}, GEMINI_RESTRICTED_MODE="true") == "untrusted"
    anywhere = {"mcpServers": {"docs": RUN}, "security": {"folderTrust": {"enabled": False}}}
    files = {"~/.gemini/settings.json": anywhere}
    assert states("gemini", files) == {"user docs": "enabled"}


def test_a_name_that_differs_in_case_is_hidden_where_case_does_not_matter() -> None:
    project = {"./.gemini/settings.json": {"mcpServers": {"files": RUN}}}
    assert states("gemini", {**GEMINI, **project}) == {
        "user Files": "shadowed",
        "user docs": "enabled",
        "project files": "enabled",
    }


def test_copilot_reads_one_file_of_a_trusted_folder() -> None:
    files: dict[str, object] = {
        "~/.copilot/mcp-config.json": {"mcpServers": {"x": RUN, "y": RUN}},
        "~/.copilot/settings.json": {"disabledMcpServers": ["y"]},
        "./.github/mcp.json": {"mcpServers": {"x": RUN}},
    }
    assert states("copilot", files)["user x"] == "enabled"
    assert states("copilot", files)["project x"] == "untrusted"
    for word in ("trustedFolders", "trusted_folders"):
        trusted = {**files, "~/.copilot/config.json": {word: ["/elsewhere", HOME]}}
        evaluation = judged("copilot", trusted, host())
        assert [(each.listed.name, str(each.state)) for each in evaluation.statuses] == [
            ("x", "shadowed"),
            ("y", "disabled"),
            ("x", "enabled"),
        ]
        other = {**trusted, "./.mcp.json": {"mcpServers": {"z": RUN}}}
        evaluation = judged("copilot", other, host())
        assert [(each.listed.name, str(each.state)) for each in evaluation.statuses] == [
            ("x", "enabled"),
            ("y", "disabled"),
            ("x", "shadowed"),
            ("z", "enabled"),
        ]
        assert evaluation.statuses[2].reason == f"Copilot CLI reads {PROJECT}/.mcp.json instead"


def test_qwens_list_of_excluded_servers_is_its_switch() -> None:
    files = {
        "~/.qwen/settings.json": {"mcpServers": {"x": RUN, "y": RUN}, "mcp": {"excluded": ["x"]}},
        "./.qwen/settings.json": {"mcp": {"excluded": ["y"]}},
    }
    assert states("qwen", files) == {"user x": "disabled", "user y": "disabled"}
    allowed = {"./.qwen/settings.json": {"mcp": {"allowed": ["y"]}}}
    assert states("qwen", {**files, **allowed})["user y"] == "enabled"


def test_where_no_file_tells_of_trust_the_need_for_it_is_told() -> None:
    status = one("vscode", {"./.vscode/mcp.json": {"servers": {"x": RUN}}}, "x")
    assert status.state == "enabled"
    assert "asks for trust" in status.reason


def test_a_broken_file_costs_only_itself_and_is_told_with_line_and_column() -> None:
    files: dict[str, object] = {
        "~/.claude.json": {"mcpServers": {"x": RUN}},
        "./.mcp.json": '{\n  "mcpServers": [',
        "~/.claude/settings.json": "{,}",
    }
    evaluation = judged("claude", files, host())
    assert [(each.listed.name, each.state) for each in evaluation.statuses] == [("x", "enabled")]
    [broken] = [each for each in evaluation.files if each.problems]
    assert broken.path == f"{PROJECT}/.mcp.json"
    assert broken.problems[0].place == SourceLocation(f"{PROJECT}/.mcp.json", 2, 18)
    [besides] = evaluation.problems
    assert besides.place == SourceLocation(f"{HOME}/.claude/settings.json", 1, 2)


def test_servers_that_are_no_object_break_the_file() -> None:
    evaluation = judged("claude", {"~/.claude.json": {"mcpServers": []}}, host())
    [problem] = evaluation.files[0].problems
    assert "expected an object, found a list" in problem.message


def test_a_file_that_cannot_be_read_is_told() -> None:
    path = f"{HOME}/.cursor/mcp.json"
    fault = Problem("", "is a folder")
    evaluation = judge(client_of("cursor"), host(""), {path: Text(path, fault=fault)})
    [file] = evaluation.files
    assert (file.exists, file.problems, file.statuses) == (True, (fault,), ())


def test_all_servers_of_a_file_that_its_program_cannot_read_are_invalid() -> None:
    text = '{\n  // mine\n  "mcpServers": {"x": {"command": "a"}}\n}'
    status = one("claude", {"./.mcp.json": text}, "x")
    assert status.state == "invalid"
    assert status.reason == "comment: Claude Code cannot read a file with one"
    assert status.where == SourceLocation(f"{PROJECT}/.mcp.json", 2, 3)
