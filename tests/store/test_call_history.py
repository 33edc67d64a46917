"""Calls by the minute, which outlast the lines that they were counted from."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.call_history import Span, UsageSample, bucket_of
from mcpyard.domain.stored import CallQuery
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sqlite.store import Store
from tests.store.contract import NOW
from tests.store.contract_journal import ONE, TWO, a_call

HOUR = Span.ending(NOW.timestamp() + 600, 3600, 60)
WEEK = Span.ending(NOW.timestamp() + 600, 7 * 24 * 3600, 1800)


async def written(store: Store) -> None:
    """Wait until the lines of the journal are there to be counted."""
    await store.journal.query(CallQuery(limit=1))


async def total(store: Store, span: Span = HOUR, server: UUID | None = None) -> int:
    return sum(each.calls for each in await store.history.counts(span, server))


async def test_calls_are_counted_by_minute_server_outcome_and_duration(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    for number, ms in enumerate((0.01, 1.5, 1.5, 250.0, 5e6)):
        outcome = "ok" if number else "tool_error"
        store.journal.append(a_call(0, outcome=outcome)._replace(ms=ms))
    store.journal.append(a_call(61, TWO))
    await written(store)
    counts = await store.history.counts(HOUR)
    buckets = [each.bucket for each in counts for _ in range(each.calls)]
    assert sorted(buckets) == sorted(map(bucket_of, (0.01, 1.5, 1.5, 250.0, 5e6, 1.5)))
    assert {each.outcome for each in counts} == {"ok", "tool_error"}
    assert len({each.minute for each in counts}) == 2
    assert (await total(store, server=ONE), await total(store, server=TWO)) == (5, 1)
    assert await total(store, server=UUID(int=9)) == 0
    assert set(await store.history.last_calls()) == {ONE, TWO}
    await store.close()


async def test_no_call_is_counted_twice_and_counts_survive_a_restart(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    for number in range(5):
        store.journal.append(a_call(number))
        await written(store)
        assert await total(store) == number + 1
    await store.close()
    store = await Store.open(tmp_path)
    assert await total(store) == 5
    await store.close()


async def test_counts_outlast_the_lines_that_are_trimmed(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, JournalLimits(calls=10))
    for number in range(50):
        store.journal.append(a_call(number))
        await written(store)
    assert len(await store.journal.query(CallQuery())) < 12
    assert await total(store) == 50
    await store.close()


async def test_lines_that_get_the_ids_of_removed_ones_are_counted(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, JournalLimits(days=1))
    store.journal.append(a_call(0))
    store.journal.append(a_call(1))
    await written(store)
    await store.journal.expire(NOW + timedelta(days=2))
    assert await total(store, WEEK) == 2
    store.journal.append(a_call(2))
    await written(store)
    assert await total(store, WEEK) == 3
    await store.close()


async def test_minutes_that_are_too_old_are_removed(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    store.journal.append(a_call(0))
    store.history.note_usage([UsageSample(HOUR.since, ONE, 1, 1.0)])
    await written(store)
    await store.journal.expire(NOW + timedelta(days=9))
    assert await total(store) == 0
    assert await store.history.usage(HOUR, ONE) == []
    await store.close()


async def test_the_rows_of_single_servers_are_bounded_but_those_of_all_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.sqlite.call_history.ROWS", 10)
    store = await Store.open(tmp_path)
    for number in range(30):
        store.journal.append(a_call(60 * number - 1500))
        await written(store)
        assert await total(store) == number + 1
    assert 5 <= await total(store, server=ONE) <= 11
    await store.close()


async def test_of_many_calls_every_so_manieth_is_a_point(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    for number in range(30):
        store.journal.append(a_call(number, ONE if number % 2 else TWO))
    await written(store)
    points, every = await store.history.points(HOUR, most=10)
    assert (len(points), every) == (10, 3)
    assert [each.at for each in points] == sorted(each.at for each in points)
    points, every = await store.history.points(HOUR, ONE, most=100)
    assert (len(points), every) == (15, 1)
    assert await store.history.points(Span(0, 60)) == ([], 1)
    await store.close()


async def test_usage_has_the_most_memory_and_the_mean_of_the_cpu(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    minute = HOUR.until - 120
    store.history.note_usage([UsageSample(minute, ONE, 100, 1.0), UsageSample(minute, TWO, 5, 0.0)])
    store.history.note_usage([UsageSample(minute, ONE, 90, 3.0)])
    store.history.note_usage([UsageSample(minute + 60, ONE, 80, 8.0)])
    assert await store.history.usage(HOUR, ONE) == [
        UsageSample(minute, ONE, 100, 2.0),
        UsageSample(minute + 60, ONE, 80, 8.0),
    ]
    (half_hour,) = await store.history.usage(WEEK, ONE)
    assert (half_hour.rss, half_hour.cpu) == (100, 5.0)
    await store.close()
