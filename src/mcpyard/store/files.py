"""Writing small files so that a reader never sees half of one, whatever happens meanwhile."""

import contextlib
import os
import tempfile
from pathlib import Path

from mcpyard.domain.errors import StorageFull


def write_private(path: Path, content: bytes) -> None:
    """Replace a file by this content, readable by its owner alone.

    Raises:
        StorageFull: The disk has no room; the old file is intact.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StorageFull(f"{path} cannot be written: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
