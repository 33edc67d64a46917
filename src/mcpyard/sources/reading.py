"""Reading files that anybody may have put there."""

import os
import stat
from errno import EINVAL, EISDIR
from pathlib import Path


def read_file(path: Path) -> bytes:
    """The content of a regular file.

    A pipe or a device in its place is refused: who reads one may wait for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISREG(mode):
            with open(descriptor, "rb", closefd=False) as file:
                return file.read()
    finally:
        os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    raise OSError(EINVAL, "Not a regular file", str(path))
