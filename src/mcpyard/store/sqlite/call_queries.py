"""Which lines of the journal are asked for, and in which order."""

import sqlite3
from typing import Any, Final
from uuid import UUID

from mcpyard.domain.stored import FAILED, CallOrder, CallQuery, CallRecord
from mcpyard.store.sql.codec import from_micros, to_micros
from mcpyard.store.sql.sealing import Seal

_COLUMNS: Final = """SELECT calls.at, calls.who, server, server_name, tool, ms, outcome, bytes_in,
    bytes_out, calls.id, sealed IS NOT NULL
    FROM calls LEFT JOIN call_contents ON call_contents.id = calls.id"""

_WHERE: Final = """
    WHERE (:server IS NULL OR server = :server) AND (:tool IS NULL OR tool = :tool)
    AND (:outcome IS NULL OR outcome = :outcome OR (:outcome = :failed AND outcome <> 'ok'))
    AND (:who IS NULL OR calls.who = :who)
    AND calls.id < ifnull(:before, 9223372036854775807)
    AND (:since IS NULL OR calls.at >= :since) AND (:until IS NULL OR calls.at < :until)"""

_TEXT: Final = """
    AND (contains(server_name) OR contains(tool) OR contains(calls.who) OR contains(outcome)
        OR (error IS NOT NULL AND error_contains(error)))"""

_RANKS: Final = {
    CallOrder.TIME: "calls.id",
    CallOrder.DURATION: "ms",
    CallOrder.SIZE: "bytes_in + bytes_out",
    CallOrder.OUTCOME: "outcome",
}
"""What each order sorts by."""


def select_call(connection: sqlite3.Connection, call: int) -> CallRecord | None:
    """One call."""
    row = connection.execute(f"{_COLUMNS} WHERE calls.id = ?", (call,)).fetchone()
    return _record(row) if row else None


def select_calls(connection: sqlite3.Connection, query: CallQuery, seal: Seal) -> list[CallRecord]:
    """The calls asked for."""
    statement = _COLUMNS + _WHERE
    if query.text:
        _search_by(connection, query.text.lower(), seal)
        statement += _TEXT
    direction = "ASC" if query.ascending else "DESC"
    statement += f" ORDER BY {_RANKS[query.order]} {direction}, calls.id DESC"
    statement += " LIMIT :limit OFFSET :offset"
    return [*map(_record, connection.execute(statement, _values(query)))]


def _values(query: CallQuery) -> dict[str, object]:
    return {
        "server": query.server and str(query.server),
        "tool": query.tool,
        "outcome": query.outcome,
        "failed": FAILED,
        "who": query.who,
        "before": query.before,
        "since": query.since and to_micros(query.since),
        "until": query.until and to_micros(query.until),
        "limit": max(query.limit, 0),
        "offset": max(query.offset, 0),
    }


def _search_by(connection: sqlite3.Connection, needle: str, seal: Seal) -> None:
    """Define the functions that search: in any case of any script, and in what is sealed."""

    def contains(text: str) -> bool:
        return needle in text.lower()

    def error_contains(sealed: bytes) -> bool:
        opened = seal.open(sealed)
        return opened is not None and contains(opened.decode())

    connection.create_function("contains", 1, contains)
    connection.create_function("error_contains", 1, error_contains)


def _record(row: tuple[Any, ...]) -> CallRecord:
    at, who, server, *rest = row[:-1]
    return CallRecord(from_micros(at), who, UUID(server), *rest)._replace(recorded=bool(row[-1]))
