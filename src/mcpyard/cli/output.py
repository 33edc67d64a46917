"""What commands print: tables on a terminal, aligned text elsewhere.

Texts of servers are cleaned of control characters first: what a server says must not be able to
move the cursor or to repaint the terminal.
"""

import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """A text that a terminal only shows."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """The first line of a text, cleaned."""
    return clean(text.strip().split("\n", 1)[0].replace("\t", " ").rstrip("\r"))


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under their heads."""
    if sys.stdout.isatty():
        _rich_table(head, rows)
    else:
        for line in aligned([head, *rows]):
            print(line)


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
    from rich.text import Text

    from mcpyard.cli.words import style_of

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for each in head:
        shown.add_column(each, overflow="fold")
    for row in rows:
        shown.add_row(Text(row[0], style=style_of(row[0])), *map(Text, row[1:]))
    Console().print(shown)
