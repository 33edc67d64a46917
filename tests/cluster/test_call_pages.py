"""The journals of several nodes as one."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.cluster.call_pages import CallPosition, merge_calls
from mcpyard.domain.stored import CallRecord

START = datetime(2026, 11, 18, tzinfo=UTC)


def call(node: str, number: int, second: float) -> CallRecord:
    at = START + timedelta(seconds=second)
    return CallRecord(at, "cli", UUID(int=1), "files", "read", 1.0, "ok", 0, 0, number, node)


def journals_of(seconds: dict[str, list[int]]) -> dict[str, list[CallRecord]]:
    """The calls of each node, newest first, at these seconds; the clocks never go back."""
    return {
        node: [call(node, number, at) for number, at in enumerate(sorted(when), 1)][::-1]
        for node, when in seconds.items()
    }


def asked(
    journals: dict[str, list[CallRecord]], before: CallPosition | None, limit: int
) -> dict[str, list[CallRecord]]:
    """What each node answers to a question for a page."""
    ids = before.ids if before else {}
    return {
        node: [each for each in calls if each.id < ids.get(node, 2**62)][: limit + 1]
        for node, calls in journals.items()
    }


def keys(calls: Iterable[CallRecord]) -> list[tuple[str, int]]:
    return [(each.node, each.id) for each in calls]


@given(
    st.dictionaries(st.sampled_from(["n1", "n2", "n3"]), st.lists(st.integers(0, 20), max_size=9)),
    st.integers(1, 5),
)
def test_pages_have_every_call_once_and_newest_first(
    seconds: dict[str, list[int]], limit: int
) -> None:
    journals = journals_of(seconds)
    every: list[CallRecord] = []
    before: CallPosition | None = None
    while True:
        answers = asked(journals, before, limit)
        page = merge_calls(answers, before.ids if before else {}, limit)
        every += page.calls
        assert len(page.calls) <= limit
        if page.following is None:
            break
        before = CallPosition.parse(str(page.following))
        assert before == page.following
    assert sorted(keys(every)) == sorted(
        keys(each for calls in journals.values() for each in calls)
    )
    assert [each.at for each in every] == sorted((each.at for each in every), reverse=True)


def test_a_call_made_meanwhile_is_not_on_an_older_page() -> None:
    journals = journals_of({"n1": [5, 6], "n2": [1]})
    first = merge_calls(asked(journals, None, 2), {}, 2)
    assert keys(first.calls) == [("n1", 2), ("n1", 1)]
    journals["n2"].insert(0, call("n2", 2, 9))
    assert first.following
    older = merge_calls(asked(journals, first.following, 2), first.following.ids, 2)
    assert keys(older.calls) == [("n2", 1)]
    assert older.following is None


def test_nodes_that_did_not_answer_are_named_and_keep_their_place() -> None:
    before = {"n1": 5, "n3": 7}
    calls = journals_of({"n1": [1, 2, 3]})["n1"]
    page = merge_calls({"n1": calls, "n3": None, "n2": None}, before, 2)
    assert page.missing == ["n2", "n3"]
    assert page.following == CallPosition({"n1": 2, "n3": 7})
    assert page.newest({"n3": 9}) == CallPosition({"n1": 3, "n3": 9})


def test_a_node_without_calls_has_no_place() -> None:
    page = merge_calls({"n1": journals_of({"n1": [1, 2]})["n1"], "n2": []}, {}, 1)
    assert page.following == CallPosition({"n1": 2})


def test_one_journal_is_paged_by_numbers() -> None:
    page = merge_calls({"": [call("", 9, 2), call("", 8, 1)]}, {}, 1)
    assert str(page.following) == "9"
    assert CallPosition.parse("9") == CallPosition({"": 9})
    assert str(CallPosition({"n-1": 3, "n2": 4})) == "n-1.3~n2.4"


@pytest.mark.parametrize("text", ["", "x", "n1.", "n1.x", "n1.-1", "1~", "9" * 30])
def test_what_is_no_position_is_refused(text: str) -> None:
    assert CallPosition.parse(text) is None
