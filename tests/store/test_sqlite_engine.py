import asyncio
import resource
import sqlite3
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from mcpyard.domain.errors import NameTaken, StateBroken, StateGone, StorageFull, YardBusy
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.engine import Engine, Job
from tests.runtime.waiting import eventually

KIND = DatabaseKind((("CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT) STRICT",),), "FULL")


@asynccontextmanager
async def an_engine(path: Path) -> AsyncGenerator[Engine]:
    engine = await Engine.open(path, KIND)
    try:
        yield engine
    finally:
        await engine.close()


def insert(key: int, value: str = "") -> Job[None]:
    def job(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO t VALUES (?, ?)", (key, value))

    return job


def fail_at_it(_: object) -> None:
    raise ZeroDivisionError


def keys(connection: sqlite3.Connection) -> list[int]:
    return [key for (key,) in connection.execute("SELECT k FROM t ORDER BY k")]


def pragma(text: str) -> Job[object]:
    return lambda connection: connection.execute(f"PRAGMA {text}").fetchone()


async def held(engine: Engine) -> Callable[[], None]:
    """Keep the thread busy until the function given back is called."""
    busy, free = threading.Event(), threading.Event()

    def job(_: sqlite3.Connection) -> None:
        busy.set()
        assert free.wait(5)

    engine.post(job)
    assert await asyncio.to_thread(busy.wait, 5)
    return free.set


def commits(path: Path) -> int:
    """Transactions that wrote something: a database's WAL has one frame marked as its end each."""
    wal = path.with_name(f"{path.name}-wal").read_bytes()[32:]
    frames = [wal[at : at + 8] for at in range(0, len(wal), 24 + 4096)]
    return sum(int.from_bytes(each[4:]) > 0 for each in frames)


@contextmanager
def files_no_larger_than(size: int) -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_what_goes_wrong_after_a_job_is_told_to_whoever_waits_for_it(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        with pytest.raises(ZeroDivisionError):
            await engine.run(insert(1), fail_at_it)
        assert await engine.run(keys) == [1]


async def test_what_goes_wrong_after_a_job_is_no_business_of_the_others_of_its_group(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        free = await held(engine)
        engine.post(insert(1), fail_at_it)
        given_up = asyncio.create_task(engine.run(insert(2), fail_at_it))
        waiting = asyncio.create_task(engine.run(insert(3)))
        await asyncio.sleep(0)
        given_up.cancel()
        free()
        await waiting
        assert await engine.run(keys) == [1, 2, 3]
    assert [each.message for each in caplog.records] == ["what follows a job failed"] * 2


async def test_a_job_gives_back_its_value_and_is_on_the_disk_by_then(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        await engine.run(insert(1))
        assert await engine.run(keys) == [1]
        reader = sqlite3.connect(tmp_path / "a.db")
        assert keys(reader) == [1]
        reader.close()


async def test_the_settings_that_make_a_write_durable_are_on(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        assert await engine.run(pragma("journal_mode")) == ("wal",)
        assert await engine.run(pragma("synchronous")) == (2,)
        assert await engine.run(pragma("foreign_keys")) == (1,)


async def test_jobs_that_wait_together_share_one_transaction(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with an_engine(path) as engine:
        before = commits(path)
        release = await held(engine)
        jobs = [asyncio.create_task(engine.run(insert(key))) for key in range(100)]
        await asyncio.sleep(0)
        release()
        await asyncio.gather(*jobs)
        assert commits(path) - before == 1
        assert await engine.run(keys) == list(range(100))


async def test_a_job_that_fails_takes_no_other_with_it(tmp_path: Path) -> None:
    def half(connection: sqlite3.Connection) -> None:
        insert(50)(connection)
        raise NameTaken("taken")

    async with an_engine(tmp_path / "a.db") as engine:
        release = await held(engine)
        jobs = [engine.run(job) for job in (insert(1), half, insert(1), insert(2))]
        waiting = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0)
        release()
        one, taken, twice, two = await waiting
        assert (one, two) == (None, None)
        assert isinstance(taken, NameTaken)
        assert isinstance(twice, sqlite3.IntegrityError)
        assert await engine.run(keys) == [1, 2]


async def test_a_job_that_makes_sqlite_undo_everything_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    def spoiler(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR ROLLBACK INTO t VALUES (1, 'again')")

    async with an_engine(tmp_path / "a.db") as engine:
        release = await held(engine)
        jobs = [engine.run(job) for job in (insert(1), spoiler, insert(2))]
        waiting = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0)
        release()
        one, spoiled, two = await waiting
        assert (one, two) == (None, None)
        assert isinstance(spoiled, sqlite3.IntegrityError)
        assert await engine.run(keys) == [1, 2]


async def test_what_follows_in_memory_follows_also_when_the_caller_is_gone(tmp_path: Path) -> None:
    followed: list[None] = []
    async with an_engine(tmp_path / "a.db") as engine:
        release = await held(engine)
        job = asyncio.create_task(engine.run(insert(1), followed.append))
        await asyncio.sleep(0)
        job.cancel()
        release()
        assert await engine.run(keys) == [1]
        assert followed == [None]
        assert job.cancelled()


async def test_a_full_disk_is_told_to_the_one_too_many_and_the_rest_is_kept(
    tmp_path: Path,
) -> None:
    followed: list[None] = []
    async with an_engine(tmp_path / "a.db") as engine:
        await engine.run(insert(1))
        await engine.run(pragma("max_page_count = 4"))
        release = await held(engine)
        large = engine.run(insert(2, "x" * 100_000), followed.append)
        waiting = asyncio.gather(
            engine.run(insert(3)), large, engine.run(insert(4)), return_exceptions=True
        )
        await asyncio.sleep(0)
        release()
        three, full, four = await waiting
        assert (three, four) == (None, None)
        assert isinstance(full, StorageFull)
        assert "a.db cannot be written" in str(full)
        assert followed == []
        assert await engine.run(keys) == [1, 3, 4]
        await engine.run(pragma("max_page_count = 1000"))
        await engine.run(insert(2, "x" * 100_000))
    async with an_engine(tmp_path / "a.db") as engine:
        assert await engine.run(keys) == [1, 2, 3, 4]


async def test_a_commit_that_the_disk_refuses_changes_nothing(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        await engine.run(insert(1))
        release = await held(engine)
        jobs = [engine.run(insert(key, "x" * 10_000)) for key in (2, 3, 4)]
        waiting = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0)
        with files_no_larger_than((tmp_path / "a.db-wal").stat().st_size):
            release()
            errors = await waiting
        assert {type(each) for each in errors} == {StorageFull}
        assert await engine.run(keys) == [1]
        await engine.run(insert(2))
    async with an_engine(tmp_path / "a.db") as engine:
        assert await engine.run(keys) == [1, 2]


@pytest.mark.parametrize("another", [False, True])
async def test_nothing_is_said_to_be_stored_in_a_file_that_is_gone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, another: bool
) -> None:
    followed: list[None] = []
    results: list[bool] = []
    path, aside = tmp_path / "a.db", tmp_path / "aside.db"
    async with an_engine(path) as engine:
        await engine.run(insert(1))
        path.rename(aside)
        if another:
            path.touch()
        with pytest.raises(StateGone, match=r"a\.db was deleted or replaced"):
            await engine.run(insert(2), followed.append)
        engine.post(insert(3), results.append)
        assert await engine.run(keys) == [1], "what is known can still be read"
        assert (followed, results) == ([], [False])
        assert isinstance(engine.fault(), StateGone)
        aside.rename(path)
        assert engine.fault() is None
        await engine.run(insert(2))
    assert "Traceback" not in caplog.text
    async with an_engine(path) as engine:
        assert await engine.run(keys) == [1, 2]


async def test_work_in_the_background_is_done_in_order_and_its_failure_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    results: list[bool] = []
    async with an_engine(tmp_path / "a.db") as engine:
        engine.post(insert(1), results.append)
        engine.post(insert(1), results.append)
        engine.post(insert(1))
        assert await engine.run(keys) == [1]
        assert results == [True, False]
        assert caplog.text.count("UNIQUE constraint failed") >= 2


async def test_no_cursor_leaves_the_thread_of_the_database(tmp_path: Path) -> None:
    async with an_engine(tmp_path / "it.db") as engine:
        assert await engine.run(lambda connection: connection.execute("SELECT 1")) is None
        assert await engine.run(lambda connection: connection.execute("SELECT 1").fetchone()) == (
            1,
        )


async def test_what_was_written_is_not_held_until_the_next_job(tmp_path: Path) -> None:
    class Long:
        """What a job writes."""

    async with an_engine(tmp_path / "it.db") as engine:
        written = Long()
        held_by_us = weakref.ref(written)
        engine.post(partial(lambda _, __: None, written))
        await engine.run(keys)
        del written
        assert await eventually(lambda: held_by_us() is None)


async def test_closing_finishes_what_was_asked_for_and_takes_no_more(tmp_path: Path) -> None:
    engine = await Engine.open(tmp_path / "a.db", KIND)
    for key in range(600):
        engine.post(insert(key))
    await engine.close()
    await engine.close()
    await engine.flush()
    engine.post(insert(600))
    with pytest.raises(RuntimeError, match=r"a\.db is closed"):
        await engine.run(keys)
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]
    async with an_engine(tmp_path / "a.db") as again:
        assert await again.run(keys) == list(range(600))


async def test_a_database_that_another_program_holds_is_told_as_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.sqlite.database._BUSY_SECONDS", 0.01)
    async with an_engine(tmp_path / "a.db") as engine:
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(YardBusy, match="locked by another program"):
            await engine.run(insert(1))
        other.close()
        await engine.run(insert(1))


@pytest.mark.parametrize("content", [b"not a database, but long enough to be read as one" * 100])
async def test_a_file_that_is_no_database_is_refused_and_not_touched(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(StateBroken, match="cannot be read"):
        await Engine.open(tmp_path / "a.db", KIND)
    assert (tmp_path / "a.db").read_bytes() == content


async def test_damage_is_found_at_the_opening(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    async with an_engine(path) as engine:
        for key in range(50):
            await engine.run(insert(key, "x" * 1000))
    content = bytearray(path.read_bytes())
    content[-4096:-2048] = b"\xff" * 2048
    path.write_bytes(content)
    with pytest.raises(StateBroken):
        await Engine.open(path, KIND)


async def test_a_look_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_engine(tmp_path / "a.db") as engine:
        await engine.run(insert(1))
    monkeypatch.setattr("mcpyard.store.sqlite.database._LOOK_SECONDS", -1)
    monkeypatch.setattr("mcpyard.store.sqlite.database._LOOK_STEPS", 1)
    async with an_engine(tmp_path / "a.db") as engine:
        assert await engine.run(keys) == [1]


async def test_a_folder_that_cannot_hold_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").mkdir()
    with pytest.raises(StorageFull, match="cannot be opened"):
        await Engine.open(tmp_path / "a.db", KIND)
