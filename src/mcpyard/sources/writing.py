"""Changing somebody's file: the whole new text or the old one, never anything in between.

The text goes into a new file beside the old one, is forced to the disk, and takes the old one's
place in one step. Mode, owner and extended attributes stay; a link stays a link and its target is
replaced. Just before the step the file is read again, and after it what was replaced: if somebody
wrote meanwhile, that stays, and the edit is done anew on it.

To replace a file takes no right to write it, so a file that its owner protected is asked for its
mode, whoever we are.
"""

import contextlib
import glob
import hashlib
import os
import shlex
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import (
    DocumentBroken,
    DocumentMoved,
    Problem,
    ReadOnlyOwner,
    SourceLocation,
    StorageFull,
)
from mcpyard.domain.write_errors import unwritten
from mcpyard.sources.reading import read_file
from mcpyard.sources.swapping import exchange

Edit = Callable[[str], str]
"""A text to the text it should become."""

_TRIES: Final = 3
_OURS: Final = ".mcpyard"
"""How the name of a new text ends until it takes its place."""

_STALE: Final = 60.0
"""Seconds after which nobody can still be writing one."""

_NEW_MODE: Final = 0o600
"""A file of ours may hold secrets."""


def text_digest(content: bytes | None) -> str:
    """What an edit can name to say which text it means to change."""
    return "" if content is None else hashlib.sha256(content).hexdigest()[:32]


def edit_file(path: Path, edit: Edit, expected: str | None = None) -> None:
    """Change a file by an edit of its text; a file that is not there begins empty.

    The edit may be called again on a newer text, unless a digest says which text is meant.

    Raises:
        DocumentMoved: The file is not, or not any more, the one that is meant.
        DocumentBroken: The file cannot be read, or is not text.
        ReadOnlyOwner: The file's owner protected it from writing.
        StorageFull: The new text cannot be stored; the old one is intact.
    """
    target = _target(path)
    for _ in range(_TRIES):
        before = _read(target)
        if expected is not None and text_digest(before) != expected:
            break
        after = edit(_text(target, before)).encode()
        if after == before or _replace(target, before, after):
            return
    raise DocumentMoved(f"{path} was changed by another program in the meantime")


def remove_file(path: Path, expected: str) -> None:
    """Remove a file that still is the one that is meant.

    Raises:
        DocumentMoved: The file is not, or not any more, the one that is meant.
        ReadOnlyOwner: The file's owner protected it from writing.
        StorageFull: It cannot be removed.
    """
    target = _target(path)
    if text_digest(_read(target)) != expected or not _remove(target, expected):
        raise DocumentMoved(f"{path} was changed by another program in the meantime")


def sweep(path: Path) -> None:
    """Remove what is left of writes to a file that were killed on the way."""
    for each in path.parent.glob(f".{glob.escape(path.name)}.*{_OURS}"):
        with contextlib.suppress(OSError):
            if time.time() - each.stat().st_mtime > _STALE:
                each.unlink()


def _target(path: Path) -> Path:
    """What a link leads to; one that leads to itself is told by whoever reads it."""
    return Path(os.path.realpath(path))


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", SourceLocation(str(path), 0, 0))
        advice = "Check the path and its permissions."
        raise DocumentBroken.of(problem).advising(advice) from error


def _text(path: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        line = (content or b"").count(b"\n", 0, error.start) + 1
        raise DocumentBroken.of(
            Problem("", "is not UTF-8", SourceLocation(str(path), line, 1))
        ) from None


def _replace(path: Path, before: bytes | None, after: bytes) -> bool:
    """Put the new content in place; False when the old one changed meanwhile."""
    _refuse_protected(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path)
        prefix = f".{path.name}."
        descriptor, name = tempfile.mkstemp(_OURS, prefix, path.parent)
    except OSError as error:
        raise _full(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            _like(path, file.fileno())
            os.fsync(file.fileno())
        if _read(path) != before:
            return False
        return _take_place(temporary, path, before, after)
    except OSError as error:
        raise _full(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _remove(path: Path, expected: str) -> bool:
    """Remove a file; False if somebody wrote it since, and it stays."""
    _refuse_protected(path)
    temporary = path.with_name(f".{path.name}.removed{_OURS}")
    try:
        path.replace(temporary)
        moved = text_digest(_read(temporary)) != expected
        if moved:
            _take_empty_place(temporary, path)
        temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _full(path, error) from error
    return not moved


def _take_place(temporary: Path, path: Path, before: bytes | None, after: bytes) -> bool:
    """Put a file in the place of another; False if that one was not as before, and stays."""
    if before is None:
        return _take_empty_place(temporary, path)
    if not exchange(temporary, path):
        temporary.replace(path)
    _sync_folder(path.parent)
    replaced = _read(temporary)
    if replaced is None or replaced == before:
        return True
    exchange(temporary, path)
    # Whoever wrote once more in between counts.
    if _read(temporary) != after:
        exchange(temporary, path)
    _sync_folder(path.parent)
    return False


def _take_empty_place(temporary: Path, path: Path) -> bool:
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        return False
    except OSError:
        # There are disks without links.
        temporary.replace(path)
    _sync_folder(path.parent)
    return True


def _refuse_protected(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not mode & stat.S_IWUSR:
        message = f"{path} is write-protected (mode {stat.S_IMODE(mode):04o}); it was not modified"
        advice = f"Make it writable first: chmod u+w {shlex.quote(str(path))}"
        raise ReadOnlyOwner(message).advising(advice)


def _like(path: Path, descriptor: int) -> None:
    """Give the new file the mode, the owner and the extended attributes of the old one."""
    try:
        old = path.stat()
    except FileNotFoundError:
        os.fchmod(descriptor, _NEW_MODE)
        return
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        # Only root may give files away; others keep their own, as any editor does.
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, old.st_mode & 0o7777)
    _copy_attributes(path, descriptor)


def _copy_attributes(path: Path, descriptor: int) -> None:
    """Keep notes, labels and further rights, as far as the system lets us."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(path):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _full(path: Path, error: OSError) -> StorageFull:
    return unwritten(f"{path} cannot be written: {error.strerror}; it was not modified", error)
