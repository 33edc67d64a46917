"""The tables, migration by migration.

A migration that was released is never edited: a change of the tables is a new one at the end.
Times are microseconds since 1970, ids the text of a UUID, JSON the text of an object.
"""

import contextlib
import sqlite3
from collections.abc import Callable
from typing import Final

from mcpyard.domain.definition.old_names import renamed_throughout
from mcpyard.store.sql.codec import from_text, to_text
from mcpyard.store.sql.rows import UNREADABLE

Step = str | Callable[[sqlite3.Connection], None]
Migration = tuple[Step, ...]
"""The statements and changes that lead from one version to the next; one transaction."""

NO_ENTRIES: Final = "{}"
"""Stands in an approval for entries; those are rows of their own."""

_STATE_1: Final = (
    """CREATE TABLE definitions (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL,
        digest TEXT NOT NULL) STRICT""",
    """CREATE TABLE identities (
        scope TEXT NOT NULL, place TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
        PRIMARY KEY (scope, place, name)) STRICT""",
    """CREATE TABLE exposed_names (
        server TEXT NOT NULL, tool TEXT NOT NULL, name TEXT NOT NULL,
        PRIMARY KEY (server, tool)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE tools (
        server TEXT PRIMARY KEY, tools BLOB NOT NULL, digest TEXT NOT NULL) STRICT""",
    "CREATE TABLE reached (launch TEXT PRIMARY KEY, era TEXT NOT NULL, transport TEXT) STRICT",
    "CREATE TABLE policies (server TEXT PRIMARY KEY, policy TEXT NOT NULL) STRICT",
    "CREATE TABLE profiles (name TEXT PRIMARY KEY, profile TEXT NOT NULL) STRICT",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, profile TEXT,
        created INTEGER NOT NULL, last_used INTEGER, revoked INTEGER) STRICT""",
    "CREATE UNIQUE INDEX token_names ON tokens (name) WHERE revoked IS NULL",
    """CREATE TABLE login_sessions (
        cookie_hash TEXT PRIMARY KEY, key_hash TEXT NOT NULL, created INTEGER NOT NULL,
        expires INTEGER NOT NULL) STRICT""",
    """CREATE TABLE login_links (
        hash TEXT PRIMARY KEY, expires INTEGER NOT NULL, used INTEGER) STRICT""",
    """CREATE TABLE approvals (
        folder TEXT PRIMARY KEY, digest TEXT NOT NULL, at INTEGER NOT NULL) STRICT""",
    """CREATE TABLE credentials (
        number INTEGER PRIMARY KEY AUTOINCREMENT, issuer TEXT NOT NULL, resource TEXT NOT NULL,
        sealed BLOB NOT NULL, UNIQUE (resource, issuer)) STRICT""",
    """CREATE TABLE edits (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL,
        kind TEXT NOT NULL, path TEXT NOT NULL, before_digest TEXT, after_digest TEXT,
        undone INTEGER NOT NULL DEFAULT 0, before BLOB, after BLOB) STRICT""",
)

_JOURNAL_1: Final = (
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, server TEXT NOT NULL,
        server_name TEXT NOT NULL, tool TEXT NOT NULL, ms REAL NOT NULL, outcome TEXT NOT NULL,
        bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL) STRICT""",
)

_JOURNAL_2: Final = ("CREATE INDEX callers ON calls (who)",)

_JOURNAL_3: Final = (
    "CREATE TABLE call_progress (counted INTEGER NOT NULL) STRICT",
    "INSERT INTO call_progress VALUES (0)",
    "CREATE TABLE call_servers (number INTEGER PRIMARY KEY, server TEXT NOT NULL UNIQUE) STRICT",
    """CREATE TABLE call_minutes (
        minute INTEGER NOT NULL, server INTEGER NOT NULL, outcome TEXT NOT NULL,
        bucket INTEGER NOT NULL, calls INTEGER NOT NULL,
        PRIMARY KEY (server, minute, outcome, bucket)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE usage_minutes (
        minute INTEGER NOT NULL, number INTEGER NOT NULL, rss INTEGER NOT NULL, cpu REAL NOT NULL,
        PRIMARY KEY (number, minute)) STRICT, WITHOUT ROWID""",
)

_JOURNAL_4: Final = (
    """CREATE TABLE call_contents (
        id INTEGER PRIMARY KEY REFERENCES calls (id) ON DELETE CASCADE,
        at INTEGER NOT NULL, who TEXT NOT NULL, size INTEGER NOT NULL,
        error BLOB, sealed BLOB NOT NULL) STRICT""",
)

_STATE_2: Final = (
    "ALTER TABLE edits ADD COLUMN unit INTEGER NOT NULL DEFAULT 0",
    "UPDATE edits SET unit = id",
    "CREATE INDEX edit_units ON edits (unit)",
    """CREATE TABLE left_out (
        place TEXT NOT NULL, name TEXT NOT NULL, client TEXT NOT NULL, mark TEXT NOT NULL,
        fields TEXT NOT NULL, PRIMARY KEY (place, name)) STRICT""",
)

_STATE_3: Final = (
    """CREATE TABLE renames (
        scope TEXT NOT NULL, place TEXT NOT NULL, name TEXT NOT NULL, new TEXT NOT NULL,
        PRIMARY KEY (scope, place, name)) STRICT""",
)

_STATE_4: Final = ("CREATE TABLE offers (server TEXT PRIMARY KEY, offer BLOB NOT NULL) STRICT",)

_STATE_5: Final = (
    "ALTER TABLE edits DROP COLUMN before_digest",
    "ALTER TABLE edits DROP COLUMN after_digest",
)

WHOLE_FOLDER: Final = """digest = 'trusted' AND NOT EXISTS (
    SELECT 1 FROM approvals AS other
    WHERE other.digest = 'reviewed' AND other.folder = approvals.folder || '/.mcp.json')"""
"""Which approvals of the first versions are for whatever the folder's file says.

Whoever reviewed every change is asked again: a change that waited must not become approved.
"""

_STATE_6: Final = (
    f"DELETE FROM approvals WHERE NOT ({WHOLE_FOLDER})",  # noqa: S608  a constant of ours
    "ALTER TABLE approvals DROP COLUMN digest",
    "ALTER TABLE approvals ADD COLUMN entries TEXT",
)


def with_new_names(policy: str) -> str:
    """A stored policy with the names that `backup` and `lanes` have since version 7."""
    return to_text(renamed_throughout(from_text(policy)))


def _rename_policy_fields(connection: sqlite3.Connection) -> None:
    for server, policy in connection.execute("SELECT server, policy FROM policies").fetchall():
        # What cannot be read is left for the reader, who tells of it.
        with contextlib.suppress(*UNREADABLE, AttributeError):
            renamed = with_new_names(policy), server
            connection.execute("UPDATE policies SET policy = ? WHERE server = ?", renamed)


_STATE_7: Final = (_rename_policy_fields,)

_STATE_8: Final = ("ALTER TABLE tokens ADD COLUMN expires INTEGER",)

_STATE_9: Final = (
    """CREATE TABLE owned_entries (
        path TEXT NOT NULL, keys TEXT NOT NULL, name TEXT NOT NULL, written TEXT, before TEXT,
        unit INTEGER, settled INTEGER NOT NULL, PRIMARY KEY (path, keys, name)) STRICT""",
)


def _split_approvals(connection: sqlite3.Connection) -> None:
    query = "SELECT folder, entries FROM approvals WHERE entries IS NOT NULL"
    for folder, entries in connection.execute(query).fetchall():
        # What cannot be read is left for the reader, who tells of it.
        with contextlib.suppress(*UNREADABLE):
            members = dict(from_text(entries)).items()
            rows = [(folder, name, to_text(each)) for name, each in members]
            connection.executemany("INSERT INTO approved_entries VALUES (?, ?, ?)", rows)
            whole = NO_ENTRIES, folder
            connection.execute("UPDATE approvals SET entries = ? WHERE folder = ?", whole)


_STATE_10: Final = (
    """CREATE TABLE approved_entries (
        folder TEXT NOT NULL, name TEXT NOT NULL, entry TEXT NOT NULL,
        PRIMARY KEY (folder, name)) STRICT""",
    _split_approvals,
)

_STATE_11: Final = (
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, sealed BLOB NOT NULL) STRICT",
    """CREATE TABLE secret_consents (
        place TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (place, name)) STRICT""",
)

_STATE_12: Final = (
    """CREATE TABLE seen_clients (
        name TEXT PRIMARY KEY, version TEXT NOT NULL, at INTEGER NOT NULL) STRICT""",
)

_STATE_13: Final = (
    """CREATE TABLE owned_claims (
        id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, keys TEXT NOT NULL,
        name TEXT NOT NULL, written TEXT, unit INTEGER, settled INTEGER NOT NULL) STRICT""",
    """INSERT INTO owned_claims (path, keys, name, written, settled)
        SELECT path, keys, name, before, 1 FROM owned_entries WHERE before IS NOT NULL""",
    """INSERT INTO owned_claims (path, keys, name, written, unit, settled)
        SELECT path, keys, name, written, unit, settled FROM owned_entries""",
    "DROP TABLE owned_entries",
    "CREATE INDEX claimed_entries ON owned_claims (path, keys, name)",
    "CREATE INDEX claiming_units ON owned_claims (unit)",
)

STATE: Final[tuple[Migration, ...]] = (
    *(_STATE_1, _STATE_2, _STATE_3, _STATE_4, _STATE_5, _STATE_6, _STATE_7, _STATE_8, _STATE_9),
    *(_STATE_10, _STATE_11, _STATE_12, _STATE_13),
)
BINDS_ENTRIES: Final = 6
"""The version from which on approvals hold the entries that were approved."""
SPLITS_ENTRIES: Final = 10
"""The version from which on each of these entries is a row."""
HAS_SECRETS: Final = 11
"""The version from which on there are secrets and consents."""
NEW_POLICY_NAMES: Final = 7
"""The version from which on policies say `fallback`, `isolation` and `concurrency`."""
JOURNAL: Final[tuple[Migration, ...]] = (_JOURNAL_1, _JOURNAL_2, _JOURNAL_3, _JOURNAL_4)
