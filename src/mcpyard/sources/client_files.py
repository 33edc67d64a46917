"""The files of other programs on this machine (see the `ClientFiles` port)."""

import asyncio
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import DocumentMoved, NotWritable, Problem, SourceLocation
from mcpyard.domain.files import FileLock, FileText, FileWrite
from mcpyard.sources.git_index import is_tracked
from mcpyard.sources.locking import TIMEOUT, locked
from mcpyard.sources.writing import edit_file, remove_file, text_digest

_Fingerprint = tuple[int, int, int, int]

LARGEST: Final = 64 * 1024 * 1024
"""Bytes; ten times what the largest such file was seen to grow to."""


class DiskClientFiles:
    """Reads each file once as long as it stays the same, and writes under locks."""

    def __init__(self, locks: Path, *, timeout: float = TIMEOUT) -> None:
        """Use a folder for our own locks, and wait so many seconds for one."""
        self._locks = locks
        self._timeout = timeout
        self._known: dict[str, tuple[_Fingerprint, FileText]] = {}

    async def is_folder(self, path: str) -> bool:
        """Whether there is a folder at that path."""
        return await asyncio.to_thread(Path(path).is_dir)

    async def read(self, paths: Iterable[str], *, fresh: bool = False) -> Mapping[str, FileText]:
        """What files say, by path."""
        unique = [*paths]
        return await asyncio.to_thread(
            lambda: {path: self._read(path, fresh=fresh) for path in unique}
        )

    def look(self, path: str) -> FileText:
        """What a file says, for whoever may wait for it."""
        return self._read(path, fresh=True)

    async def real(self, paths: Iterable[str]) -> Mapping[str, str]:
        """The file that each path leads to, through whatever links."""
        unique = [*paths]
        return await asyncio.to_thread(lambda: {path: os.path.realpath(path) for path in unique})

    def locked(
        self, paths: Iterable[str], locks: Iterable[FileLock]
    ) -> AbstractAsyncContextManager[None]:
        """Keep other yards, and the programs themselves, from writing."""
        return locked(self._locks, paths, locks, self._timeout)

    async def write(self, change: FileWrite) -> None:
        """Put the new text in the place of the old one, and make sure that it is there."""
        await asyncio.to_thread(self._write, change)

    async def set_mode(self, path: str, before: int, after: int) -> None:
        """Change who may read and write a file, if that is as it was before."""
        await asyncio.to_thread(_set_mode, Path(path), before, after)

    def _read(self, path: str, *, fresh: bool) -> FileText:
        try:
            stat = Path(path).stat()
            fingerprint = stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_mode
            cached = self._known.get(path)
            if cached and cached[0] == fingerprint and not fresh:
                return cached[1]
            text = _look(path, stat)
        except (FileNotFoundError, NotADirectoryError):
            return FileText(path)
        except OSError as error:
            return _faulty(path, f"cannot be read: {error.strerror}", line=0)
        except ValueError:
            return _faulty(path, "is no path")
        self._known[path] = fingerprint, text
        return text

    def _write(self, change: FileWrite) -> None:
        path, before = Path(change.path), _encoded(change.before)
        expected = text_digest(before)
        if change.after is None:
            remove_file(path, expected)
            return
        after = change.after
        edit_file(path, lambda _: after, expected)
        if path.read_bytes() != after.encode():
            raise DocumentMoved(f"{path} was changed by another program right after the edit")


def _set_mode(path: Path, before: int, after: int) -> None:
    try:
        if stat.S_IMODE(path.stat().st_mode) != before:
            raise DocumentMoved(f"the permissions of {path} were changed since")
        path.chmod(after)
    except FileNotFoundError:
        raise DocumentMoved(f"{path} is gone") from None
    except OSError as error:
        raise NotWritable(f"the permissions of {path} cannot be set: {error.strerror}") from None


def _look(path: str, status: os.stat_result) -> FileText:
    mode = stat.S_IMODE(status.st_mode)
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "something else"
        return _faulty(path, f"is {kind}, not a file", mode, line=0)
    if status.st_size > LARGEST:
        return _faulty(path, f"is larger than {LARGEST} bytes", mode, line=0)
    content = Path(path).read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return _faulty(path, "is not UTF-8", mode, line)
    return FileText(path, text, None, mode, is_tracked(Path(path)))


def _faulty(path: str, message: str, mode: int | None = None, line: int = 1) -> FileText:
    return FileText(
        path, None, Problem("", message, SourceLocation(path, line, min(line, 1))), mode
    )


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
