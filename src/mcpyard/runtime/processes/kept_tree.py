"""The processes below a keeper, and the child that each one belongs to.

An adopted process is recognised, in this order, by: what was seen of it earlier (the keeper looks
at its tree every few seconds, and before a signal), its parent, its session, the mark in its
environment. A process that dropped the mark, left its session and lost its parent between two looks
cannot be told apart: it ends as soon as no living child is old enough to have started it, at the
latest with the keeper. Out of reach are processes the keeper may not signal (another user's, by
setuid), and what a child had others start for it (a container, a timer, a service).
"""

import os
import time

from mcpyard.runtime.processes.table import (
    ProcessRow,
    kill_process,
    newest_first,
    read_mark,
    read_process,
)

MOST_DETACHED = 500  # told of one child, so that they fit into a packet


class KeptProcess:
    """A server's main process; `ending` is when its end began, 0 while nobody wants it to end.

    One that is `fenced` runs until the deadline only, and is `expired` when that ended it.
    """

    def __init__(self, number: int, pid: int, mark: bytes, *, fenced: bool) -> None:
        self.number, self.pid, self.mark, self.fenced = number, pid, mark, fenced
        self.expired = False
        row = read_process(pid)
        self.start = row.start if row else 0
        self.alive = True
        self.ending = 0.0
        self.detached: list[tuple[int, int]] = []


class Tree:
    """All processes below the keeper, and whose each one is."""

    def __init__(self) -> None:
        self.children: dict[int, KeptProcess] = {}
        self.rows: list[ProcessRow] = []
        self.looked = 0.0
        self.blind = False
        self.clear = True  # the last look met no process that was gone before it could be read
        self._me = os.getpid()
        self.owners: dict[tuple[int, int], KeptProcess | None] = {}
        self._sessions: dict[int, KeptProcess] = {}

    def ending(self) -> list[KeptProcess]:
        """The children that are to end."""
        return [child for child in self.children.values() if child.ending]

    def look(self) -> None:
        """Read the process table, and remember whose each descendant is."""
        below = self._read()
        rows = list(below.get(self._me, ()))
        owners: dict[tuple[int, int], KeptProcess | None] = {}
        by_pid: dict[int, KeptProcess | None] = {}
        sessions: dict[int, KeptProcess] = {}
        for row in rows:
            rows.extend(below.get(row.pid, ()))
            owner = self.owners.get(row.key) or by_pid.get(row.parent) or self._guess(row)
            owners[row.key] = by_pid[row.pid] = owner
            if owner:
                # The kernel gives no number out anew while it names a session or a group.
                sessions[row.session] = sessions[row.group] = owner
        # A table without even the keeper itself could not be read, for want of descriptors.
        self.blind = not below
        self.rows, self.looked = rows, time.monotonic()
        if not self.blind:
            self.owners, self._sessions = owners, sessions

    def doomed(self, row: ProcessRow) -> bool:
        """Whether a process is to end: its child is, or no living child can have started it."""
        owner = self.owners.get(row.key) or self._guess(row)
        if owner:
            return owner.ending > 0
        return not any(c.start <= row.start and not c.ending for c in self.children.values())

    def detached(self) -> dict[int, list[tuple[int, int]]]:
        """The processes that the keeper adopted from each child, by the child's number."""
        roots: dict[int, list[tuple[int, int]]] = {}
        for row in self.rows:
            owner = self.owners.get(row.key)
            if owner and row.parent == self._me and row.pid != owner.pid and not row.dying:
                roots.setdefault(owner.number, []).append(row.key)
        return {number: sorted(keys)[:MOST_DETACHED] for number, keys in roots.items()}

    def _read(self) -> dict[int, list[ProcessRow]]:
        table: dict[int, ProcessRow] = {}
        self.clear = True
        for pid in newest_first():
            row = read_process(pid)
            if row is None:
                self.clear = False
                continue
            table[pid] = row
            # What forks and exits faster than the table is read would be gone by its end.
            if row.parent == self._me and row.key not in self.owners and self.doomed(row):
                kill_process(row)
        below: dict[int, list[ProcessRow]] = {}
        for row in table.values():
            # One whose parent died while the table was read has another by now.
            latest = row if row.parent in table else read_process(row.pid) or row
            below.setdefault(latest.parent, []).append(row)
        return below

    def _guess(self, row: ProcessRow) -> KeptProcess | None:
        if owner := self._sessions.get(row.session) or self._sessions.get(row.group):
            return owner
        mark = read_mark(row.pid)
        for child in self.children.values():
            if child.pid == row.session or (mark and child.mark == mark):
                return child
        return None
