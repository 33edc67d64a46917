"""How much of the journal is kept, and whose lines go first."""

from datetime import timedelta
from pathlib import Path

import pytest

from mcpyard.domain.errors import ArgumentsRefused
from mcpyard.domain.stored import CallQuery
from mcpyard.store.journal_limits import CALLS, DAYS, JournalLimits
from mcpyard.store.sqlite.journal import SqliteJournal, fair_share
from mcpyard.store.sqlite.store import Store
from mcpyard.store.upkeep import Upkeep
from tests.store.contract import NOW, opened
from tests.store.contract_journal import a_call


async def lines_of(journal: SqliteJournal, who: str) -> list[int]:
    return [each.bytes_in for each in await journal.query(CallQuery(who=who, limit=100_000))]


async def test_one_caller_does_not_remove_the_lines_of_others(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, JournalLimits(calls=1000))
    journal = store.journal
    for number in range(50):
        journal.append(a_call(number)._replace(who="quiet"))
    for number in range(11_600):
        journal.append(a_call(number)._replace(who="busy"))
    assert await lines_of(journal, "quiet") == [*range(49, -1, -1)]
    assert await lines_of(journal, "busy") == [*range(11_599, 11_599 - 950, -1)]
    assert (journal.trimmed, journal.dropped) == (11_600 - 950, 0)
    assert not journal.is_dropping
    await store.close()


@pytest.mark.parametrize("count", [1, 9, 104, 4_444])
async def test_lines_of_any_number_are_stored_in_their_order(tmp_path: Path, count: int) -> None:
    async with opened(lambda: Store.open(tmp_path)) as store:
        for number in range(count):
            store.journal.append(a_call(number))
        stored = await store.journal.query(CallQuery(limit=100_000))
        assert [each.bytes_in for each in stored] == [*range(count - 1, -1, -1)]


async def test_the_callers_with_the_most_lines_lose_their_oldest(tmp_path: Path) -> None:
    async with opened(lambda: Store.open(tmp_path)) as store:
        assert isinstance(store, Store)
        journal = SqliteJournal(store._journal, JournalLimits(calls=100))
        for who, count in (("a", 10), ("b", 60), ("c", 80)):
            for number in range(count):
                journal.append(a_call(number)._replace(who=who))
        assert await lines_of(journal, "a") == [*range(9, -1, -1)]
        assert await lines_of(journal, "b") == [*range(59, 14, -1)]
        assert await lines_of(journal, "c") == [*range(79, 34, -1)]
        assert journal.trimmed == 50


async def test_with_more_callers_than_lines_the_oldest_go(tmp_path: Path) -> None:
    async with opened(lambda: Store.open(tmp_path)) as store:
        assert isinstance(store, Store)
        journal = SqliteJournal(store._journal, JournalLimits(calls=10))
        for number in range(40):
            journal.append(a_call(number)._replace(who=f"caller{number // 2}"))
        left = [each.bytes_in for each in await journal.query(CallQuery(limit=100))]
        assert left == [*range(39, 20, -2)]


@pytest.mark.parametrize(
    ("counts", "limit", "share"),
    [
        ([], 10, 10),
        ([5], 10, 5),
        ([50], 10, 10),
        ([1, 50], 10, 9),
        ([50, 50], 10, 5),
        ([3, 4, 50, 2], 12, 3),
        ([3, 4, 3], 10, 4),
        ([1] * 20, 10, 1),
    ],
)
def test_a_share_is_what_is_left_by_those_who_need_less(
    counts: list[int], limit: int, share: int
) -> None:
    assert fair_share(counts, limit) == share


async def test_a_caller_whose_lines_fill_the_queue_leaves_room_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcpyard.store.sqlite.journal._WAITING", 100)
    store = await Store.open(tmp_path)
    journal = store.journal
    for number in range(1000):
        journal.append(a_call(number)._replace(who="busy"))
    for number in range(5):
        journal.append(a_call(number)._replace(who="quiet"))
    assert journal.is_dropping
    assert len(await lines_of(journal, "quiet")) == 5
    assert len(await lines_of(journal, "busy")) == 75
    assert journal.dropped == 925
    for number in range(40):
        journal.append(a_call(number)._replace(who="busy"))
    assert len(await lines_of(journal, "busy")) == 115
    await store.close()


async def test_lines_that_are_too_old_are_removed(tmp_path: Path) -> None:
    store = await Store.open(tmp_path, JournalLimits(days=2))
    for days in range(5):
        at = NOW - timedelta(days=days)
        store.journal.append(a_call(days)._replace(at=at))
    assert len(await store.journal.query(CallQuery())) == 5
    await Upkeep(store, lambda: NOW + timedelta(hours=1)).expire()
    assert [each.bytes_in for each in await store.journal.query(CallQuery())] == [1, 0]
    assert store.journal.trimmed == 0
    await store._journal.run(lambda connection: connection.execute("DROP TABLE calls"))
    with pytest.raises(Exception, match="no such table"):
        await store.journal.expire(NOW)
    await store.close()


def test_the_environment_sets_the_limits() -> None:
    assert JournalLimits.of({}) == JournalLimits(CALLS, DAYS)
    set_ = {"MCPYARD_JOURNAL_CALLS": "500", "MCPYARD_JOURNAL_DAYS": "7"}
    assert JournalLimits.of(set_) == JournalLimits(500, 7)
    assert JournalLimits.of({"MCPYARD_JOURNAL_DAYS": ""}) == JournalLimits()


@pytest.mark.parametrize("variable", ["MCPYARD_JOURNAL_CALLS", "MCPYARD_JOURNAL_DAYS"])
@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "99999999999", "٣"])
def test_a_limit_that_makes_no_sense_is_refused_by_name(variable: str, text: str) -> None:
    with pytest.raises(ArgumentsRefused, match=f"{variable}: must be a whole number from 1 to"):
        JournalLimits.of({variable: text})
