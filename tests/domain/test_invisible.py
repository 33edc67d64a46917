"""Characters that nobody sees are shown."""

import json

import pytest

from mcpyard.cli.commands.call import print_content
from mcpyard.cli.output import clean
from mcpyard.domain.invisible import escaped_json, visible
from mcpyard.web.filters import inert
from mcpyard.web.server_screens.tool_results import outcome_blocks
from mcpyard.yard.calls.outcome import Outcome

MARK = "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    "hidden",
    [
        *("\x00", "\x07", "\r", "\x9b", "\xad", "\u061c", "\u200b", "\u200d", "\u202e", "\u2066"),
        *("\u2028", "\ufeff", "\u3164", "\ud800", "\U000e0041", "\U000e01ef", "\ufff9"),
    ],
)
def test_an_invisible_character_is_replaced_in_terminals_and_on_the_page(hidden: str) -> None:
    text = f"a{hidden}b"
    assert visible(text) == clean(text) == inert(text) == f"a{MARK}b"


@pytest.mark.parametrize("hidden", ["\x9b", "\xad", "\u202e", "\ufeff", "\U000e0041", "\ufe0f" * 3])
def test_json_has_escapes_for_what_nobody_sees_and_the_same_values(hidden: str) -> None:
    value = {f"a{hidden}": [f"中文{hidden}", "\r\x00"]}
    text = json.dumps(value, ensure_ascii=False, indent=1).replace("\n", "\r\n")
    escaped = escaped_json(text)
    assert json.loads(escaped) == value
    assert visible(escaped) == escaped
    assert "中文" in escaped


def test_what_is_seen_stays() -> None:
    text = "tab\tand\nline, 中文, \N{HEAVY CHECK MARK}\ufe0f, e\u0301"
    assert visible(text) == text
    assert visible("x\ufe0f\ufe00\ufe01") == f"x\ufe0f{MARK}{MARK}"


def test_what_a_tool_returns_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    steering = "\x1b[2J\U000e0041"
    print_content({"content": [{"type": steering, "a": steering}, {"text": steering}, steering]})
    output = capsys.readouterr().out
    assert not {"\x1b", "\U000e0041"} & {*output}
    assert output.startswith(f"[{MARK}[2J{MARK}] ")


def test_the_media_type_of_a_resource_is_inert_on_the_page() -> None:
    resource = {"uri": "a:b", "mimeType": "text/\u202eplain", "blob": ""}
    raw = json.dumps({"content": [{"type": "resource", "resource": resource}]}).encode()
    [block] = outcome_blocks(Outcome(raw=raw, server="a", tool="b", ms=1))
    assert block.text == f"text/{MARK}plain (0 B)"
