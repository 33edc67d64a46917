"""What process trees use: one look at the process table serves any number of them."""

import os
import re
import time
from collections.abc import Iterable, Sequence
from typing import Final

from mcpyard.runtime.processes.table import ProcessRow, newest_first, read_fields, read_file

ProcessKey = tuple[int, int]
"""The pid of a process and when it began, which no later process has."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_TIMES: Final = slice(11, 15)
"""Of a row: the time used in user and kernel mode, by the process and by its ended children."""

_RSS: Final = 21
_SHARES: Final = re.compile(rb"^Pss:\s+(\d+) kB$", re.MULTILINE)


class UsageRow(ProcessRow):
    """A row of the process table with what the process uses."""

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        super().__init__(pid, fields)
        self.rss = int(fields[_RSS]) * _PAGE
        self.cpu_seconds = sum(map(int, fields[_TIMES])) / _TICKS


class ProcessSnapshot:
    """The process table at one moment.

    Attributes:
        at: When, by the monotonic clock.
    """

    def __init__(self) -> None:
        self.at = time.monotonic()
        self._rows: dict[int, UsageRow] = {}
        self._below: dict[int, list[UsageRow]] = {}
        for pid in newest_first():
            if fields := read_fields(pid):
                row = self._rows[pid] = UsageRow(pid, fields)
                self._below.setdefault(row.parent, []).append(row)

    def tree(self, roots: Iterable[ProcessKey]) -> list[UsageRow]:
        """Some processes and all that are below them, as far as they live."""
        tree = [row for pid, start in roots if (row := self._rows.get(pid)) and row.start == start]
        seen = {row.pid for row in tree}
        for row in tree:
            below = [each for each in self._below.get(row.pid, ()) if each.pid not in seen]
            seen.update(each.pid for each in below)
            tree += below
        return [row for row in tree if not row.dying]

    def age(self, row: ProcessRow) -> float:
        """For how many seconds a process has run."""
        up = float((read_file("/proc/uptime").split() or [b"0"])[0])
        return max(up - row.start / _TICKS, 1 / _TICKS)


def memory_of(rows: Sequence[UsageRow], limit: int | None = None) -> int:
    """The bytes of resident memory of some processes.

    What several of them share counts for each; only where the sum exceeds the limit it is worth
    to find out what they use without counting anything twice.
    """
    total = sum(row.rss for row in rows)
    if limit is None or total <= limit or len(rows) == 1:
        return total
    return sum(map(_share, rows))


def _share(row: UsageRow) -> int:
    match = _SHARES.search(read_file(f"/proc/{row.pid}/smaps_rollup"))
    return int(match[1]) * 1024 if match else row.rss
