import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.definition.approval import ApprovedEntry
from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import NewerState, StateBroken, StorageFull
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import KnownConnection
from mcpyard.domain.stored import Approval, CallQuery, CallToken, LoginSession
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.store.sqlite.store import Store
from tests.store.contract import LATER, NOW, added, opened
from tests.store.contract_access import SIGNED_IN, a_token
from tests.store.contract_journal import a_call, an_edit

PROJECT = Owner(Scope.PROJECT, "a/.mcp.json")
SERVER = UUID(int=7)


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MCPYARD_KEY", raising=False)


async def filled(store: Store) -> None:
    await added(store, "fs", {"n": 0})
    await store.policies.set(SERVER, {"enabled": False})
    await store.profiles.set("work", {})
    await store.tokens.add(CallToken(SERVER, "laptop", "hash", None, NOW))
    await store.sessions.add(LoginSession("cookie", "key", NOW, LATER))
    await store.approvals.set(Approval("a", NOW, {}))
    await store.credentials.put(SIGNED_IN)


def seen(store: Store) -> list[object]:
    return [
        store.definitions.all(),
        dict(store.policies.all()),
        dict(store.profiles.all()),
        store.tokens.all(),
        store.sessions.get("cookie", NOW),
        dict(store.approvals.all()),
    ]


async def limit(store: Store, pages: int) -> None:
    await store._state.run(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}"))


async def test_a_store_that_is_closed_can_be_closed_and_takes_no_more(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.close()
    await store.close()
    store.memory.identity(PROJECT, "fs")
    with pytest.raises(RuntimeError, match="closed"):
        await store.policies.set(SERVER, {})


async def test_the_folder_and_its_files_are_the_owners_alone(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "a" / "home")
    await filled(store)
    store.journal.append(a_call(1))
    await store.journal.query(CallQuery())
    files = {each.name: each.stat().st_mode & 0o777 for each in (tmp_path / "a/home").iterdir()}
    await store.close()
    assert {"state.db", "state.db-wal", "journal.db", "journal.db-wal", "key"} <= set(files)
    assert set(files.values()) == {0o600}
    assert (tmp_path / "a" / "home").stat().st_mode & 0o777 == 0o700


async def test_a_full_disk_leaves_memory_and_disk_as_they_were(tmp_path: Path) -> None:
    large = {"x": "y" * 300_000}
    store = await Store.open(tmp_path)
    await filled(store)
    before = seen(store)
    made = store.definitions.all()[0]
    await limit(store, 1)
    for refused in (
        added(store, "large", large),
        store.definitions.replace(made.id, large, name="other"),
        store.policies.set(SERVER, large),
        store.profiles.set("work", large),
        store.tokens.add(replace(a_token("x" * 300_000), id=UUID(int=8))),
        store.sessions.add(LoginSession("x" * 300_000, "key", LATER, LATER + timedelta(1))),
        store.approvals.set(Approval("x" * 300_000, NOW)),
        store.credentials.put(replace(SIGNED_IN, access_token="x" * 300_000)),
        store.edits.add(replace(an_edit(1), path="x" * 300_000)),
    ):
        with pytest.raises(StorageFull):
            await refused
    assert seen(store) == before
    assert await store.edits.recent() == []
    await limit(store, 10_000)
    await store.policies.set(UUID(int=9), large)
    await store.close()
    async with opened(lambda: Store.open(tmp_path)) as again:
        assert again.policies.all()[UUID(int=9)] == large
        assert again.policies.all()[SERVER] == {"enabled": False}
        assert again.definitions.all() == (made,)
        assert await again.credentials.get(SIGNED_IN.resource) == SIGNED_IN


async def test_what_the_disk_refused_in_the_background_is_written_with_the_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = await Store.open(tmp_path)
    server = store.memory.identity(PROJECT, "fs")
    await store._state.flush()
    await limit(store, 1)
    large = [{"name": "t", "description": "x" * 300_000}]
    store.memory.keep_tools(server, large)
    store.memory.keep_names({(server, "t" * 300_000): "mcp_fs_t"})
    store.memory.keep_reached("x" * 300_000, KnownConnection(Era.MODERN))
    lost = store.memory.identity(PROJECT, "x" * 300_000)
    store.memory.keep_tools(server, large)
    await store._state.flush()
    assert "cannot be written" in caplog.text
    assert store.memory.tools(server) == large
    await limit(store, 10_000)
    store.memory.keep_reached("d", KnownConnection(Era.MODERN))
    await store._state.flush()
    with closing(sqlite3.connect(tmp_path / "state.db")) as reader:
        assert reader.execute("SELECT count(*) FROM tools").fetchone() == (1,)
    await store.close()
    async with opened(lambda: Store.open(tmp_path)) as again:
        assert again.memory.tools(server) == large
        assert again.memory.exposed_names() == {(server, "t" * 300_000): "mcp_fs_t"}
        assert again.memory.reached("x" * 300_000) == KnownConnection(Era.MODERN)
        assert again.memory.identity(PROJECT, "x" * 300_000) == lost


async def test_what_was_refused_and_is_gone_by_now_is_not_written(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    made = await added(store, "fs", {})
    await limit(store, 1)
    store.memory.keep_tools(made.id, [{"name": "x" * 300_000}])
    store.memory.identity(PROJECT, "x" * 300_000)
    await store._state.flush()
    await limit(store, 10_000)
    await store.definitions.remove(made.id)
    store.memory.renamed((PROJECT, "x" * 300_000), "y", SERVER)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute("SELECT count(*) FROM tools").fetchone() == (0,)
        assert connection.execute("SELECT name FROM identities").fetchall() == [("fs",)]


async def test_the_journal_is_bounded_and_cut_back_in_batches(tmp_path: Path) -> None:
    async with opened(lambda: Store.open(tmp_path)) as opener:
        assert isinstance(opener, Store)
        journal = SqliteJournal(opener._journal, JournalLimits(calls=100))
        lengths: set[int] = set()
        for number in range(1, 251):
            journal.append(a_call(number))
            lengths.add(len(await journal.query(CallQuery(limit=1000))))
        newest = await journal.query(CallQuery(limit=100))
        assert max(lengths) == 110
        assert [each.bytes_in for each in newest] == list(range(250, 150, -1))


async def test_lines_that_find_too_many_waiting_are_dropped_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.sqlite.journal._WAITING", 10)
    store = await Store.open(tmp_path)
    for number in range(15):
        store.journal.append(a_call(number)._replace(who=f"caller{number}"))
    assert store.journal.dropped == 5
    assert len(await store.journal.query(CallQuery())) == 10
    store.journal.append(a_call(99))
    assert (await store.journal.query(CallQuery(limit=1)))[0].bytes_in == 99
    await store._journal.run(lambda connection: connection.execute("DROP TABLE calls"))
    store.journal.append(a_call(100))
    await store.journal.close()
    assert store.journal.dropped == 6
    await store.close()


async def test_a_line_is_written_by_itself_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.sqlite.journal._DELAY", 0)
    store = await Store.open(tmp_path)
    store.journal.append(a_call(1))
    written = store._journal.run
    while not await written(lambda c: c.execute("SELECT count(*) FROM calls").fetchone()[0]):
        pass
    await store.close()


async def test_credentials_cannot_be_read_from_the_files(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    await store.credentials.put(SIGNED_IN)
    everything = b"".join(each.read_bytes() for each in tmp_path.glob("*.db*"))
    await store.close()
    assert SIGNED_IN.resource.encode() in everything
    for secret in (SIGNED_IN.access_token, SIGNED_IN.refresh_token, SIGNED_IN.client):
        assert secret.encode() not in everything


async def test_with_another_key_there_is_no_sign_in_and_with_the_first_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MCPYARD_KEY", "any text will do")
    async with opened(lambda: Store.open(tmp_path)) as store:
        await store.credentials.put(SIGNED_IN)
    assert not (tmp_path / "key").exists()
    monkeypatch.setenv("MCPYARD_KEY", "another")
    async with opened(lambda: Store.open(tmp_path)) as store:
        assert await store.credentials.get(SIGNED_IN.resource) is None
    assert "sign in again" in caplog.text
    monkeypatch.setenv("MCPYARD_KEY", "any text will do")
    async with opened(lambda: Store.open(tmp_path)) as store:
        assert await store.credentials.get(SIGNED_IN.resource) == SIGNED_IN


async def test_a_store_of_a_newer_version_is_refused_and_can_be_opened_by_it(
    tmp_path: Path,
) -> None:
    await (await Store.open(tmp_path)).close()
    for name in ("journal.db", "state.db"):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.execute("PRAGMA user_version = 99")
        with pytest.raises(NewerState, match=f"{name} was written by a newer mcpyard"):
            await Store.open(tmp_path)


async def test_a_broken_journal_is_put_aside_and_a_broken_state_is_not(tmp_path: Path) -> None:
    garbage = b"garbage" * 1000
    (tmp_path / "journal.db").write_bytes(garbage)
    await (await Store.open(tmp_path)).close()
    assert (tmp_path / "journal.db.unreadable").read_bytes() == garbage
    (tmp_path / "state.db").write_bytes(garbage)
    with pytest.raises(StateBroken):
        await Store.open(tmp_path)
    assert (tmp_path / "state.db").read_bytes() == garbage


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageFull, match="cannot be created"):
        await Store.open(tmp_path / "file" / "home")


async def test_one_more_approved_entry_of_many_is_written_alone(tmp_path: Path) -> None:
    many = {f"s{i}": ApprovedEntry(LocalConfig(command=[str(i)])) for i in range(50)}
    store = await Store.open(tmp_path)
    written = [await store._state.run(lambda connection: connection.total_changes)]
    for entries in (many, {**many, "new": many["s1"]}, many):
        await store.approvals.set(Approval("a", NOW, entries))
        written.append(await store._state.run(lambda connection: connection.total_changes))
    await store.close()
    steps = [after - before for before, after in pairwise(written)]
    assert steps == [1 + len(many), 1 + 1, 1 + 1]
