"""Writing small files so that a reader never sees half of one, whatever happens meanwhile."""

import contextlib
import glob
import os
import tempfile
import time
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import StorageFull
from mcpyard.domain.write_errors import unwritten

_OURS: Final = ".mcpyard"
"""How the name of a new content ends until it takes its place."""

_STALE: Final = 60.0
"""Seconds after which nobody can still be writing one."""


_PROBE: Final = 64 * 1024
"""Bytes that a disk must have room for: less is as good as none."""


def write_private(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace a file by this content, readable by its owner alone.

    Args:
        path: The file.
        content: Its new content.
        durable: Whether it must survive the loss of power, for which one waits for the disk.

    Raises:
        StorageFull: The disk has no room, or nobody may write there; the old file is intact.
    """
    sweep(path.parent, path.name)
    try:
        descriptor, name = tempfile.mkstemp(_OURS, f".{path.name}.", path.parent)
    except OSError as error:
        raise _refused(path, error) from error
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def probe_writing(folder: Path) -> None:
    """Write to a file without a name: a folder may be writable and its disk full.

    Raises:
        OSError: It cannot be written.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as probe:
        probe.write(bytes(_PROBE))
        os.fsync(probe.fileno())


def sweep(folder: Path, name: str | None = None) -> None:
    """Remove what is left of writes to a folder, or to one file in it, that were killed."""
    pattern = "*" if name is None else glob.escape(name)
    for each in folder.glob(f".{pattern}.*{_OURS}"):
        with contextlib.suppress(OSError):
            if time.time() - each.stat().st_mtime > _STALE:
                each.unlink()


def _refused(path: Path, error: OSError) -> StorageFull:
    return unwritten(f"{path} cannot be written: {error.strerror}", error)
