"""Calls over time, counted by the minute."""

import pytest

from mcpyard.domain.call_history import (
    BOUNDS,
    MINUTE,
    CallCount,
    Span,
    bucket_of,
    history_of,
    quantile,
)


def test_a_span_ends_with_the_step_that_is_not_over() -> None:
    span = Span.ending(1000.5, 300, MINUTE)
    assert (span.since, span.until, len(span.times)) == (720, 1020, 5)
    assert span.step_of(1000) == 4


def test_calls_are_added_up_by_outcome_and_step() -> None:
    span = Span(0, 240, 120)
    counts = [
        CallCount(0, "ok", 10, 2),
        CallCount(60, "ok", 12, 3),
        CallCount(120, "tool_error", 20, 1),
        CallCount(240, "ok", 1, 99),
        CallCount(-60, "ok", 1, 99),
    ]
    history = history_of(counts, span)
    assert history.calls == {"ok": [5, 0], "tool_error": [0, 1]}
    median = history.quantiles[2]
    assert median[0] is not None
    assert BOUNDS[11] < median[0] <= BOUNDS[12]


def test_a_step_without_calls_has_no_quantile() -> None:
    assert history_of((), Span(0, 120)).quantiles == [[None, None]] * 5
    assert quantile({}, 0.5) is None


@pytest.mark.parametrize("ms", [0.05, 0.1, 0.11, 1.0, 9.99, 250.0, 59_000.0, 999_999.0])
def test_a_quantile_of_equal_calls_is_right_to_a_quarter(ms: float) -> None:
    median = quantile({bucket_of(ms): 1000}, 0.5)
    assert median is not None
    assert max(ms, 0.09) / 1.26 <= median <= max(ms, 0.1) * 1.26


def test_what_took_longer_than_the_last_bound_has_a_class_of_its_own() -> None:
    assert bucket_of(5e6) == len(BOUNDS)
    longest = quantile({len(BOUNDS): 1}, 1.0)
    assert longest is not None
    assert longest > BOUNDS[-1]


def test_quantiles_grow_with_their_share() -> None:
    durations = {bucket_of(ms): 1 for ms in (1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)}
    values = [quantile(durations, share / 100) for share in range(1, 101)]
    assert values == sorted(each for each in values if each is not None)


def test_a_share_that_is_a_hair_above_all_calls_is_the_slowest() -> None:
    assert quantile({5: 1, 7: 1}, 1.0 + 1e-12) == quantile({5: 1, 7: 1}, 1.0)
