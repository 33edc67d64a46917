"""What is recorded of calls: sealed, bounded, found by the text of an error, gone with its line."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpyard.domain.call_contents import (
    CallContents,
    CallTrace,
    ContentsUsage,
    RecordedText,
    RecordingMode,
    TracedCall,
)
from mcpyard.domain.errors import NotWritable
from mcpyard.domain.stored import CallOrder, CallQuery
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.recording_settings import FileRecordingSettings
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.store.sqlite.store import Store
from tests.store.contract import NOW
from tests.store.contract_journal import ONE, a_call

if TYPE_CHECKING:
    from collections.abc import Sequence

TRACE = CallTrace(b'{"text": "hi"}')


def contents(text: str = "hi", error: str = "") -> CallContents:
    part = RecordedText(text, len(text), 1)
    return CallContents(
        part, part, RecordedText(error, len(error)) if error else None, 1.5, "echo 1"
    )


@asynccontextmanager
async def stored(folder: Path, limits: JournalLimits | None = None) -> AsyncGenerator[Store]:
    store = await Store.open(folder, limits or JournalLimits())
    try:
        yield store
    finally:
        await store.close()


async def add(journal: SqliteJournal, number: int, recorded: CallContents, **more: object) -> int:
    """Note a call and what is recorded of it; its id."""
    call = a_call(number)._replace(**more)
    journal.append(call)
    (newest,) = await journal.query(CallQuery(limit=1))
    journal.contents.put([(newest.id, call, recorded)])
    return newest.id


@pytest.mark.spec("F6.1")
async def test_what_is_recorded_is_read_again_and_cannot_be_read_in_the_file(
    tmp_path: Path,
) -> None:
    recorded = contents("the words", "went wrong")
    async with stored(tmp_path) as store:
        number = await add(store.journal, 1, recorded, outcome="timed-out")
        assert await store.journal.contents.get(number) == recorded
        line = await store.journal.get(number)
        assert line
        assert (line.id, line.recorded) == (number, True)
        assert await store.journal.get(99) is None
        assert await store.journal.contents.get(99) is None
    for file in tmp_path.iterdir():
        assert b"the words" not in file.read_bytes()
        assert b"went wrong" not in file.read_bytes()
    async with stored(tmp_path) as store:
        assert await store.journal.contents.get(number) == recorded


async def test_with_another_key_nothing_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with stored(tmp_path) as store:
        number = await add(store.journal, 1, contents(error="broken"), outcome="timed-out")
        assert await store.journal.contents.get(number)
    monkeypatch.setenv("MCPYARD_KEY", "another")
    async with stored(tmp_path) as store:
        assert await store.journal.contents.get(number) is None
        assert "another key" in caplog.text
        assert await store.journal.query(CallQuery(text="broken")) == []


async def test_traces_are_given_on_with_the_ids_of_their_lines(tmp_path: Path) -> None:
    taken: list[tuple[int | None, Sequence[TracedCall]]] = []
    async with stored(tmp_path) as store:
        journal = store.journal
        journal.append(a_call(0), TRACE)
        await journal.flush()
        journal.record_by(lambda first, calls: taken.append((first, calls)))
        for number in range(1, 500):
            journal.append(a_call(number), TRACE if number % 100 == 7 else None)
        await journal.flush()
        lines = {each.id: each.bytes_in for each in await journal.query(CallQuery(limit=1000))}
        ((first, calls),) = taken
        assert first == 2
        assert [lines[first + each.place] for each in calls] == [7, 107, 207, 307, 407]
        assert [each.call.bytes_in for each in calls] == [7, 107, 207, 307, 407]


async def test_traces_of_calls_without_a_line_are_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[tuple[int | None, Sequence[TracedCall]]] = []
    async with stored(tmp_path) as store:
        journal = store.journal
        journal.record_by(lambda first, calls: taken.append((first, calls)))

        def refuse(*_: object) -> tuple[int, int]:
            raise sqlite3.OperationalError("disk full")

        monkeypatch.setattr(journal, "_write", refuse)
        journal.append(a_call(0), TRACE)
        await journal.flush()
        for number in range(25_000):
            journal.append(a_call(number), TRACE)
        assert taken[0][0] is None
        assert len(taken[0][1]) == 1
        assert all(first is None for first, _ in taken)
        assert len(taken) > 1000
        await journal.flush()


async def test_what_is_recorded_goes_with_its_line_and_with_its_age(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        journal = store.journal
        await add(journal, 1, contents(), at=NOW - timedelta(days=40))
        await add(journal, 2, contents(), at=NOW - timedelta(days=8))
        last = await add(journal, 3, contents(), at=NOW - timedelta(days=6))
        assert (await journal.contents.usage()).calls == 3
        await journal.expire(NOW)
        assert (await journal.contents.usage()).calls == 1
        assert [(each.id, each.recorded) for each in await journal.query(CallQuery())] == [
            (last, True),
            (last - 1, False),
        ]
        journal.contents.put([(77, a_call(1), contents())])
        assert (await journal.contents.usage()).calls == 1
        assert await journal.contents.clear() == 1
        assert await journal.contents.usage() == ContentsUsage(0, 0)
        assert len(await journal.query(CallQuery())) == 2


async def test_with_too_much_recorded_whoever_has_most_loses_the_oldest(tmp_path: Path) -> None:
    limits = JournalLimits(contents_mb=1)
    async with stored(tmp_path, limits) as store:
        journal = store.journal
        quiet = await add(journal, 0, contents("x" * 10_000), who="quiet")
        busy = [await add(journal, n, contents("x" * 30_000), who="busy") for n in range(40)]
        usage = await journal.contents.usage()
        assert 500_000 < usage.bytes <= 1.1 * 1024 * 1024
        left = [each.id for each in await journal.query(CallQuery(limit=100)) if each.recorded]
        assert left[-1] == quiet
        assert left[:-1] == busy[: -len(left) : -1]
    async with stored(tmp_path, limits) as store:
        await add(store.journal, 1, contents())
        assert (await store.journal.contents.usage()).bytes > 500_000


async def test_calls_are_found_by_time_text_and_failure_in_any_order(tmp_path: Path) -> None:
    async with stored(tmp_path) as store:
        journal = store.journal
        for number, (tool, outcome, ms, error) in enumerate(
            [
                ("read", "ok", 5.0, ""),
                ("Überweisen", "tool_error", 9.0, ""),
                ("read", "timed-out", 1.0, "No answer within 5 s: Ärger"),
                ("list", "ok", 7.0, ""),
            ]
        ):
            recorded = contents(f"result {number}", error)
            await add(journal, number, recorded, tool=tool, outcome=outcome, ms=ms)

        async def found(query: CallQuery) -> list[int]:
            return [each.bytes_in for each in await journal.query(query)]

        assert await found(CallQuery(outcome="failed")) == [2, 1]
        assert await found(CallQuery(since=NOW + timedelta(seconds=2))) == [3, 2]
        assert await found(CallQuery(until=NOW + timedelta(seconds=1))) == [0]
        assert await found(CallQuery(text="READ")) == [2, 0]
        assert await found(CallQuery(text="überw")) == [1]
        assert await found(CallQuery(text="ärger")) == [2]
        assert await found(CallQuery(text="RESULT 1")) == [1]
        assert await found(CallQuery(text="result 0")) == []
        assert await found(CallQuery(text="cli", server=ONE)) == [3, 2, 1, 0]
        assert await found(CallQuery(order=CallOrder.DURATION)) == [1, 3, 0, 2]
        assert await found(CallQuery(order=CallOrder.DURATION, offset=1, limit=2)) == [3, 0]
        assert await found(CallQuery(order=CallOrder.SIZE, ascending=True)) == [0, 1, 2, 3]
        assert await found(CallQuery(order=CallOrder.OUTCOME)) == [1, 2, 3, 0]
        assert await found(CallQuery(ascending=True)) == [0, 1, 2, 3]


async def test_whether_to_record_is_kept_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "recording"
    assert FileRecordingSettings(file).mode() is RecordingMode.AUTO
    await FileRecordingSettings(file).set_mode(RecordingMode.ON)
    assert FileRecordingSettings(file).mode() is RecordingMode.ON
    file.write_text("perhaps")
    assert FileRecordingSettings(file).mode() is RecordingMode.OFF
    gone = FileRecordingSettings(tmp_path / "no" / "recording")
    with pytest.raises(NotWritable):
        await gone.set_mode(RecordingMode.ON)
    assert gone.mode() is RecordingMode.AUTO
