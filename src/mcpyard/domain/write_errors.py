"""What a write that the system refused is called."""

import errno
from typing import Final

from mcpyard.domain.errors import NotWritable, StorageFull

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def unwritten(message: str, error: OSError) -> StorageFull:
    """The error of a write that failed: few fail for want of room."""
    return (StorageFull if error.errno in _NO_ROOM else NotWritable)(message)
