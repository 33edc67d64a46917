"""A disk without room, for one process."""

import resource
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_room(pid: int) -> Generator[None]:
    """While it lasts, no file of the process can grow; pipes and sockets are not concerned."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))
