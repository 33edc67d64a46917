"""Starts a child of the keeper, with the three pipe ends that the yard handed over."""

import contextlib
import errno
import os
import subprocess

PIPE_ENDS = 3


def start_child(
    argv: list[str], env: dict[str, str], cwd: str | None, fds: list[int], cgroup: str | None
) -> int:
    """Start a program as the leader of a session; its pid, which the caller reaps."""
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
