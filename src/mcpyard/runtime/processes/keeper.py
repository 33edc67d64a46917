"""The keeper: the process between a yard and its children, so that none outlives the yard.

It is run by path (`python -I -S keeper.py FD YARD_PID`) and imports light standard modules and
`processes` only: every yard has one.

Being a sub-reaper, it becomes the parent of whatever a child leaves behind, detached or not. So
"nothing is left" is not a guess: it is the kernel's word that the keeper has no child any more.

Whose an adopted process is, is harder. In this order: what was seen of it earlier (the keeper looks
at its tree every few seconds, and before a signal), its parent, its session, the mark in its
environment. A process that dropped the mark, left its session and lost its parent between two looks
cannot be told apart: it ends as soon as no living child is old enough to have started it, at the
latest with the keeper. Out of reach are processes the keeper may not signal (another user's, by
setuid), and what a child had others start for it (a container, a timer, a service).

Each message is one packet of JSON; one that begins with `+` is continued by the next. The yard
sends `spawn` (with three pipe ends), `signal`, `end`, `look` and `ping`; the keeper `ready`,
`spawned` or `spawn_failed`, `detached` with the processes of a child that are no longer below it,
`exited`, and then `gone` with the number of processes that would not die; and `pong`.
"""

import contextlib
import errno
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import deque

if __name__ == "__main__":
    # Run by path and without `site`, it has to find its own package by itself.
    sys.path.append(__file__.rsplit("/", 4)[0])

from mcpyard.runtime.processes.table import (
    LIBC,
    MARK,
    SYS_PIDFD_OPEN,
    ProcessRow,
    kill_process,
    newest_first,
    read_mark,
    read_process,
    signal_group,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKET = 1 << 16
PIPE_ENDS = 3
RIGHTS_ROOM = socket.CMSG_SPACE(PIPE_ENDS * struct.calcsize("i"))
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

LOOK_SECONDS = 5.0  # between two looks at the tree while nothing happens; each costs 2 ms or so
RETRY_SECONDS = 0.01  # for the killed to be reaped before the tree is looked at again
GIVE_UP_SECONDS = 5.0  # what survives SIGKILL for so long is stuck in the kernel or not ours
MOST_DETACHED = 500  # told of one child, so that they fit into a packet
UNCLEAR_SECONDS = 0.3  # after which a look that raced with dying processes counts as it is


class KeptProcess:
    """A server's main process; `ending` is when its end began, 0 while nobody wants it to end."""

    def __init__(self, number: int, pid: int, mark: bytes) -> None:
        self.number, self.pid, self.mark = number, pid, mark
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


class Keeper:
    """Serves one yard: spawns, signals, reaps, reports; and ends all when the yard is gone."""

    def __init__(self, yard: socket.socket, yard_pid: int) -> None:
        self._tree = Tree()
        self._children = self._tree.children
        self._yard, self._yard_pid = yard, yard_pid
        self._serving = True
        self._partial = b""
        self._unsent: deque[bytes] = deque()
        self._dying: set[int] = set()
        self._signals: list[tuple[KeptProcess | None, int, int]] = []
        self._wakeup, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        # A handler, not SIG_IGN: a child would inherit that one.
        for name in ("SIGCHLD", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"):
            signal.signal(signal.Signals[name], lambda _number, _frame: None)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def serve(self) -> None:
        """Work until the yard is gone."""
        poll = select.poll()
        poll.register(self._wakeup, select.POLLIN)
        # A process forked off the yard may hold its end of the socket open, hence the second watch.
        yard_process = LIBC.syscall(SYS_PIDFD_OPEN, self._yard_pid, 0)
        poll.register(yard_process if yard_process >= 0 else self._wakeup, select.POLLIN)
        while self._serving and os.getppid() == self._yard_pid:
            poll.register(self._yard, select.POLLIN | (select.POLLOUT if self._unsent else 0))
            poll.poll(1000 * (RETRY_SECONDS if self._tree.ending() else LOOK_SECONDS))
            self._flush()
            self._receive()
            self._signal()
            self._reap()
            self._work()

    def end_all(self) -> None:
        """Kill everything below the keeper until the kernel says that nothing is left."""
        began = time.monotonic()
        for child in self._children.values():
            child.ending = child.ending or began
        while self._reap() and time.monotonic() < began + GIVE_UP_SECONDS:
            self._tree.look()
            self._kill(self._tree.rows)
            select.select((self._wakeup,), (), (), RETRY_SECONDS)
            self._flush()

    def send(self, what: str, **members: object) -> None:
        """Send a message to the yard, or queue it."""
        self._unsent.append(json.dumps({"say": what, **members}).encode())
        self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent:
                self._yard.send(self._unsent[0], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                self._unsent.popleft()
        except BlockingIOError:
            return
        except OSError:
            self._serving = False

    def _receive(self) -> None:
        # Not `recv_fds`: it takes flags and ignores them.
        flags = socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC
        while self._serving:
            try:
                packet, rights, _, _ = self._yard.recvmsg(PACKET, RIGHTS_ROOM, flags)
            except BlockingIOError:
                return
            except OSError:
                packet, rights = b"", []
            fds = [fd for _, _, data in rights for (fd,) in struct.iter_unpack("i", data)]
            self._serving = bool(packet)
            self._take(packet, fds)

    def _take(self, packet: bytes, fds: list[int]) -> None:
        self._partial += packet[1:]
        try:
            if packet and not packet.startswith(b"+"):
                body, self._partial = self._partial, b""
                self._do(json.loads(body), fds)
        except (ValueError, TypeError, LookupError, AttributeError, OSError) as error:
            self.send("refused", message=f"{type(error).__name__}: {error}")
        finally:
            for fd in fds:
                os.close(fd)

    def _do(self, request: "dict[str, Any]", fds: list[int]) -> None:
        what, number = request["do"], request["n"]
        child = self._children.get(number)
        if what == "spawn":
            self._spawn(number, request, fds)
        elif what in ("look", "signal"):
            self._signals.append((child, number, int(request.get("signal", 0))))
        elif what == "end" and child:
            child.ending = child.ending or time.monotonic()
        elif what == "ping":
            self.send("pong", n=number)

    def _spawn(self, number: int, request: "dict[str, Any]", fds: list[int]) -> None:
        argv, env, cwd = request["argv"], request["env"], request["cwd"]
        mark = env.get(MARK, "").encode()
        try:
            pid = _start(argv, env, cwd, fds, request.get("cgroup"))
        except (OSError, ValueError, TypeError, LookupError) as error:
            system = error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))
            code, text = system.errno or errno.EINVAL, system.strerror or str(error)
            which = "cwd" if cwd and system.filename == cwd else "command"
            self.send("spawn_failed", n=number, errno=code, message=text, which=which)
            return
        child = self._children[number] = KeptProcess(number, pid, mark)
        self.send("spawned", n=number, pid=pid, start=child.start)

    def _signal(self) -> None:
        # What a dying process leaves behind can be told to be its own only if it was seen before.
        if self._signals:
            self._look()
        for child, number, what in self._signals:
            signal_group(child.pid if child and child.alive else 0, what)
            self.send("looked", n=number)
        self._signals.clear()

    def _reap(self) -> bool:
        """Reap all that is dead; whether any child, own or adopted, is left."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wakeup, PACKET)
        by_pid = {child.pid: child for child in self._children.values() if child.alive}
        try:
            # Dead, but not yet reaped: its number still names its group and nothing else.
            while dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if child := by_pid.get(dead.si_pid):
                    self._exited(child, dead.si_status, clean=dead.si_code == os.CLD_EXITED)
                os.waitpid(dead.si_pid, 0)
                self._dying.discard(dead.si_pid)
        except ChildProcessError:
            return False
        return True

    def _exited(self, child: KeptProcess, number: int, *, clean: bool) -> None:
        child.alive = False
        status, killer = (number, None) if clean else (None, number)
        self.send("exited", n=child.number, status=status, signal=killer)
        # A server whose main process is dead has no business left.
        signal_group(child.pid, signal.SIGKILL)
        child.ending = child.ending or time.monotonic()

    def _work(self) -> None:
        """Go on with ending what is to end; or look, when that is due."""
        ending = self._tree.ending()
        age = time.monotonic() - self._tree.looked
        if age < (LOOK_SECONDS if not ending else RETRY_SECONDS if self._dying else 0):
            return
        self._look()
        doomed = [row for row in self._tree.rows if self._tree.doomed(row)]
        for child in ending:
            # Strays that may be its own count as such.
            left = sum((self._tree.owners.get(row.key) or child) is child for row in doomed)
            left = left or int(child.alive or self._tree.blind)
            waited = time.monotonic() - child.ending
            limit = GIVE_UP_SECONDS if left else UNCLEAR_SECONDS
            if waited > limit or (not left and self._tree.clear):
                del self._children[child.number]
                self.send("gone", n=child.number, left=left)
        self._kill(doomed)

    def _look(self) -> None:
        self._tree.look()
        detached = self._tree.detached()
        for child in self._children.values():
            roots = detached.get(child.number, [])
            if roots != child.detached:
                child.detached = roots
                self.send("detached", n=child.number, roots=roots)

    def _kill(self, rows: list[ProcessRow]) -> None:
        main_groups = [child.pid for child in self._tree.ending() if child.alive]
        # Stopped first: of two that watch over each other, none may see the other one die.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for group in {*main_groups, *(row.group for row in rows)}:
                signal_group(group, number)
        for row in rows:
            kill_process(row)
        self._dying = {row.pid for row in rows}


def _start(
    argv: list[str], env: dict[str, str], cwd: str | None, fds: list[int], cgroup: str | None
) -> int:
    if len(fds) != PIPE_ENDS:
        # The kernel drops descriptors for which the receiver has no room.
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    stdin, stdout, stderr = fds
    process = subprocess.Popen(  # noqa: S603 - running the user's commands is what it is for
        argv,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=env,
        cwd=cwd,
        start_new_session=True,
        # In the child, since what it starts at once must be in its group too.
        preexec_fn=(lambda: _enter(cgroup)) if cgroup else None,  # noqa: PLW1509 - no threads here
    )
    # It takes the process for over, and so leaves the reaping to us.
    process.returncode = 0
    return process.pid


def _enter(cgroup: str) -> None:
    with contextlib.suppress(OSError), open(f"{cgroup}/cgroup.procs", "wb", 0) as file:  # noqa: PTH123 - no pathlib here
        file.write(str(os.getpid()).encode())


def main() -> None:
    """Run until the yard is gone, then leave nothing behind."""
    yard = socket.socket(fileno=int(sys.argv[1]))
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # One that is stopped when its yard is killed still has to end everything.
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)
    keeper = Keeper(yard, int(sys.argv[2]))
    try:
        keeper.send("ready")
        keeper.serve()
    finally:
        keeper.end_all()


if __name__ == "__main__":
    main()
