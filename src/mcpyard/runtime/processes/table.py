"""The process table, and signals that never reach a later process with the same number.

Read by the keeper, which is run without any other package, hence light standard modules only.
"""

import contextlib
import ctypes
import os
import signal

MARK = "MCPYARD_MARK"
LIBC = ctypes.CDLL(None)
PF_EXITING = 4
# By number, the same on all machines: not every Python is built with `os.pidfd_open`.
SYS_PIDFD_SEND_SIGNAL = 424
SYS_PIDFD_OPEN = 434


class ProcessRow:
    """A row of the process table; `key` tells it from a later process with the same number."""

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.dying = fields[0] in b"ZX" or bool(int(fields[6]) & PF_EXITING)
        self.parent, self.group, self.session = map(int, fields[1:4])
        self.start = int(fields[19])
        self.key = pid, self.start


def read_file(path: str) -> bytes:
    """All of a file of /proc; empty when it is gone or not ours to read."""
    with contextlib.suppress(OSError), open(path, "rb", 0) as file:  # noqa: PTH123 - no pathlib here
        return file.read()
    return b""


def read_fields(pid: int) -> list[bytes]:
    """What the process table says of one process, from its state on; nothing when it is gone."""
    text = read_file(f"/proc/{pid}/stat")
    # The name stands in brackets and may hold anything, brackets and blanks included.
    return text[text.rindex(b")") + 2 :].split() if text else []


def read_process(pid: int) -> ProcessRow | None:
    """The row of one process, or None when it is gone."""
    fields = read_fields(pid)
    return ProcessRow(pid, fields) if fields else None


def read_mark(pid: int) -> bytes:
    """The yard's mark in a process' environment, or nothing."""
    _, _, rest = (b"\0" + read_file(f"/proc/{pid}/environ")).partition(f"\0{MARK}=".encode())
    return rest.partition(b"\0")[0]


def newest_first() -> list[int]:
    """The numbers of all processes: what was started last is most likely to be gone soonest."""
    pids: list[int] = []
    with contextlib.suppress(OSError), os.scandir("/proc") as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    # Numbers wrap around, so the newest is not the highest; the kernel tells the last one given.
    last = int((read_file("/proc/loadavg").split() or [b"0"])[-1])
    pids.sort(key=lambda pid: (pid <= last, pid), reverse=True)
    return pids


def signal_group(group: int, number: int) -> None:
    """Signal a process group; one that is gone is no error."""
    # Every child leads a session, so a group seen below the keeper holds its descendants only.
    if group > 1:
        with contextlib.suppress(OSError):
            os.killpg(group, number)


def kill_process(row: ProcessRow) -> None:
    """Kill one process, and never a later one that got its number."""
    handle = LIBC.syscall(SYS_PIDFD_OPEN, row.pid, 0)
    now = read_process(row.pid)
    if now and now.key == row.key:
        LIBC.syscall(SYS_PIDFD_SEND_SIGNAL, handle, signal.SIGKILL, None, 0)
    if handle >= 0:
        os.close(handle)


def yard_is_dead(pid: int, start: int) -> bool:
    """Whether the yard in a process that began then is gone."""
    row = read_process(pid)
    return row is None or row.start != start or row.dying


def pid_namespace(pid: int | str = "self") -> str:
    """The number of the namespace in which a process' number means it; empty when unknown."""
    with contextlib.suppress(OSError):
        return str(os.stat(f"/proc/{pid}/ns/pid").st_ino)  # noqa: PTH116 - no pathlib here
    return ""
