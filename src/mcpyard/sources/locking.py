"""Who may write a file just now: our own locks, and those that other programs take.

Ours is the operating system's and ends with its process, however that ends. A program's own is
such a lock too, on a file that only the program makes, or a folder that stands there while it
writes; one that was left behind is known by its age. Every wait is bounded.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import FileBusy
from mcpyard.domain.files import FileLock, LockKind
from mcpyard.domain.write_errors import unwritten

TIMEOUT: Final = 5.0
"""Seconds to wait for a lock: a program that writes is done within one."""

STALE_AFTER: Final = 10.0
"""Seconds after which a program's lock was left behind: those that hold one longer refresh it."""

_LOOK: Final = 0.02
"""Seconds between looks at a lock that is held."""


@asynccontextmanager
async def locked(
    folder: Path, paths: Iterable[str], locks: Iterable[FileLock], seconds: float = TIMEOUT
) -> AsyncGenerator[None]:
    """Hold our locks of some files and the programs' own, for as long as the block lasts.

    Ours are in a folder; each is waited for so many seconds.
    """
    # In one order for everybody, so that no two ever wait for each other.
    real = sorted({*map(os.path.realpath, paths)})
    theirs = sorted(set(locks), key=lambda each: each.path)
    async with AsyncExitStack() as held:
        for path in real:
            reason = f"another mcpyard is writing {path}"
            await held.enter_async_context(_flocked(_open(folder, path), seconds, reason))
        for lock in theirs:
            await held.enter_async_context(_theirs(lock, seconds))
        yield


@asynccontextmanager
async def _theirs(lock: FileLock, seconds: float) -> AsyncGenerator[None]:
    path = Path(lock.path)
    reason = f"{path} is locked: another program is writing it"
    if not (path.parent if lock.kind is LockKind.FOLDER else path).exists():
        # A program that was never run does not write.
        yield
    elif lock.kind is LockKind.FILE:
        async with _flocked(_open_theirs(path), seconds, reason):
            yield
    else:
        async with _made(path, seconds, reason):
            yield


@asynccontextmanager
async def _flocked(descriptor: int, seconds: float, reason: str) -> AsyncGenerator[None]:
    until = time.monotonic() + seconds
    try:
        while not _flock(descriptor):
            await _wait(until, reason)
        yield
    finally:
        os.close(descriptor)


@asynccontextmanager
async def _made(path: Path, seconds: float, reason: str) -> AsyncGenerator[None]:
    until = time.monotonic() + seconds
    while not _make(path):
        if _is_stale(path):
            _unmake(path)
        else:
            await _wait(until, reason)
    try:
        yield
    finally:
        _unmake(path)


def _open(folder: Path, path: str) -> int:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(folder / f"{name}.lock", flags, 0o600)
    except OSError as error:
        raise unwritten(f"{folder} cannot be written: {error.strerror}", error) from error


def _flock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open_theirs(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise FileBusy(f"{path} cannot be locked: {error.strerror}") from error


def _make(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise unwritten(f"{path} cannot be created: {error.strerror}", error) from error
    return True


def _unmake(path: Path) -> None:
    # It may be gone already, taken by somebody who thought that we left it behind.
    with contextlib.suppress(OSError):
        path.rmdir()


def _is_stale(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > STALE_AFTER
    except OSError:
        return False


async def _wait(until: float, reason: str) -> None:
    if time.monotonic() >= until:
        raise FileBusy(f"{reason}; nothing was changed, try again")
    await asyncio.sleep(_LOOK)
