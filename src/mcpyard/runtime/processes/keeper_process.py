"""A keeper that is spoken to, until its end, and the pipes of the children it starts."""

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterable

from msgspec import Struct

from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.cgroups import Cgroup
from mcpyard.runtime.processes.channel import Channel
from mcpyard.runtime.processes.child import END_SECONDS
from mcpyard.runtime.processes.child_start import PIPE_ENDS


class KeeperRun(Struct, eq=False):
    """One keeper process, from its start to its end."""

    process: subprocess.Popen[bytes]
    channel: Channel
    cgroup: Cgroup | None
    ready: asyncio.Future[bool]
    ended: asyncio.Future[None]
    watching: asyncio.Task[None] | None = None
    unanswered: int = 0
    hung: bool = False


def reap_keeper(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a keeper that was killed."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)
        ADOPTION.keepers.discard(process.pid)


def make_pipes() -> list[tuple[int, int]]:
    """The pipes of a child, each as its end to read and its end to write; all or none."""
    with contextlib.ExitStack() as undo:
        pipes = [_pipe(undo) for _ in range(PIPE_ENDS)]
        undo.pop_all()
    return pipes


def _pipe(undo: contextlib.ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    undo.callback(close_all, ends)
    return ends


def close_all(fds: Iterable[int]) -> None:
    """Close descriptors."""
    for fd in fds:
        os.close(fd)
