import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from mcpyard.domain.errors import NewerState, StateBroken
from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.owned_entries import SqliteOwnedEntries
from mcpyard.store.sqlite.schema import JOURNAL, STATE, Migration

FIRST: Migration = ("CREATE TABLE t (a TEXT) STRICT", "INSERT INTO t VALUES ('kept')")
SECOND: Migration = ("ALTER TABLE t ADD COLUMN b TEXT", "UPDATE t SET b = a || '!'")
THIRD: Migration = ("ALTER TABLE t ADD COLUMN c TEXT",)
BROKEN: Migration = ("DELETE FROM t", "CREATE NONSENSE")


@asynccontextmanager
async def an_engine(path: Path, *migrations: Migration) -> AsyncGenerator[Engine]:
    engine = await Engine.open(path, DatabaseKind(migrations, "FULL"))
    try:
        yield engine
    finally:
        await engine.close()


def look(path: Path) -> tuple[int, list[tuple[str, ...]]]:
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        return version, connection.execute("SELECT * FROM t").fetchall()


async def test_a_new_database_takes_every_step_and_needs_no_copy(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", FIRST, SECOND, THIRD):
        pass
    assert look(tmp_path / "a.db") == (3, [("kept", "kept!", None)])
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


async def test_a_new_database_of_which_a_step_fails_stays_new(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        await Engine.open(tmp_path / "a.db", DatabaseKind((FIRST, SECOND, BROKEN), "FULL"))
    async with an_engine(tmp_path / "a.db", FIRST):
        pass
    assert look(tmp_path / "a.db") == (1, [("kept",)])


async def test_an_old_database_is_copied_and_takes_the_steps_it_lacks(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", FIRST):
        pass
    async with an_engine(tmp_path / "a.db", FIRST, SECOND, THIRD):
        pass
    assert look(tmp_path / "a.db") == (3, [("kept", "kept!", None)])
    copy = tmp_path / "a.db.version-1"
    assert look(copy) == (1, [("kept",)])
    assert copy.stat().st_mode & 0o777 == 0o600
    assert {each.name for each in tmp_path.iterdir()} == {"a.db", copy.name}


async def test_a_copy_can_be_put_back_in_the_place_of_the_database(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", FIRST):
        pass
    async with an_engine(tmp_path / "a.db", FIRST, SECOND):
        pass
    (tmp_path / "a.db.version-1").replace(tmp_path / "a.db")
    async with an_engine(tmp_path / "a.db", FIRST):
        pass
    assert look(tmp_path / "a.db") == (1, [("kept",)])


async def test_a_step_that_fails_leaves_the_step_before_it(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", FIRST):
        pass
    with pytest.raises(sqlite3.OperationalError, match="NONSENSE"):
        await Engine.open(tmp_path / "a.db", DatabaseKind((FIRST, SECOND, BROKEN), "FULL"))
    assert look(tmp_path / "a.db") == (2, [("kept", "kept!")])
    async with an_engine(tmp_path / "a.db", FIRST, SECOND, THIRD):
        pass
    assert look(tmp_path / "a.db") == (3, [("kept", "kept!", None)])


async def test_a_database_of_a_newer_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", FIRST, SECOND):
        pass
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(NewerState, match=r"version 2, this one knows 1.*update mcpyard"):
        await Engine.open(tmp_path / "a.db", DatabaseKind((FIRST,), "FULL"))
    assert (tmp_path / "a.db").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


async def test_a_database_of_another_program_is_refused_and_not_touched(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
        connection.execute("CREATE TABLE theirs (x)")
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(StateBroken, match="not a database of mcpyard"):
        await Engine.open(tmp_path / "a.db", DatabaseKind((FIRST,), "FULL"))
    assert (tmp_path / "a.db").read_bytes() == before


@pytest.mark.parametrize("migrations", [STATE, JOURNAL])
async def test_the_real_steps_lead_from_every_version_to_the_last(
    tmp_path: Path, migrations: tuple[Migration, ...]
) -> None:
    for version in range(1, len(migrations) + 1):
        path = tmp_path / f"{version}.db"
        async with an_engine(path, *migrations[:version]):
            pass
        async with an_engine(path, *migrations):
            pass
        with closing(sqlite3.connect(path)) as connection:
            (reached,) = connection.execute("PRAGMA user_version").fetchone()
            assert reached == len(migrations)


async def test_what_a_sync_owned_stays_owned_with_what_it_wrote_before(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db", *STATE[:12]):
        pass
    one, two = EntryDigest("m", "w"), EntryDigest("m2", "w2", on=False)
    rows = [
        ("/a", '["k"]', "changed", '["m2", "w2", false]', '["m", "w", true]', 7, 0),
        ("/a", '["k"]', "given up", None, '["m", "w", true]', 7, 1),
        ("/a", '["k"]', "new", '["m", "w", true]', None, None, 1),
    ]
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection, connection:
        connection.executemany("INSERT INTO owned_entries VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    async with an_engine(tmp_path / "a.db", *STATE) as engine:
        owned = SqliteOwnedEntries(engine)
        changed, given_up, new = (EntryKey("/a", ("k",), row[2]) for row in rows)
        assert await owned.all() == {
            changed: OwnedEntry(two, one, settled=False),
            new: OwnedEntry(one),
        }
        await owned.take_back(7)
        assert await owned.all() == {each: OwnedEntry(one) for each in (changed, given_up, new)}
