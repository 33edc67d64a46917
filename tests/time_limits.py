"""One slow test costs one failure, whatever it is doing.

What pytest itself raises to fail a test is a failing example to Hypothesis, which would go on and
shrink it without any limit. So a time limit raises an exception here that nobody takes for one. It
holds for set-up, test and tear-down each, and comes again for as long as it is swallowed. Code that
holds the interpreter cannot be interrupted: the process ends then, and pytest-xdist counts the test
as failed and goes on with another worker.
"""

import faulthandler
import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import pytest

LIMITS_UNTIL_EXIT = 4


class TimeLimitReached(BaseException):
    """A test takes longer than it may."""


@contextmanager
def _limited(item: pytest.Item) -> Generator[None]:
    marker = item.get_closest_marker("timeout")
    assert marker, "every test has a time limit"
    seconds: float = marker.args[0]

    message = f"{item.name} took longer than {seconds:g} s"
    reached = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal reached
        del number, frame
        reached = True
        raise TimeLimitReached(message)

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    faulthandler.dump_traceback_later(LIMITS_UNTIL_EXIT * seconds, exit=True)
    try:
        yield
    except Exception as error:
        # Code under test may swallow the limit, and fail in its own way.
        if reached:
            error.add_note(message)
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the fixtures of a test."""
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Limit a test."""
    with _limited(item):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Limit the end of the fixtures of a test."""
    with _limited(item):
        return (yield)
