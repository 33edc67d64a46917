"""Whether a server responds, by the evidence alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.health import Health, HealthVerdict
from mcpyard.domain.model import HealthCheck


def health(**settings: int) -> Health:
    return Health(HealthCheck(**settings))


def degraded() -> Health:
    breaker = health()
    for _ in range(3):
        breaker.timed_out()
    assert breaker.missed(working=False) is HealthVerdict.DEGRADED
    return breaker


@pytest.mark.spec("F2.4")
@pytest.mark.parametrize("working", [True, False])
def test_three_time_outs_and_a_missed_ping_open_the_breaker(*, working: bool) -> None:
    breaker = health()
    breaker.timed_out()
    breaker.timed_out()
    assert breaker.missed(working=True) is None
    breaker.timed_out()
    assert not breaker.is_open
    assert breaker.missed(working=working) is HealthVerdict.DEGRADED
    assert (breaker.is_open, breaker.misses) == (True, 0)


@pytest.mark.parametrize("times", [1, 2, 50])
def test_an_answer_makes_the_time_outs_before_it_forgotten(times: int) -> None:
    breaker = health()
    for _ in range(times):
        breaker.timed_out()
    assert breaker.answered() is None
    assert breaker.missed(working=False) is None
    assert (breaker.timeouts, breaker.misses) == (0, 1)


def test_missed_pings_are_as_good_as_time_outs_where_a_call_ran_into_its_limit() -> None:
    breaker = health()
    breaker.timed_out()
    pauses = []
    for _ in range(2):
        pauses.append(breaker.pause)
        assert breaker.missed(working=False) is None
    assert breaker.missed(working=True) is None
    assert breaker.missed(working=False) is HealthVerdict.DEGRADED
    assert pauses == [30, 10]


def test_missed_pings_alone_lose_an_idle_server() -> None:
    breaker = health(failures=2)
    assert breaker.missed(working=False) is None
    assert breaker.missed(working=False) is HealthVerdict.LOST


@pytest.mark.spec("F2.5")
def test_no_number_of_missed_pings_loses_a_server_at_work() -> None:
    for breaker in (health(), degraded()):
        assert {breaker.missed(working=True) for _ in range(100)} == {None}
        assert [breaker.missed(working=False) for _ in range(3)] == [None, None, HealthVerdict.LOST]


def test_an_open_breaker_is_closed_by_any_answer_and_lost_by_further_misses() -> None:
    breaker = degraded()
    assert breaker.missed(working=False) is None
    assert breaker.answered() is HealthVerdict.RECOVERED
    assert (breaker.is_open, breaker.misses, breaker.timeouts) == (False, 0, 0)
    again = degraded()
    assert [again.missed(working=False) for _ in range(3)] == [None, None, HealthVerdict.LOST]


def test_an_open_breaker_pings_soon_and_then_at_growing_intervals() -> None:
    breaker = health()
    assert breaker.pause == 30
    breaker = degraded()
    pauses = []
    for _ in range(5):
        pauses.append(breaker.pause)
        breaker.missed(working=True)
    assert pauses == [5, 10, 20, 30, 30]
    breaker.answered()
    assert breaker.pause == 30


def test_one_call_at_a_time_tries_a_degraded_server_and_none_while_it_is_pinged() -> None:
    breaker = degraded()
    assert breaker.let_through()
    assert not breaker.let_through()
    breaker.tried()
    assert breaker.let_through()
    breaker.tried()
    breaker.pinging = True
    assert not breaker.let_through()


@given(st.lists(st.sampled_from(["timed_out", "answered", "missed", "missed at work"])))
def test_a_breaker_is_open_exactly_from_degraded_to_recovered(events: list[str]) -> None:
    breaker, is_open, in_a_row, in_vain = health(), False, 0, 0
    for event in events:
        verdict = None
        if event == "timed_out":
            breaker.timed_out()
            in_a_row += 1
        elif event == "answered":
            verdict = breaker.answered()
            assert (verdict is HealthVerdict.RECOVERED) == is_open
            is_open, in_a_row, in_vain = False, 0, 0
        else:
            in_vain += 1
            verdict = breaker.missed(working=event == "missed at work")
            if verdict is HealthVerdict.DEGRADED:
                assert not is_open
                assert in_a_row >= 1
                assert in_a_row + in_vain > 3
                is_open = True
            assert verdict is not HealthVerdict.LOST or event == "missed"
        assert breaker.is_open == is_open
        if verdict is HealthVerdict.LOST:
            return
