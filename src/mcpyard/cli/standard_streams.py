"""The standard streams of a command, also where the caller closed them."""

import contextlib
import io
import os
import sys
from typing import Final, cast

_STANDARD: Final = (0, 1, 2)


def ready_streams() -> None:
    """Make every stream one that can be written to, with any text."""
    fill_standard_files()
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    # A character that the locale does not have is escaped, as on standard error.
    with contextlib.suppress(AttributeError):
        cast("io.TextIOWrapper", sys.stdout).reconfigure(errors="backslashreplace")


def fill_standard_files() -> None:
    """Open what the caller closed of the three, lest a socket get its number and our lines."""
    for fd in _STANDARD:
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def drop_unwritten() -> None:
    """Drop output that cannot be written; the interpreter would report it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
