"""How much work something is, in lines of Python that run: the same on every machine."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Taken:
    """Counts the lines that run, those of every round of a loop among them."""

    def __init__(self) -> None:
        self.lines = 0

    def trace(self, frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401  as `sys` has it
        del frame, event, argument
        self.lines += 1
        return self.trace


@contextmanager
def counting() -> Generator[Taken]:
    """Count the lines of what is called in the block, on this thread."""
    before, taken = sys.gettrace(), Taken()
    sys.settrace(taken.trace)
    try:
        yield taken
    finally:
        sys.settrace(before)


def steps(work: Callable[[], object]) -> int:
    """The lines that something takes."""
    with counting() as taken:
        work()
    return taken.lines
