"""From what single documents say to the time that each version of a law is in force."""

import sqlite3
from collections import defaultdict
from typing import Final

from mcpyard.legal import tables
from mcpyard.legal.query.titles import key
from mcpyard.legal.times import DateBasis, LawStatus

_STATUTES: Final = """
SELECT id, title, part, version_date, stated_from, stated_until, basis,
    valid_from, valid_until, ended_by
FROM document WHERE kind = 'statute' ORDER BY id
"""
_AMENDMENT: Final = "修正案"
_WRITE: Final = """
UPDATE document SET valid_from = ?, valid_until = ?, ended_by = ?, basis = ? WHERE id = ?
"""


def settle(connection: sqlite3.Connection) -> None:
    """Write down when each version begins and ends; all versions are looked at together.

    A version begins on the day that its file, its text or the table says, otherwise on its own day.
    It ends when the next one begins, or when its law is repealed.
    """
    rows: list[sqlite3.Row] = connection.execute(_STATUTES).fetchall()
    begins = _begins(rows)
    repeals = _repeals(connection)
    versions: dict[tuple[str, str], list[sqlite3.Row]] = defaultdict(list)
    for row in rows:
        versions[row["title"], row["part"]].append(row)
    for (title, _), several in versions.items():
        ordered = sorted(several, key=lambda row: (begins[row["id"]][0], row["version_date"]))
        following = [begins[row["id"]][0] for row in ordered[1:]] + [""]
        for row, successor in zip(ordered, following, strict=True):
            begin, basis = begins[row["id"]]
            until, end = _end(row["stated_until"], successor, repeals.get(key(title), ""))
            times = (begin, until, end, basis)
            if times != (row["valid_from"], row["valid_until"], row["ended_by"], row["basis"]):
                connection.execute(_WRITE, (*times, row["id"]))


def _begins(rows: list[sqlite3.Row]) -> dict[int, tuple[str, str]]:
    """The first day of each version and what it rests on; the parts of a code begin together."""
    stated: dict[tuple[str, str], tuple[str, str]] = {}
    for row in rows:
        if row["stated_from"]:
            stated.setdefault((row["title"], row["version_date"]), _stated(row))
    begins: dict[int, tuple[str, str]] = {}
    for row in rows:
        title, day = row["title"], row["version_date"]
        listed = tables.in_force_dates().get((key(title), day), "")
        own = stated.get((title, day))
        if own and own[1] == DateBasis.FILE:
            begins[row["id"]] = own
        elif listed and (own is None or own[0] != listed):
            # Better than the text's own day, which may be that of the law as it once was.
            begins[row["id"]] = (listed, DateBasis.TABLE)
        else:
            begins[row["id"]] = own or _amended(row, stated) or (day, DateBasis.ASSUMED)
    return begins


def _stated(row: sqlite3.Row) -> tuple[str, str]:
    """The day that a document itself says; what was settled before is no basis of it."""
    is_file = row["basis"] == DateBasis.FILE
    return row["stated_from"], DateBasis.FILE if is_file else DateBasis.TEXT


def _amended(
    row: sqlite3.Row, stated: dict[tuple[str, str], tuple[str, str]]
) -> tuple[str, str] | None:
    """The day that the amendment says of which a version is the result: it bears the same date."""
    days = [
        day
        for (title, version), day in stated.items()
        if version == row["version_date"] and title.startswith(row["title"] + _AMENDMENT)
    ]
    return days[0] if days else None


def _repeals(connection: sqlite3.Connection) -> dict[str, str]:
    """The last day of each repealed law: as a text of the corpus says, or the table."""
    days = {name: each.day for name, each in tables.repeals().items() if each.day}
    statements = connection.execute(
        "SELECT repeal.name, coalesce(nullif(stated_from, ''), version_date)"
        " FROM repeal JOIN document ON document.id = repeal.document ORDER BY 2"
    )
    for name, day in statements:
        days.setdefault(name, day)
    return days


def _end(stated: str, successor: str, repeal: str) -> tuple[str, str]:
    if stated:
        return stated, LawStatus.REPEALED
    if successor:
        return successor, LawStatus.SUPERSEDED
    return (repeal, LawStatus.REPEALED) if repeal else ("", "")
