import json

import pytest

from mcpyard.domain.errors import EditRefused, ServerUnknown
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import (
    is_on,
    renamed,
    set_enabled,
    switch_location,
    switch_words,
    switched_off,
)
from mcpyard.formats.warnings import WarningKind

CODEX = '[mcp_servers.x]\ncommand = "a" # mine\nenabled = true\n\n[mcp_servers.y]\ncommand = "b"\n'


def test_codex_has_a_field_for_it() -> None:
    ref = scope_ref_of("codex")
    off = set_enabled(ref, CODEX, "x", enabled=False)
    assert off.text == CODEX.replace("true", "false")
    assert off.warnings == ()
    assert set_enabled(ref, off.text, "x", enabled=True).text == CODEX
    assert set_enabled(ref, CODEX, "x", enabled=True).text == CODEX
    assert set_enabled(ref, CODEX, "y", enabled=True).text == CODEX
    assert set_enabled(ref, CODEX, "y", enabled=False).text == CODEX + "enabled = false\n"


def test_opencode_has_a_field_for_it_in_each_of_its_shapes() -> None:
    ref = scope_ref_of("opencode")
    first = '{"mcp": {"x": {"type": "local", "command": ["a"], "enabled": true}}}'
    assert '"enabled": false' in set_enabled(ref, first, "x", enabled=False).text
    second = '{"mcp": {"servers": {"x": {"type": "local", "command": ["a"]}}}}'
    off = set_enabled(ref, second, "x", enabled=False).text
    assert json.loads(off)["mcp"]["servers"]["x"]["disabled"] is True


def test_the_word_that_stands_in_the_entry_is_the_one_that_is_changed() -> None:
    text = '{"mcpServers": {"x": {"command": "a", "disabled": true}}}'
    on = set_enabled(scope_ref_of("yard:project"), text, "x", enabled=True).text
    assert on == text.replace("true", "false")


def test_a_server_that_is_not_there_cannot_be_switched() -> None:
    with pytest.raises(ServerUnknown, match='no server "z" in codex:user'):
        set_enabled(scope_ref_of("codex"), CODEX, "z", enabled=False)


def test_what_is_no_entry_cannot_be_switched() -> None:
    with pytest.raises(EditRefused):
        set_enabled(scope_ref_of("kiro"), '{"mcpServers": {"x": 5}}', "x", enabled=False)


def test_claude_keeps_a_list_for_each_project() -> None:
    ref = scope_ref_of("claude", "/srv/it")
    off = set_enabled(ref, '{"numStartups": 1}', "x", enabled=False)
    assert json.loads(off.text) == {
        "numStartups": 1,
        "projects": {"/srv/it": {"disabledMcpServers": ["x"]}},
    }
    assert [each.kind for each in off.warnings] == [WarningKind.RELOCATED]
    assert switched_off(ref, off.text) == {"x"}
    assert not is_on(ref, "x", frozenset({"x"}))
    assert set_enabled(ref, off.text, "x", enabled=False).text == off.text
    on = set_enabled(ref, off.text, "x", enabled=True)
    assert switched_off(ref, on.text) == frozenset()
    assert [each.kind for each in on.warnings] == [WarningKind.RELOCATED]


def test_claude_needs_to_know_the_project() -> None:
    with pytest.raises(EditRefused, match="stores it per project; specify one"):
        set_enabled(scope_ref_of("claude"), "", "x", enabled=False)


def test_claude_has_two_lists_for_what_a_project_shares() -> None:
    ref = scope_ref_of("claude:project")
    location = switch_location(ref)
    assert location is not None
    assert location.templates == ("{project}/.claude/settings.local.json",)
    off = set_enabled(ref, '{"enabledMcpjsonServers": ["x", "y"]}', "x", enabled=False)
    assert json.loads(off.text) == {
        "enabledMcpjsonServers": ["y"],
        "disabledMcpjsonServers": ["x"],
    }
    assert [each.kind for each in off.warnings] == [WarningKind.RELOCATED]
    on = set_enabled(ref, off.text, "x", enabled=True)
    assert json.loads(on.text) == {
        "enabledMcpjsonServers": ["y", "x"],
        "disabledMcpjsonServers": [],
    }
    kinds = [each.kind for each in on.warnings]
    assert kinds == [WarningKind.RELOCATED, WarningKind.NEEDS_TRUST]


def test_gemini_has_a_file_of_its_own_with_names_in_lower_case() -> None:
    ref = scope_ref_of("gemini")
    off = set_enabled(ref, "", "Files", enabled=False).text
    assert json.loads(off) == {"files": {"enabled": False}}
    assert not is_on(ref, "Files", switched_off(ref, off))
    on = set_enabled(ref, off, "Files", enabled=True).text
    assert json.loads(on) == {"files": {"enabled": True}}
    assert is_on(ref, "Files", switched_off(ref, on))
    assert set_enabled(ref, on, "Files", enabled=True).text == on
    assert set_enabled(ref, "{}", "Files", enabled=True).text == "{}"


def test_a_list_that_is_none_is_not_overwritten() -> None:
    with pytest.raises(EditRefused, match="disabledMcpServers: expected a list, found a string"):
        set_enabled(scope_ref_of("copilot"), '{"disabledMcpServers": "x"}', "x", enabled=False)
    assert switched_off(scope_ref_of("copilot"), '{"disabledMcpServers": "x"}') == frozenset()


def test_where_entries_speak_for_themselves_no_other_file_does() -> None:
    assert switched_off(scope_ref_of("codex"), CODEX) == frozenset()
    assert switched_off(scope_ref_of("gemini"), "[]") == frozenset()


def test_what_no_file_says_cannot_be_written() -> None:
    with pytest.raises(EditRefused, match="Cursor stores it in its internal settings"):
        set_enabled(scope_ref_of("cursor"), "{}", "x", enabled=False)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("claude", "projects.<project>.disabledMcpServers of ~/.claude.json"),
        ("gemini", "~/.gemini/mcp-server-enablement.json"),
        ("copilot", "disabledMcpServers of ~/.copilot/settings.json"),
        ("codex", "~/.codex/config.toml"),
        ("cursor", "the settings of Cursor itself"),
        ("yard", "the settings of mcpyard itself"),
    ],
)
def test_where_a_server_is_switched_can_be_read(words: str, expected: str) -> None:
    assert switch_words(scope_ref_of(words)) == expected


def test_null_in_the_place_of_a_list_or_a_map_can_be_written_to() -> None:
    copilot = set_enabled(
        scope_ref_of("copilot"), '{"disabledMcpServers": null}', "x", enabled=False
    )
    assert copilot.text == '{"disabledMcpServers": ["x"]}'
    qwen = set_enabled(scope_ref_of("qwen"), '{"mcp": null}', "x", enabled=False)
    assert qwen.text == '{"mcp": {"excluded": ["x"]}}'
    gemini = set_enabled(scope_ref_of("gemini"), '{"x": null}', "x", enabled=False)
    assert gemini.text == '{"x": {"enabled": false}}'


def test_a_name_leaves_lists_and_maps_or_gets_another() -> None:
    qwen = scope_ref_of("qwen")
    text = '{"mcp": {"excluded": ["a", /* x */ "x", "b"]}}'
    assert renamed(qwen, text, "x", None) == '{"mcp": {"excluded": ["a", /* x */ "b"]}}'
    assert renamed(qwen, text, "x", "y") == text.replace('"x"', '"y"')
    assert renamed(qwen, text, "x", "b") == renamed(qwen, text, "x", None)
    assert renamed(qwen, text, "z", None) == text
    claude = scope_ref_of("claude:project", "/p")
    both = '{"enabledMcpjsonServers": ["x"], "disabledMcpjsonServers": ["y"]}'
    assert renamed(claude, both, "x", "z") == both.replace('"x"', '"z"')
    gemini = scope_ref_of("gemini")
    marks = '{"x": {"enabled": false}, "b": {"enabled": true}}'
    assert renamed(gemini, marks, "X", None) == '{"b": {"enabled": true}}'
    assert renamed(gemini, marks, "X", "New") == marks.replace('"x"', '"new"')
    assert renamed(gemini, marks, "x", "X") == marks
    assert renamed(gemini, marks, "x", "b") == '{"b": {"enabled": true}}'
    assert renamed(gemini, marks, "z", None) == marks
    assert renamed(scope_ref_of("codex"), CODEX, "x", None) == CODEX
    assert renamed(scope_ref_of("claude"), both, "x", None) == both
