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

    It stays open, and is looked at before each line, so that one who moves the file away gets a new
    one.
    """

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._descriptor: int | None = None
        self._opened: tuple[int, int] | None = None

    def __del__(self) -> None:
        """Close the file."""
        self._close()

    def append(self, line: bytes) -> None:
        """Write a line at the end; raises `OSError` where that is not possible."""
        there = self._look()
        if there and there.st_size + len(line) > self._limit:
            self._begin_anew()
            there = None
        descriptor = self._descriptor
        if descriptor is None or there is None or self._opened != (there.st_dev, there.st_ino):
            descriptor = self._open()
        os.write(descriptor, line)

    def _look(self) -> os.stat_result | None:
        try:
            return self._path.lstat()
        except FileNotFoundError:
            return None

    def _open(self) -> int:
        self._close()
        self._descriptor = os.open(self._path, _FLAGS, 0o600)
        opened = os.fstat(self._descriptor)
        self._opened = (opened.st_dev, opened.st_ino)
        return self._descriptor

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _begin_anew(self) -> None:
        files = [self._path, *(self._path.with_name(f"{self._path.name}.{n}") for n in _OLDER)]
        for newer, older in reversed([*pairwise(files)]):
            if newer.exists():
                newer.replace(older)
