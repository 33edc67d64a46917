"""A control group for each keeper, where the system lets us make one.

A process cannot leave its control group by itself, whatever it does to its parents, its session and
its environment, and `cgroup.kill` ends all of a group at once. It takes cgroup v2, a kernel of 5.14
or later, and a group of our own that we may write to; where one of these is missing, everything
else works without.

Where the controllers of memory and processes are handed down to us too, a server with limits gets a
group below. A group that hands controllers down holds no process itself: so the keeper moves into
one below, and a daemon that is alone in its group, as a service of systemd is, moves too.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct

from mcpyard.domain import limits as numbers
from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.table import pid_namespace, yard_is_dead

if TYPE_CHECKING:
    from mcpyard.domain.model import ResourceLimits

_PREFIX: Final = "mcpyard."
_KILL: Final = "cgroup.kill"
_PROCESSES: Final = "cgroup.procs"
_HANDED_DOWN: Final = "cgroup.subtree_control"
_CONTROLLERS: Final = frozenset({"memory", "pids"})
_DAEMON: Final = "mcpyard-daemon"
"""The group that a daemon moves into; by its name the next start in it finds the one above."""


class Cgroup(Struct, frozen=True):
    """The control group of one keeper and of all that it starts, or of one server of these.

    Attributes:
        folder: Where it is.
        limiting: Whether groups below it can have limits.
    """

    folder: Path
    limiting: bool = False

    @classmethod
    def make(cls, name: str) -> Self | None:
        """A new group inside the one of this process; None where that is not possible."""
        parent = own_folder()
        if parent is None:
            return None
        _hand_down(parent)
        folder = parent / f"{_PREFIX}{pid_namespace()}.{name}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / _KILL).exists():
                return cls(folder, _hand_down(folder))
            cls(folder).remove()
        return None

    def take_keeper(self, pid: int) -> bool:
        """Put the keeper into the group, or into one below it; whether the system allows that."""
        place = self._below("keeper") if self.limiting else self
        return place is not None and place.take(pid)

    def for_server(self, number: int, limits: "ResourceLimits") -> "Cgroup | None":
        """A new group below for one server; None where limits cannot be set."""
        group = self._below(f"server.{number}") if self.limiting else None
        if group and not group.limit(limits):
            group.remove()
            return None
        return group

    def limit(self, limits: "ResourceLimits") -> bool:
        """Let the group use no more than this from now on; whether that is possible."""
        tasks = limits.processes and limits.processes * numbers.TASKS_PER_PROCESS
        # What it may not have in memory it shall not have on the disk either, and of a server of
        # several processes none is of use without the others.
        _write(self.folder / "memory.swap.max", "0" if limits.memory else "max")
        _write(self.folder / "memory.oom.group", "1")
        return _write(self.folder / "memory.max", str(limits.memory or "max")) and _write(
            self.folder / "pids.max", str(tasks or "max")
        )

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed a process of the group for its limit of memory."""
        words = _read(self.folder / "memory.events").split()
        return int(dict(zip(words[::2], words[1::2], strict=False)).get("oom_kill", 0)) > 0

    def holds(self, pid: int) -> bool:
        """Whether a process is in the group."""
        return str(pid) in _read(self.folder / _PROCESSES).split()

    def _below(self, name: str) -> "Cgroup | None":
        with contextlib.suppress(OSError):
            (self.folder / name).mkdir()
            return Cgroup(self.folder / name)
        return None

    def take(self, pid: int) -> bool:
        """Put a process into the group; whether the system allows that."""
        return _write(self.folder / _PROCESSES, str(pid))

    def kill(self) -> None:
        """Kill every process of the group and of the groups below it."""
        _write(self.folder / _KILL, "1")

    def remove(self) -> bool:
        """Remove the group and those below it; whether that is done, as no process is left."""
        for folder, _, _ in os.walk(self.folder, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()
        return not self.folder.exists()


def make_room_for_limits() -> None:
    """Move this process into a group below its own, so that its keepers' groups can have limits.

    For a daemon, and only where nobody else is in its group.
    """
    folder = own_folder()
    if folder is None or _hand_down(folder) or not _offers(folder):
        return
    own = str(os.getpid())
    if _read(folder / _PROCESSES).split() != [own]:
        return
    leaf = folder / _DAEMON
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
        if _write(leaf / _PROCESSES, own) and not _hand_down(folder):
            _write(folder / _PROCESSES, own)


def end_groups_of_dead_yards(key: MarkKey) -> None:
    """Kill what dead yards of this home left in their groups; remove all empty ones."""
    for group, text in _groups_here():
        mark = Mark.parse(text)
        if mark and yard_is_dead(*mark.yard):
            if key.verify_group(text):
                group.kill()
            group.remove()


def own_folder() -> Path | None:
    """The folder of the control group that this process is in; None without cgroup v2."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    own = next((line[3:] for line in groups if line.startswith("0::")), None)
    for line in mounts:
        place, _, kind = line.partition(" - ")
        if own and kind.startswith("cgroup2 "):
            root, point = place.split(" ")[3:5]
            with contextlib.suppress(ValueError):
                folder = Path(point, PurePosixPath(own).relative_to(root))
                return folder.parent if folder.name == _DAEMON else folder
    return None


def _hand_down(folder: Path) -> bool:
    """Let the groups in a folder have limits; whether they can."""
    if set(_read(folder / _HANDED_DOWN).split()) >= _CONTROLLERS:
        return True
    words = " ".join(f"+{each}" for each in sorted(_CONTROLLERS))
    return _offers(folder) and _write(folder / _HANDED_DOWN, words)


def _offers(folder: Path) -> bool:
    return set(_read(folder / "cgroup.controllers").split()) >= _CONTROLLERS


def _groups_here() -> Iterator[tuple[Cgroup, bytes]]:
    parent = own_folder()
    prefix = f"{_PREFIX}{pid_namespace()}."
    # The pids in the names of another namespace's groups mean other processes here.
    for folder in parent.glob(f"{prefix}*") if parent else ():
        yield Cgroup(folder), os.fsencode(folder.name.removeprefix(prefix))


def _read(path: Path) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text()
    return ""


def _write(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError):
        path.write_text(text)
        return True
    return False
