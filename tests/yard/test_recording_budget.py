"""How many calls are recorded."""

from uuid import UUID

import pytest

from mcpyard.yard.calls.recording_budget import (
    BURST,
    RATE,
    RESERVED,
    SHARE,
    ProcessorShare,
    RecordingWindow,
)

ONE, TWO = UUID(int=1), UUID(int=2)


@pytest.mark.spec("F6.1")
def test_at_most_so_many_calls_a_second_are_recorded_of_each_server() -> None:
    window = RecordingWindow()
    taken = [window.take(ONE, 5.0 + number / 1000, failed=False) for number in range(999)]
    assert sum(taken) == RATE - RESERVED
    assert window.take(TWO, 5.5, failed=False)
    later = [window.take(ONE, 6.0 + number / 1000, failed=True) for number in range(999)]
    assert sum(later) == RATE


def test_calls_that_failed_have_room_left() -> None:
    window = RecordingWindow()
    for _ in range(1000):
        window.take(ONE, 1.0, failed=False)
    assert [window.take(ONE, 1.0, failed=True) for _ in range(60)] == [
        *[True] * RESERVED,
        *[False] * (60 - RESERVED),
    ]


def test_recording_stops_for_a_while_when_it_takes_too_long() -> None:
    share = ProcessorShare()
    assert share.has_time(100.0)
    share.spend(BURST + 1.0)
    assert not share.has_time(101.0)
    assert not share.has_time(101.0 + 0.8 / SHARE)
    assert share.has_time(102.0 + 1.0 / SHARE)
