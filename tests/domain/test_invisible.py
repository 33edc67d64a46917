"""Characters that nobody sees are shown."""

import json

import pytest

from mcpyard.cli.commands.call import print_content
from mcpyard.cli.output import clean
from mcpyard.domain.invisible import visible
from mcpyard.web.filters import inert
from mcpyard.web.server_screens.tool_results import blocks_of
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
    [block] = blocks_of(Outcome(raw=raw, server="a", tool="b", ms=1))
    assert block.text == f"text/{MARK}plain (0 B)"
