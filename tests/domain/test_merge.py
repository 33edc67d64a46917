import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.definition.merge import merged, plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.secret_text import shown_url
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig, ToolPolicy, Transport

LOCAL = LocalConfig(
    command=["npx", "-y"], environment={"A": "1", "B": "2"}, cwd="/d", timeout=5, enabled=False
)
REMOTE = RemoteConfig(url="http://h", headers={"X": "secret"}, transport=Transport.SSE)
TUNED = LocalConfig(
    command=["x"],
    start_timeout=7,
    tools={"t": ToolPolicy(enabled=False, progress_extends=True)},
)


@pytest.mark.parametrize(
    "config",
    [
        LOCAL,
        REMOTE,
        LocalConfig(command=["x"]),
        RemoteConfig(url="http://h"),
        LocalConfig(
            command=["x"], tools={"t": ToolPolicy(enabled=False, timeout=3)}, concurrency=1
        ),
    ],
)
def test_a_plain_definition_reads_back_as_it_was(config: Config) -> None:
    assert read_definition(plain(config)).config == config
    assert merged(config, {}).config == config


@pytest.mark.parametrize(
    ("config", "patch", "expected"),
    [
        (LOCAL, {"command": "uvx"}, {"command": ["uvx", "-y"]}),
        (LOCAL, {"command": ["a", "b"]}, {"command": ["a", "b"]}),
        (LOCAL, {"args": None}, {"command": ["npx"]}),
        (LOCAL, {"args": ["z"], "timeout": 9}, {"command": ["npx", "z"], "timeout": 9}),
        (LOCAL, {"env": {"A": None, "C": "3"}}, {"environment": {"B": "2", "C": "3"}}),
        (LOCAL, {"environment": {"A": "9"}}, {"environment": {"A": "9", "B": "2"}}),
        (LOCAL, {"env": {"A": {"masked": True}}}, {}),
        (LOCAL, {"env": None, "cwd": None}, {"environment": {}, "cwd": None}),
        (LOCAL, {"enabled": True}, {"enabled": True}),
        (LOCAL, {"timeout": None}, {"timeout": 30000}),
        (
            REMOTE,
            {"headers": {"X": {"masked": True, "hint": ""}, "Y": "z"}},
            {"headers": {"X": "secret", "Y": "z"}},
        ),
        (REMOTE, {"transport": "http"}, {"transport": Transport.HTTP}),
        (REMOTE, {"url": "http://g", "transport": "sse"}, {"url": "http://g"}),
        (REMOTE, {"type": "http"}, {"transport": Transport.HTTP}),
        (LOCAL, {"disabled": False}, {"enabled": True}),
        (LOCAL, {"disabled": None}, {"enabled": True}),
        (TUNED, {"startTimeout": 8}, {"start_timeout": 8}),
        (TUNED, {"start_timeout": 8}, {"start_timeout": 8}),
        (TUNED, {"startTimeout": None}, {"start_timeout": None}),
        (
            TUNED,
            {"tools": {"t": {"progressExtends": False}}},
            {"tools": {"t": ToolPolicy(enabled=False, progress_extends=False)}},
        ),
        (TUNED, {"tools": {"t": None}}, {"tools": {}}),
    ],
)
def test_a_patch_changes_what_it_names_and_nothing_else(
    config: Config, patch: dict[str, object], expected: dict[str, object]
) -> None:
    assert merged(config, patch).config == config.model_copy(update=expected)


def test_a_server_can_become_one_of_the_other_kind() -> None:
    remote = merged(
        LOCAL, {"command": None, "args": None, "env": None, "cwd": None, "url": "http://h"}
    )
    assert remote.config == RemoteConfig(url="http://h", timeout=5, enabled=False)
    local = merged(REMOTE, {"url": None, "headers": None, "command": "x"})
    assert local.config == LocalConfig(command=["x"])


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"id": "x"}, "id: cannot be changed"),
        ({"status": "connected"}, "status: cannot be changed"),
        ({"env": {"NEW": {"masked": True}}}, "env.NEW: is masked, but no value is stored"),
        ({"env": {"A": 3}}, "env.A: expected a string"),
        ({"command": ""}, "command: must not be empty"),
        ({"command": None}, "command: is missing, and so is url"),
        ({"timeout": -1}, "timeout: must be greater than 0"),
    ],
)
def test_a_wrong_patch_is_refused_with_the_field_named(
    patch: dict[str, object], problem: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        merged(LOCAL, patch)
    assert str(caught.value).startswith(problem)


@given(
    st.dictionaries(
        st.sampled_from(["env", "args", "command", "timeout", "tools"]),
        st.none()
        | st.integers()
        | st.text()
        | st.lists(st.text())
        | st.dictionaries(st.text(), st.text() | st.none()),
    )
)
def test_no_patch_breaks_anything_but_itself(patch: dict[str, object]) -> None:
    try:
        changed = merged(LOCAL, patch).config
    except DefinitionError as error:
        changed = LOCAL
        problems = error.problems
    else:
        problems = ()
    assert problems or read_definition(plain(changed)).config == changed


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("http://h:80/mcp?a=1", "http://h:80/mcp?a=1"),
        ("https://user:pw@h/mcp", "https://user:***@h/mcp"),
        ("https://h/mcp?api_key=abc&x=1", "https://h/mcp?api_key=***&x=1"),
        ("https://h/mcp?x=1&Token=abc#f", "https://h/mcp?x=1&Token=***#f"),
        ("https://h/mcp?token=${T}", "https://h/mcp?token=${T}"),
        ("https://u:${PW}@h/", "https://u:${PW}@h/"),
        ("http://h:80/mcp?token=abc", "http://h:80/mcp?token=***"),
        ("https://u:pw@h:80/mcp?a=1&key=abc", "https://u:***@h:80/mcp?a=1&key=***"),
        ("https://h/mcp?a=b?key=abc", "https://h/mcp?a=b?key=***"),
        ("https://h/mcp?token=&key", "https://h/mcp?token=&key"),
    ],
)
def test_secrets_in_an_address_are_not_shown(url: str, masked: str) -> None:
    assert shown_url(url) == masked
    unchanged = merged(RemoteConfig(url=url), {"url": masked, "timeout": 5})
    assert unchanged.config == RemoteConfig(url=url, timeout=5)


def test_an_address_can_be_changed_all_the_same() -> None:
    secret = RemoteConfig(url="https://u:pw@h/")
    assert merged(secret, {"url": "https://u:new@h/"}).config == RemoteConfig(
        url="https://u:new@h/"
    )
