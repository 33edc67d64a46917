"""Ends what a killed keeper, or a yard killed together with its keeper, has left behind.

Every child carries a mark in its environment: which yard it belongs to, and that yard's pid and
start time. Only the exact yard a mark names decides: the processes of one that lives, or of one
seen through another pid namespace, are never touched. What has removed the mark from its own
environment, or belongs to a user whose processes we may not read, cannot be found this way.

The functions block for some milliseconds and are meant for a thread.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

from mcpyard.runtime.keeper import (
    Process,
    kill_process,
    newest_first,
    read_mark,
    read_process,
)

_SECONDS: Final = 5.0
"""What survives SIGKILL this long is stuck in the kernel or not ours to kill."""
_ROUND_SECONDS: Final = 0.01
"""How long the killed get to be gone before the next look."""
_QUIET_ROUNDS: Final = 2
"""A process is without an environment for an instant while it is being started."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a child's environment says about the yard that started it."""

    instance: str
    yard_pid: int
    yard_start: int

    @classmethod
    def of_this_process(cls, instance: str) -> Self:
        """The mark of the children of a yard in this process."""
        row = read_process(os.getpid())
        return cls(instance, os.getpid(), row.start if row else 0)

    @classmethod
    def parse(cls, value: bytes) -> Self | None:
        """The mark in the variable's value, or None when it is not one of ours."""
        try:
            instance, pid, start, _ = value.decode().rsplit(":", 3)
            return cls(instance, int(pid), int(start))
        except ValueError:
            return None

    def of_child(self, number: int) -> str:
        """The value of the variable for one child."""
        return f"{self.instance}:{self.yard_pid}:{self.yard_start}:{number}"


class Swept(NamedTuple):
    """How many processes were ended, and how many would not end."""

    killed: int = 0
    left: int = 0


def end_marked(mark: Mark) -> Swept:
    """Kill every process that carries this yard's mark, until none is left."""
    return _sweep(lambda found: found == mark)


def sweep_dead_yards() -> Swept:
    """Kill every process whose mark names a yard that is dead, until none is left."""
    return _sweep(_is_dead)


def _is_dead(mark: Mark) -> bool:
    row = read_process(mark.yard_pid)
    return row is None or row.start != mark.yard_start or row.dying


def _sweep(condemned: Callable[[Mark], bool]) -> Swept:
    if not sys.platform.startswith("linux"):
        return Swept()
    spared = frozenset(_line_of_descent())
    killed: set[tuple[int, int]] = set()
    found: set[tuple[int, int]] = set()
    until = time.monotonic() + _SECONDS
    quiet = 0
    while quiet < _QUIET_ROUNDS and time.monotonic() < until:
        found = {row.key for row in _kill_all(condemned, spared)}
        killed |= found
        quiet = 0 if found else quiet + 1
        if found:
            threading.Event().wait(_ROUND_SECONDS)
    return Swept(len(killed - found), len(found))


def _line_of_descent() -> Iterator[int]:
    """This process and its ancestors: a yard may itself have been started by a marked shell."""
    row = read_process(os.getpid())
    while row:
        yield row.pid
        row = read_process(row.parent)


def _kill_all(condemned: Callable[[Mark], bool], spared: frozenset[int]) -> Iterator[Process]:
    here = _namespace("self")
    for pid in newest_first():
        row = None if pid in spared else read_process(pid)
        mark = Mark.parse(read_mark(pid)) if row else None
        # A pid in the mark of a container's process means another process out here.
        if row and mark and condemned(mark) and _namespace(str(pid)) == here:
            kill_process(row)
            yield row


def _namespace(pid: str) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""
