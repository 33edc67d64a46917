"""A file that only grows, and begins anew when it is full: no log can fill a disk."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Final

LIMIT: Final = 5 * 1024 * 1024
"""Bytes after which a new file begins."""

KEPT: Final = 3
"""Earlier files that are kept."""

_OLDER: Final = range(1, KEPT + 1)
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class RollingFile:
    """Appends to a file of its owner's alone.

    It is opened for each line, so that one who moves the file away gets a new one.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit

    def append(self, line: bytes) -> None:
        """Write a line at the end; raises `OSError` where that is not possible."""
        if self._size() + len(line) > self._limit:
            self._begin_anew()
        descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def _begin_anew(self) -> None:
        files = [self._path, *(self._path.with_name(f"{self._path.name}.{n}") for n in _OLDER)]
        for newer, older in reversed([*pairwise(files)]):
            if newer.exists():
                newer.replace(older)
