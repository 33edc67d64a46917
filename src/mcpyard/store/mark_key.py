"""The key that marks of processes are signed with: one a home, one a user for yards without a home.

A key that others could read or have put there would let them mark any process as ours, to be killed
by the next sweep. Such a file is not used.
"""

import contextlib
import os
import secrets
import stat
from pathlib import Path
from tempfile import gettempdir
from typing import Final

from mcpyard.domain.errors import YardError
from mcpyard.store.atomic_files import write_private

_BYTES: Final = 32
_FILE: Final = "mark.key"


def home_mark_key(folder: Path) -> bytes:
    """The key of a home, made at its first use; the caller holds the home.

    Raises:
        StorageFull: It cannot be written.
    """
    path = folder / _FILE
    key = _read(path)
    if not key:
        key = secrets.token_bytes(_BYTES)
        write_private(path, key)
    return key


def user_mark_key() -> bytes:
    """The key of a user's yards without a home; one for this process alone where none can be kept.

    It need not outlive the machine's next start, since no process does.
    """
    folder = user_folder()
    with contextlib.suppress(OSError, YardError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = os.lstat(folder)
        if stat.S_ISDIR(status.st_mode) and _is_private(status):
            _make(folder / _FILE)
            return _read(folder / _FILE) or secrets.token_bytes(_BYTES)
    return secrets.token_bytes(_BYTES)


def user_folder() -> Path:
    """Where yards without a home keep what they share."""
    return Path(gettempdir(), f"mcpyard-{os.getuid()}")


def _make(path: Path) -> None:
    if _read(path):
        return
    fresh = path.with_name(f"{_FILE}.{secrets.token_hex(8)}")
    write_private(fresh, secrets.token_bytes(_BYTES))
    try:
        # Of several that do this at once, the first one's counts for all.
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(fresh)
    finally:
        fresh.unlink()


def _read(path: Path) -> bytes:
    """The key in a file; nothing when there is none that can be trusted."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        usable = stat.S_ISREG(status.st_mode) and _is_private(status)
        key = file.read(_BYTES) if usable else b""
    return key if len(key) == _BYTES else b""


def _is_private(status: os.stat_result) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & 0o077
