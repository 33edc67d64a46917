"""The keeper: the process between a yard and its children, so that none outlives the yard.

It is run by path (`python -I -S keeper.py FD YARD_PID`) and imports light standard modules, and
modules of `processes` that import no others, only: every yard has one.

Being a sub-reaper, it becomes the parent of whatever a child leaves behind, detached or not. So
"nothing is left" is not a guess: it is the kernel's word that the keeper has no child any more.

Each message is one packet of JSON; one that begins with `+` is continued by the next. The yard
sends `spawn` (with three pipe ends), `signal`, `end`, `look`, `until` and `ping`; the keeper
`ready`, `spawned` or `spawn_failed`, `detached` with the processes of a child that are no longer
below it, `exited`, and then `gone` with the number of processes that would not die; and `pong`.

Fenced children may run until a deadline that the yard moves on with `until`. Once it has passed,
their trees are killed before anything else happens: the yard may be frozen, and when all of them
were, another machine may run the same servers by now.
"""

import contextlib
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import deque

if __name__ == "__main__":
    # Run by path and without `site`, it has to find its own package by itself.
    sys.path.append(__file__.rsplit("/", 4)[0])

from mcpyard.runtime.processes.child_start import PIPE_ENDS, start_child
from mcpyard.runtime.processes.fence_deadline import FenceDeadline
from mcpyard.runtime.processes.kept_tree import KeptProcess, Tree
from mcpyard.runtime.processes.table import (
    LIBC,
    MARK,
    SYS_PIDFD_OPEN,
    ProcessRow,
    kill_process,
    signal_group,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PACKET = 1 << 16
RIGHTS_ROOM = socket.CMSG_SPACE(PIPE_ENDS * struct.calcsize("i"))
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

LOOK_SECONDS = 5.0  # between two looks at the tree while nothing happens; each costs 2 ms or so
RETRY_SECONDS = 0.01  # for the killed to be reaped before the tree is looked at again
GIVE_UP_SECONDS = 5.0  # what survives SIGKILL for so long is stuck in the kernel or not ours
UNCLEAR_SECONDS = 0.3  # after which a look that raced with dying processes counts as it is


class Keeper:
    """Serves one yard: spawns, signals, reaps, reports; and ends all when the yard is gone."""

    def __init__(self, yard: socket.socket, yard_pid: int) -> None:
        self._tree = Tree()
        self._children = self._tree.children
        self._yard, self._yard_pid = yard, yard_pid
        self._serving = True
        self._deadline: FenceDeadline | None = None
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
            if self._deadline:
                poll.register(self._deadline.timer, select.POLLIN)
            poll.poll(1000 * (RETRY_SECONDS if self._tree.ending() else LOOK_SECONDS))
            self._end_expired()
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
        elif what == "until":
            self._move_deadline(request["at"])
        elif what == "ping":
            self.send("pong", n=number)

    def _spawn(self, number: int, request: "dict[str, Any]", fds: list[int]) -> None:
        argv, env, cwd = request["argv"], request["env"], request["cwd"]
        mark, fenced = env.get(MARK, "").encode(), bool(request.get("fenced"))
        try:
            if fenced and self._move_deadline(request["until"]).passed:
                raise OSError(errno.ETIME, os.strerror(errno.ETIME))  # noqa: TRY301 - told as others are
            pid = start_child(argv, env, cwd, fds, request.get("cgroup"))
        except (OSError, ValueError, TypeError, LookupError) as error:
            system = error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))
            code, text = system.errno or errno.EINVAL, system.strerror or str(error)
            which = "cwd" if cwd and system.filename == cwd else "command"
            which = "lease" if code == errno.ETIME else which
            self.send("spawn_failed", n=number, errno=code, message=text, which=which)
            return
        child = self._children[number] = KeptProcess(number, pid, mark, fenced=fenced)
        self.send("spawned", n=number, pid=pid, start=child.start)

    def _move_deadline(self, at: float) -> FenceDeadline:
        self._deadline = self._deadline or FenceDeadline()
        self._deadline.set(at)
        return self._deadline

    def _end_expired(self) -> None:
        """End every fenced tree once the deadline has passed."""
        if self._deadline is None or not self._deadline.passed:
            return
        self._deadline.disarm()
        expired = [child for child in self._children.values() if child.fenced and child.alive]
        for child in expired:
            # Not stopped first, as others are: what wakes a frozen machine may continue it again.
            # Whatever else belongs to it is found and killed a moment later.
            signal_group(child.pid, signal.SIGKILL)
            child.expired = True
            child.ending = child.ending or time.monotonic()
        if expired:
            self._work()

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
        self.send("exited", n=child.number, status=status, signal=killer, expired=child.expired)
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
