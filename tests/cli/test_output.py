"""Tables on terminals of any width."""

import re
import sys

import pytest

from mcpyard.cli.output import table

HEAD = ("STATUS", "NAME", "TRANSPORT", "TOOLS", "WHERE OR WHY")
ROWS = [
    ("connected", "filesystem", "stdio", "14", "npx -y server /home/me"),
    ("retrying", "a-rather-long-name", "stdio", "0", ""),
]


def shown_in(columns: int, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    patch.setattr(sys.stdout, "isatty", lambda: True)
    patch.setenv("COLUMNS", str(columns))
    table(HEAD, ROWS)
    return re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out)


def test_a_wide_terminal_gets_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [each.split() for each in shown_in(100, monkeypatch, capsys).splitlines()]
    assert ["connected", "filesystem", "stdio", "14", "npx", "-y", "server", "/home/me"] in lines


@pytest.mark.parametrize("columns", [20, 36, 60])
def test_a_narrow_terminal_breaks_no_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    lines = shown_in(columns, monkeypatch, capsys).splitlines()
    assert lines[:4] == [
        "connected filesystem",
        "  transport: stdio",
        "  tools: 14",
        "  where or why: npx -y server /home/me",
    ]
    assert lines[4] == "retrying a-rather-long-name"


@pytest.mark.parametrize("terminal", [True, False])
def test_line_ends_in_a_cell_do_not_break_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", "100")
    table(("NAME", "WHERE"), [("a", 'python -c "import os\nprint(1)\r\n\tprint(2)"'), ("b\n", "x")])
    lines = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    rows = [" ".join(each.split()) for each in lines]
    assert [each for each in rows if each][-2:] == [
        'a python -c "import os print(1) print(2)"',
        "b x",
    ]
