"""What callers use, and what they may use."""

import pytest

from mcpyard.domain.callers import UNLIMITED, Callers, Limits, Quotas, read_limits
from mcpyard.domain.errors import InputError, OverQuota

pytestmark = pytest.mark.spec("F2.6")


def test_a_call_beyond_the_quota_is_refused_and_counted() -> None:
    callers = Callers()
    callers.limit(Quotas(calls=2))
    one, other = callers.of("one"), callers.of("other")
    one.enter()
    one.enter()
    with pytest.raises(OverQuota, match="2 calls of this token are already in flight"):
        one.enter()
    one.calls -= 1
    other.enter()
    one.calls -= 1
    one.enter()
    assert (one.refused, other.refused) == ({"calls": 1}, {})


def test_a_stream_beyond_the_quota_is_refused_unless_it_replaces_another() -> None:
    callers = Callers()
    callers.limit(Quotas(streams=1))
    caller = callers.of("one")
    with caller.streaming():
        with pytest.raises(OverQuota, match="already has 1 streams open"), caller.streaming():
            raise AssertionError("it was not refused")
        with caller.streaming(again=True):
            assert caller.streams == 2
    assert caller.streams == 0


def test_a_process_beyond_the_quota_takes_the_place_of_an_idle_one_or_is_refused() -> None:
    callers = Callers()
    callers.limit(Quotas(processes=2))
    caller = callers.of("one")
    caller.add_process("a")
    caller.add_process("b")
    with pytest.raises(OverQuota, match="2 server processes"):
        caller.add_process("c")

    def evict(quota: str) -> bool:
        assert quota == "processes"
        caller.remove_process("a")
        return True

    caller.evict = evict
    caller.add_process("c")
    assert caller.processes == {"b": 1, "c": 1}


def test_memory_beyond_the_quota_is_freed_as_far_as_something_is_idle() -> None:
    callers = Callers()
    callers.limit(Quotas(memory=10))
    caller = callers.of("one")
    caller.kept = 30
    caller.check_memory()
    assert caller.kept == 30

    def evict(_quota: str) -> bool:
        caller.kept -= 15
        return True

    caller.evict = evict
    caller.check_memory()
    assert caller.kept == 0


def test_the_library_itself_has_no_quota_and_new_quotas_apply_to_everybody_else() -> None:
    callers = Callers(frozenset({"library"}))
    library, one = callers.of("library"), callers.of("one")
    callers.limit(Quotas(calls=1))
    assert (library.quotas, one.quotas.calls, callers.of("two").quotas.calls) == (UNLIMITED, 1, 1)


def test_callers_that_use_nothing_are_forgotten_when_there_are_many() -> None:
    callers = Callers()
    active = callers.of("active")
    active.enter()
    for number in range(2_000):
        callers.of(f"browser:{number}")
    assert len([*callers]) <= 1_001
    assert callers.of("active") is active


def test_limits_are_read_by_name() -> None:
    assert read_limits("") == Limits(Quotas(512, 64, 32, 8, 64 * 1024 * 1024), None)
    text = "calls=1, sessions=2,streams=3,processes=4,memory=5MiB,connections=6"
    assert read_limits(text) == Limits(Quotas(1, 2, 3, 4, 5 * 1024 * 1024), 6)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("call=1", "call: is not a limit: use calls, sessions, streams, processes, memory, conn"),
        ("calls", "calls: must be a whole number from 1"),
        ("calls=0", "calls: must be a whole number from 1"),
        ("calls=-1", "calls: must be a whole number from 1"),
        ("calls=1KiB", "calls: must be a whole number from 1"),
        ("memory=many", "memory: must be a whole number from 1 or a size such as 64MiB"),
        ("=1", ": is not a limit"),
    ],
)
def test_a_limit_that_cannot_be_used_is_named(text: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        read_limits(text)
    assert problem.removeprefix(": ") in raised.value.message
