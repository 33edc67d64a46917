"""A control group for each keeper, where the system lets us make one.

A process cannot leave its control group by itself, whatever it does to its parents, its session and
its environment, and `cgroup.kill` ends all of a group at once. It takes cgroup v2, a kernel of 5.14
or later, and a group of our own that we may write to; where one of these is missing, everything
else works without.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Self

from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.table import pid_namespace, yard_is_dead

_PREFIX: Final = "mcpyard."
_KILL: Final = "cgroup.kill"
_PROCESSES: Final = "cgroup.procs"


@dataclass(frozen=True, slots=True)
class Cgroup:
    """The control group of one keeper and of all that it starts."""

    folder: Path

    @classmethod
    def make(cls, name: str) -> Self | None:
        """A new group inside the one of this process; None where that is not possible."""
        parent = own_folder()
        if parent is None:
            return None
        made = cls(parent / f"{_PREFIX}{pid_namespace()}.{name}")
        with contextlib.suppress(OSError):
            made.folder.mkdir()
            if (made.folder / _KILL).exists():
                return made
            made.remove()
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
                return Path(point, PurePosixPath(own).relative_to(root))
    return None


def _groups_here() -> Iterator[tuple[Cgroup, bytes]]:
    parent = own_folder()
    prefix = f"{_PREFIX}{pid_namespace()}."
    # The pids in the names of another namespace's groups mean other processes here.
    for folder in parent.glob(f"{prefix}*") if parent else ():
        yield Cgroup(folder), os.fsencode(folder.name.removeprefix(prefix))


def _write(path: Path, text: str) -> bool:
    with contextlib.suppress(OSError):
        path.write_text(text)
        return True
    return False
