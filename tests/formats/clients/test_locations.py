import re

import pytest

from mcpyard.domain.errors import InputError
from mcpyard.formats.locations import ClientFolders, candidates
from mcpyard.formats.registry import CLIENTS, client_of, scope_ref_of

IDS = (
    "claude-code codex gemini opencode copilot claude-desktop cursor vscode windsurf zed qwen cline"
    " roo kiro amp kilo qoder auggie openclaw kimi nanocoder droid antigravity pi mastracode junie"
    " ai-assistant lmstudio trae warp codebuddy copilot-jetbrains devin rovodev grok vibe"
    " goose continue hermes yard"
)


def path(words: str, platform: str = "linux", **environment: str) -> str:
    location = scope_ref_of(words).scope.location
    assert location is not None
    return candidates(location, ClientFolders(environment, "/home/me", "/srv/it", platform))[0]


def test_every_client_that_others_rely_on_is_there() -> None:
    assert [client.id for client in CLIENTS] == IDS.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("claude", "/home/me/.claude.json"),
        ("claude-code:local", "/home/me/.claude.json"),
        ("claude:project", "/srv/it/.mcp.json"),
        ("codex", "/home/me/.codex/config.toml"),
        ("codex:project", "/srv/it/.codex/config.toml"),
        ("gemini:user", "/home/me/.gemini/settings.json"),
        ("goose", "/home/me/.config/goose/config.yaml"),
        ("continue", "/home/me/.continue/config.yaml"),
        ("hermes", "/home/me/.hermes/config.yaml"),
        ("opencode", "/home/me/.config/opencode/opencode.json"),
        ("claude-desktop", "/home/me/.config/Claude/claude_desktop_config.json"),
        ("copilot", "/home/me/.copilot/mcp-config.json"),
        ("cursor:project", "/srv/it/.cursor/mcp.json"),
        ("vscode", "/home/me/.config/Code/User/mcp.json"),
        ("vscode:shared", "/srv/it/.mcp.json"),
        ("qwen", "/home/me/.qwen/settings.json"),
        ("qwen:project", "/srv/it/.qwen/settings.json"),
        ("qwen:shared", "/srv/it/.mcp.json"),
        ("kilo", "/home/me/.config/kilo/kilo.json"),
        ("qoder:local", "/srv/it/.qoder/settings.local.json"),
        ("auggie", "/home/me/.augment/settings.json"),
        ("openclaw", "/home/me/.openclaw/openclaw.json"),
        ("kimi", "/home/me/.kimi-code/mcp.json"),
        ("nanocoder", "/home/me/.config/nanocoder/.mcp.json"),
        ("droid:project", "/srv/it/.factory/mcp.json"),
        ("antigravity:project", "/srv/it/.agents/mcp_config.json"),
        ("pi", "/home/me/.pi/agent/mcp.json"),
        ("mastracode", "/home/me/.mastracode/mcp.json"),
        ("junie:project", "/srv/it/.junie/mcp/mcp.json"),
        ("ai-assistant", "/srv/it/.ai/mcp/mcp.json"),
        ("lmstudio", "/home/me/.lmstudio/mcp.json"),
        ("trae", "/home/me/.config/Trae/User/mcp.json"),
        ("warp", "/home/me/.warp/.mcp.json"),
        ("codebuddy:local", "/home/me/.codebuddy.json"),
        ("copilot-jetbrains", "/home/me/.config/github-copilot/intellij/mcp.json"),
        ("devin:project", "/srv/it/.devin/mcp_config.json"),
        ("rovodev", "/home/me/.rovodev/mcp.json"),
        ("grok", "/home/me/.grok/config.toml"),
        ("vibe", "/home/me/.vibe/config.toml"),
        ("yard:project", "/srv/it/.mcp.json"),
    ],
)
def test_a_file_is_where_its_program_looks(words: str, expected: str) -> None:
    assert path(words) == expected


def test_variables_move_files_as_the_programs_have_it() -> None:
    assert path("codex", CODEX_HOME="/x") == "/x/config.toml"
    assert path("claude", CLAUDE_CONFIG_DIR="/x") == "/x/.claude.json"
    assert path("opencode", XDG_CONFIG_HOME="/x") == "/x/opencode/opencode.json"
    assert path("copilot", COPILOT_HOME="/x") == "/x/mcp-config.json"
    assert path("qwen", QWEN_HOME="/x") == "/x/settings.json"
    assert path("codex", CODEX_HOME="") == "/home/me/.codex/config.toml"


def test_each_system_has_its_own_folder_for_settings() -> None:
    mac = "/home/me/Library/Application Support/Claude/claude_desktop_config.json"
    assert path("claude-desktop", "darwin") == mac
    windows = path("claude-desktop", "win32", APPDATA="C:/Roaming")
    assert windows == "C:/Roaming/Claude/claude_desktop_config.json"
    assert path("claude-desktop", "win32").startswith("/home/me/AppData/Roaming/")


def test_a_file_can_have_several_names() -> None:
    location = scope_ref_of("opencode:project").scope.location
    assert location is not None
    paths = candidates(location, ClientFolders({}, "/home/me", "/srv/it"))
    assert paths[:2] == ("/srv/it/opencode.json", "/srv/it/opencode.jsonc")


def test_the_private_servers_of_a_project_stand_under_its_folder() -> None:
    assert scope_ref_of("claude:local", "/srv/it").above == ("projects", "/srv/it")
    assert str(scope_ref_of("claude:local")) == "claude-code:local"


def test_an_alias_is_the_client() -> None:
    assert client_of("claude") is client_of("claude-code")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nobody", 'client: "nobody" is unknown; expected one of claude-code, codex'),
        ("codex:local", 'scope: Codex has no scope "local"; one of user, project'),
    ],
)
def test_unknown_words_are_refused_with_the_known_ones(words: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        scope_ref_of(words)
