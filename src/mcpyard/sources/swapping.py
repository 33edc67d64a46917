"""Two files that change places in one step, so that nothing is lost that was there until then.

A rename drops what it replaces, whatever that is by then. After an exchange it stands under the
other name, where it can be looked at and put back.
"""

import ctypes
import os
import sys
from errno import EINVAL, ENOSYS, ENOTSUP
from pathlib import Path
from typing import Final

_HERE: Final = -100
"""`AT_FDCWD` of Linux: relative paths are those of the working folder."""

_EXCHANGE: Final = 2
"""`RENAME_EXCHANGE` of Linux and `RENAME_SWAP` of macOS."""

_UNSUPPORTED: Final = frozenset({EINVAL, ENOSYS, ENOTSUP})


def exchange(first: Path, second: Path) -> bool:
    """Let two files change places; False where the system or the disk has no such step.

    Raises:
        OSError: One of them is not there, or may not be moved.
    """
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    try:
        if sys.platform == "darwin":
            failed = library.renamex_np(*names, _EXCHANGE)
        else:
            failed = library.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE)
    except AttributeError:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(second))
