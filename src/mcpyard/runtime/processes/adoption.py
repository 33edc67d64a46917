"""A daemon adopts what its killed keeper leaves behind, and so can end all of it.

The kernel hands the children of a dead process to the nearest ancestor that is a sub-reaper. Where
the daemon is one, nothing below its keeper gets past it, however detached, and with whatever
environment. A library must not do this to the program it is used in: it would become the parent of
processes that the program itself, or others, started and left on purpose.

Not everything the daemon has as a child came from its keeper. What it started itself shares its
session, which nothing below the keeper can enter; what was there while the keeper was seen to be
alive cannot be the keeper's.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import Final

from mcpyard.runtime.processes.table import (
    LIBC,
    ProcessRow,
    kill_process,
    newest_first,
    read_file,
    read_process,
)

_PR_SET_CHILD_SUBREAPER: Final = 36


class Adoption:
    """This process as the parent of orphans; there is one, since it holds for the whole process.

    Attributes:
        active: Whether it adopts.
        keepers: The pids of living keepers, which are no orphans.
    """

    def __init__(self) -> None:
        self.active = False
        self.keepers: set[int] = set()
        self._others: set[tuple[int, int]] = set()

    def begin(self) -> None:
        """Adopt from now on; for a program that is mcpyard and nothing else, and on Linux."""
        prctl = getattr(LIBC, "prctl", None)
        self.active = prctl is not None and prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0

    def spare_present(self, keeper: int) -> None:
        """Leave alone what is a child of this process while the keeper lives."""
        if not self.active:
            return
        me = os.getpid()
        text = read_file(f"/proc/{me}/task/{me}/children")
        rows = [read_process(int(pid)) for pid in text.split()]
        # Asked last: what it leaves behind is handed over only after its end has begun.
        alive = read_process(keeper)
        if alive and not alive.dying:
            self._others = {row.key for row in rows if row}

    def kill(self) -> Iterator[ProcessRow]:
        """Kill every adopted process with all below it, and reap those that are dead."""
        if not self.active:
            return
        table: dict[int, ProcessRow] = {}
        for pid in newest_first():
            if row := read_process(pid):
                table[pid] = row
                # What forks and exits faster than the table is read would be gone by its end.
                if self._is_adopted(row):
                    kill_process(row)
        for row in descendants(table, filter(self._is_adopted, table.values())):
            kill_process(row)
            _reap(row)
            yield row

    def _is_adopted(self, row: ProcessRow) -> bool:
        return (
            row.parent == os.getpid()
            and row.session != os.getsid(0)
            and row.pid not in self.keepers
            and row.key not in self._others
        )


ADOPTION: Final = Adoption()


def descendants(table: dict[int, ProcessRow], roots: Iterator[ProcessRow]) -> list[ProcessRow]:
    """Some processes and all that are below them."""
    below: dict[int, list[ProcessRow]] = {}
    for row in table.values():
        below.setdefault(row.parent, []).append(row)
    rows = {row.pid: row for row in roots}
    queue = list(rows.values())
    for row in queue:
        fresh = [each for each in below.get(row.pid, ()) if each.pid not in rows]
        rows.update((each.pid, each) for each in fresh)
        queue += fresh
    return queue


def _reap(row: ProcessRow) -> None:
    # By its number: others wait for theirs themselves, and any of them might be taken otherwise.
    with contextlib.suppress(ChildProcessError):
        os.waitpid(row.pid, os.WNOHANG)
