"""The articles of a chapter that a query names by its number, or as 总则 or 附则."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from mcpyard.legal.library import Hit, Library
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.query.titles import Law

_HEADINGS: Final = " > "

Chapters = dict[str, list[Hit]]
"""The articles of each chapter, by its heading with those above it."""


def chapters(
    library: Library, law: Law, version: str, as_of: str, labels: Sequence[str]
) -> Chapters:
    """The chapters that have these labels, in order: a code has a 第三章 in many of its parts."""
    named: Chapters = {}
    for hit in library.whole(DocumentKind.STATUTE, law.title, version, as_of):
        heading = _heading(hit.row, labels)
        if heading and law.part in {"", hit.law.part}:
            named.setdefault(heading, []).append(hit)
    return named


def _heading(row: sqlite3.Row, labels: Sequence[str]) -> str:
    """The headings of an article down to the one with the last label; empty without them all."""
    path = [each for each in (row["part"], *row["headings"].split(_HEADINGS)) if each]
    end = 0
    for label in labels:
        places = (place for place in range(end, len(path)) if _is_named(path[place], label))
        end = next(places, len(path)) + 1
    return _HEADINGS.join(path[:end]) if end <= len(path) else ""


def _is_named(heading: str, label: str) -> bool:
    written = "".join(heading.split())
    return written.startswith(label) or (not label.startswith("第") and written.endswith(label))
