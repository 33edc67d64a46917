"""A home of the first version, with something of everything, opened by this one."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import StateBroken
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import KnownConnection
from mcpyard.domain.stored import Approval, CallQuery, CallToken, LoginSession
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.peeking import peek_definitions
from mcpyard.store.sqlite.schema import JOURNAL, STATE, Migration
from mcpyard.store.sqlite.store import Store
from tests.store.contract import LATER, NOW, added
from tests.store.contract_access import SIGNED_IN
from tests.store.contract_journal import a_call, an_edit
from tests.store.test_sqlite_store import PROJECT, SERVER

FILES = {"state.db": STATE, "journal.db": JOURNAL}


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPYARD_KEY", raising=False)


async def fill(store: Store) -> None:
    await added(store, "fs", {"command": "files", "args": ["-x"]})
    server = store.memory.identity(PROJECT, "fs")
    store.memory.keep_names({(server, "t"): "mcp_fs_t"})
    store.memory.keep_tools(server, [{"name": "t"}])
    store.memory.keep_reached("digest", KnownConnection(Era.MODERN))
    await store.policies.set(SERVER, {"enabled": False})
    await store.profiles.set("work", {"servers": ["fs"]})
    await store.tokens.add(CallToken(SERVER, "laptop", "hash", None, NOW))
    await store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
    await store.sessions.add_link("link", LATER)
    await store.approvals.set(Approval("a", NOW))
    await store.credentials.put(SIGNED_IN)
    await store.edits.add(an_edit(1))
    store.journal.append(a_call(1))


async def look(store: Store) -> list[object]:
    """Everything that a user would miss."""
    server = store.memory.identity(PROJECT, "fs")
    edits = await store.edits.recent()
    return [
        store.definitions.all(),
        server,
        dict(store.memory.exposed_names()),
        store.memory.tools(server),
        store.memory.reached("digest"),
        dict(store.policies.all()),
        dict(store.profiles.all()),
        store.tokens.all(),
        store.sessions.get("cookie", NOW),
        dict(store.approvals.all()),
        await store.credentials.get(SIGNED_IN.resource),
        [await store.edits.together(each.id) for each in edits],
        await store.journal.query(CallQuery()),
    ]


def content_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608  names of our own tables
            for name in tables(connection)
        }


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    )
    return [name for (name,) in rows]


def columns(connection: sqlite3.Connection, database: str, table: str) -> list[str]:
    return [name for _, name, *_ in connection.execute(f"PRAGMA {database}.table_info({table})")]


async def make_first(newer: Path, older: Path, first: Migration) -> None:
    """A database of the first version, with what another of this version holds."""
    await (await Engine.open(older, DatabaseKind((first,), "FULL"))).close()
    with closing(sqlite3.connect(older, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS newer", [str(newer)])
        for table in tables(connection):
            common = columns(connection, "newer", table)
            names = ", ".join(each for each in columns(connection, "main", table) if each in common)
            values = names
            if table == "approvals":
                names, values = f"{names}, digest", f"{names}, 'trusted'"
            rows = f"SELECT {values} FROM newer.{table}"  # noqa: S608  names of our own tables
            connection.execute(f"INSERT INTO {table} ({names}) {rows}")


async def test_everything_of_a_home_of_the_first_version_is_there_and_kept_in_a_copy(
    tmp_path: Path,
) -> None:
    this, first = tmp_path / "this", tmp_path / "first"
    store = await Store.open(this)
    await fill(store)
    before = await look(store)
    await store.close()
    first.mkdir()
    shutil.copy(this / "key", first)
    for name, migrations in FILES.items():
        await make_first(this / name, first / name, migrations[0])
    content = content_of(first / "state.db")

    upgraded = await Store.open(first)
    try:
        assert await look(upgraded) == before
        assert await upgraded.sessions.take_link("link", NOW)
    finally:
        await upgraded.close()
    assert all(content.values()), "a table that holds nothing proves nothing"
    assert content_of(first / "state.db.version-1") == content
    assert (first / "state.db.version-1").stat().st_mode & 0o777 == 0o600


async def test_stored_policies_get_the_names_that_their_fields_have_now(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await (await Engine.open(path, DatabaseKind(STATE[:6], "FULL"))).close()
    old = {
        UUID(int=1): '{"backup":["b"],"lanes":1,"tools":{"t":{"name":"n","backup":["c"]}}}',
        UUID(int=2): '{"lanes":"per-client","timeout":5}',
        UUID(int=3): '{"wanted":"running"}',
    }
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [(str(server), policy) for server, policy in old.items()]
        connection.executemany("INSERT INTO policies VALUES (?, ?)", rows)
    now: dict[UUID, dict[str, object]] = {
        UUID(int=1): {
            "fallback": ["b"],
            "isolation": "shared",
            "concurrency": 1,
            "tools": {"t": {"name": "n", "fallback": ["c"]}},
        },
        UUID(int=2): {"isolation": "per-client", "concurrency": 0, "timeout": 5},
        UUID(int=3): {"wanted": "running"},
    }
    assert peek_definitions(tmp_path).policies == now

    upgraded = await Store.open(tmp_path)
    await upgraded.close()
    assert upgraded.policies.all() == now
    assert peek_definitions(tmp_path).policies == now
    written = {str(text) for _, text in content_of(path)["policies"]}
    assert not any(word in text for text in written for word in ("backup", "lanes"))
    texts = {text for _, text in content_of(tmp_path / "state.db.version-6")["policies"]}
    assert texts == {*old.values()}


async def test_a_policy_that_cannot_be_read_is_told_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await (await Engine.open(path, DatabaseKind(STATE[:6], "FULL"))).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO policies VALUES (?, ?)", (str(SERVER), '{"backup'))
    with pytest.raises(StateBroken, match="a policy in the state cannot be read"):
        await Store.open(tmp_path)
    assert content_of(path)["policies"] == [(str(SERVER), '{"backup')]


async def test_an_entry_that_was_approved_by_the_old_names_stays_approved(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await (await Engine.open(path, DatabaseKind(STATE[:6], "FULL"))).close()
    written = {
        "command": "x",
        "args": [],
        "backup": ["b"],
        "lanes": "per-client",
        "tools": {"t": {"backup": ["c"]}},
    }
    entries = {"s": {"definition": written, "shadows": False, "gone": False, "edit": None}}
    with closing(sqlite3.connect(path)) as connection, connection:
        row = ("/p", 1, json.dumps(entries))
        connection.execute("INSERT INTO approvals (folder, at, entries) VALUES (?, ?, ?)", row)

    upgraded = await Store.open(tmp_path)
    await upgraded.close()
    approved = upgraded.approvals.all()["/p"].entries
    assert approved is not None
    new = {"fallback": ["b"], "isolation": "per-client", "tools": {"t": {"fallback": ["c"]}}}
    launch = {"command": "x", "args": []}
    assert approved["s"].covers(read_definition(written).config)
    assert approved["s"].covers(read_definition(launch | new).config)
    assert not approved["s"].covers(read_definition(launch | {"fallback": ["evil"]}).config)


async def test_entries_that_were_approved_in_one_text_become_rows(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await (await Engine.open(path, DatabaseKind(STATE[:9], "FULL"))).close()
    entry = {"definition": {"command": "x"}, "shadows": False, "gone": False, "edit": None}
    whole = {"one": entry, "two": {**entry, "gone": True, "edit": {"command": "y"}}}
    texts = {
        "/p": json.dumps(whole),
        "/none": "{}",
        "/bad": '{"a',
        "/odd": '{"a": {}}',
        "/0.1": None,
    }
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [(folder, 1, text) for folder, text in texts.items()]
        connection.executemany("INSERT INTO approvals VALUES (?, ?, ?)", rows)
    before = peek_definitions(tmp_path).approvals

    upgraded = await Store.open(tmp_path)
    await upgraded.close()
    assert {*before} == {"/p", "/none", "/0.1"}
    assert before["/p"].entries is not None
    assert before["/p"].entries["two"].gone
    assert upgraded.approvals.all() == before
    assert peek_definitions(tmp_path).approvals == before


async def test_of_approvals_of_the_first_versions_those_of_whole_folders_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "state.db"
    await (await Engine.open(path, DatabaseKind(STATE[:5], "FULL"))).close()
    rows = [
        ("/trusted", "trusted"),
        ("/named/.mcp.json", "reviewed"),
        ("/named/.mcp.json#a", "digest of a launch"),
        ("/reviewed", "trusted"),
        ("/reviewed/.mcp.json", "reviewed"),
        ("/reviewed/.mcp.json#a", "digest of a launch"),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("INSERT INTO approvals (folder, digest, at) VALUES (?, ?, 1)", rows)
    assert {*peek_definitions(tmp_path).approvals} == {"/trusted"}

    upgraded = await Store.open(tmp_path)
    await upgraded.close()
    assert {*upgraded.approvals.all()} == {"/trusted"}
    assert upgraded.approvals.all()["/trusted"].entries is None
    assert peek_definitions(tmp_path).approvals == upgraded.approvals.all()
