"""What commands print: tables on a terminal, aligned text elsewhere.

Control and invisible characters are replaced in the texts of servers, which could otherwise move
the cursor, repaint the terminal or hide something.
"""

import sys
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mcpyard.domain.invisible import visible as clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_GAP: Final = 3
_LEAST_FOR_THE_LAST: Final = 16
"""Columns of a terminal; with less left for it, the last column of a table is unreadable."""


def one_line(text: str) -> str:
    """The first line of a text, cleaned."""
    return clean(text.strip().split("\n", 1)[0].replace("\t", " ").rstrip("\r"))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], empty: str = "") -> None:
    """Print rows under their heads; where there are none, a sentence on standard error.

    Each row is one line, whatever line ends its cells have.
    """
    cells = [[*map(_cell, row)] for row in rows]
    if empty and not rows:
        print(empty, file=sys.stderr)
    elif sys.stdout.isatty():
        _rich_table(head, cells)
    else:
        for line in aligned([head, *cells]):
            print(line)


def _cell(text: str) -> str:
    return " ".join(text.splitlines()).replace("\t", " ")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns stand under each other."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + " " * (size - width(cell)) for cell, size in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(each) in "WF" for each in text)
    return len(text) + wide - sum(unicodedata.combining(each) > 0 for each in text)


def _rich_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    used = sum(max(map(width, column)) + _GAP for column in [*zip(head, *rows, strict=True)][:-1])
    if console.width - used < _LEAST_FOR_THE_LAST:
        _stack(console, head, rows)
        return
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for each in head[:-1]:
        grid.add_column(each, no_wrap=True)
    grid.add_column(head[-1], overflow="fold")
    for row in rows:
        grid.add_row(_status(row[0]), *map(_plain, row[1:]))
    console.print(grid)


def _stack(console: "Console", head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A row as a block of its own: on a narrow terminal columns would break in mid-word."""
    for first, name, *rest in rows:
        console.print(_status(first), _plain(name), soft_wrap=True)
        for key, value in zip(head[2:], rest, strict=True):
            if value:
                console.print(_plain(f"  {key.lower()}: {value}"), soft_wrap=True)


def _status(word: str) -> "Text":
    from rich.text import Text

    from mcpyard.cli.status_words import style_of

    return Text(word, style=style_of(word))


def _plain(text: str) -> "Text":
    from rich.text import Text

    return Text(text)
