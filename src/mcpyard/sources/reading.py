"""Reading files that anybody may have put there."""

import os
import stat
from errno import EFBIG, EINVAL, EISDIR
from pathlib import Path
from typing import Final

LARGEST: Final = 32 * 1024 * 1024
"""Bytes; no program keeps so much in a file of settings, and one has to read all of it."""


def read_file(path: Path) -> bytes:
    """The content of a regular file, up to the largest that is read.

    A pipe or a device in its place is refused: who reads one may wait for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        mode = status.st_mode
        if stat.S_ISREG(mode):
            with open(descriptor, "rb", closefd=False) as file:
                # Room for the largest one is slow to come by; few files are larger than they say.
                content = file.read(min(status.st_size, LARGEST) + 1)
                if len(content) > status.st_size:
                    content += file.read(LARGEST + 1 - len(content))
            if len(content) > LARGEST:
                raise OSError(EFBIG, f"Larger than {LARGEST} bytes", str(path))
            return content
    finally:
        os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    raise OSError(EINVAL, "Not a regular file", str(path))
