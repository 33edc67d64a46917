"""Ends what a lost keeper, or a yard killed together with its keeper, has left behind.

Found are: the children by their pids and start times, with all below them; what this process has
adopted, where it does; what is in the keeper's control group, where it has one; and what carries
the yard's mark. Only the exact yard that a mark names decides: the processes of one that lives, or
of one seen through another pid namespace, are never touched.

Nothing but the control group or adoption finds a process that has left its session, lost its parent
and removed the mark. Processes of a user whose environment we may not read have no mark for us.

The functions block for some milliseconds and are meant for a thread.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from mcpyard.runtime.processes.adoption import ADOPTION, descendants
from mcpyard.runtime.processes.cgroups import Cgroup, end_groups_of_dead_yards
from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.table import (
    ProcessRow,
    kill_process,
    newest_first,
    pid_namespace,
    read_mark,
    read_process,
    yard_is_dead,
)

_SECONDS: Final = 5.0
"""What survives SIGKILL this long is stuck in the kernel or not ours to kill."""
_ROUND_SECONDS: Final = 0.01
"""How long the killed get to be gone before the next look."""
_QUIET_ROUNDS: Final = 2
"""A process is without an environment for an instant while it is being started."""
_CGROUP_SECONDS: Final = 1.0
"""A control group counts its last process for a moment after that was killed, even reaped."""


class Swept(NamedTuple):
    """How many processes were ended, and how many would not end."""

    killed: int = 0
    left: int = 0


class Remains:
    """What a lost keeper has left behind."""

    def __init__(
        self,
        mark: Mark,
        key: MarkKey,
        mains: Iterable[tuple[int, int]] = (),
        cgroup: Cgroup | None = None,
    ) -> None:
        """Names what is to end.

        Args:
            mark: The yard's mark.
            key: What the mark is signed with.
            mains: The main processes of its children, by pid and start time.
            cgroup: The control group of the keeper.
        """
        self._mark = mark
        self._key = key
        self._leaders = dict(mains)
        self._known = set(self._leaders.items())
        self._cgroup = cgroup

    def strike(self) -> None:
        """Kill what is to be found at once, before anything has the time to detach itself."""
        if self._cgroup:
            self._cgroup.kill()
        _kill_all(self._families())

    def end(self) -> Swept:
        """Kill everything until nothing is left."""
        swept = _sweep(self._look)
        until = time.monotonic() + _CGROUP_SECONDS
        while self._cgroup and not self._cgroup.remove() and time.monotonic() < until:
            threading.Event().wait(_ROUND_SECONDS)
        return swept

    def _look(self) -> Iterator[ProcessRow]:
        if self._cgroup:
            self._cgroup.kill()
        yield from _kill_all(self._families())
        yield from ADOPTION.kill()
        yield from _kill_marked(self._key, lambda mark: mark == self._mark)

    def _families(self) -> list[ProcessRow]:
        """The children as far as they live, all in their sessions, and all below these."""
        if not self._known:
            return []
        table = {row.pid: row for row in map(read_process, newest_first()) if row}
        roots = (row for row in table.values() if self._is_known(row, table))
        members = descendants(table, roots)
        # Once their parents are dead, these are known by nothing else.
        self._known |= {row.key for row in members}
        return [row for row in members if not row.dying]

    def _is_known(self, row: ProcessRow, table: dict[int, ProcessRow]) -> bool:
        start = self._leaders.get(row.session)
        if row.key in self._known or start is None:
            return row.key in self._known
        leader = table.get(row.session)
        return row.start >= start and (leader is None or leader.start == start)


def sweep_dead_yards(key: MarkKey) -> Swept:
    """Kill every process whose mark names a dead yard of this home, until none is left."""
    if sys.platform.startswith("linux"):
        end_groups_of_dead_yards(key)
    return _sweep(lambda: _kill_marked(key, lambda mark: yard_is_dead(*mark.yard)))


def _sweep(look: Callable[[], Iterable[ProcessRow]]) -> Swept:
    if not sys.platform.startswith("linux"):
        return Swept()
    killed: set[tuple[int, int]] = set()
    keys: set[tuple[int, int]] = set()
    until = time.monotonic() + _SECONDS
    quiet = 0
    while quiet < _QUIET_ROUNDS and time.monotonic() < until:
        keys = {row.key for row in look()}
        killed |= keys
        quiet = 0 if keys else quiet + 1
        if keys:
            threading.Event().wait(_ROUND_SECONDS)
    return Swept(len(killed - keys), len(keys))


def _kill_all(rows: list[ProcessRow]) -> list[ProcessRow]:
    for row in rows:
        kill_process(row)
    return rows


def _line_of_descent() -> Iterator[int]:
    """This process and its ancestors: a yard may itself have been started by a marked shell."""
    row = read_process(os.getpid())
    while row:
        yield row.pid
        row = read_process(row.parent)


def _kill_marked(key: MarkKey, condemned: Callable[[Mark], bool]) -> Iterator[ProcessRow]:
    spared = frozenset(_line_of_descent())
    namespace = pid_namespace()
    for pid in newest_first():
        row = None if pid in spared else read_process(pid)
        mark = key.verify(read_mark(pid)) if row else None
        if not (row and mark and row.start >= mark.yard_start and condemned(mark)):
            continue
        # A pid in the mark of a container's process means another process out here.
        if pid_namespace(pid) == namespace:
            kill_process(row)
            yield row
