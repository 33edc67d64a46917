"""Checks of the home: whether it can be written, and its state be read."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from mcpyard.cli.checks.findings import Check, bad, good
from mcpyard.domain.errors import YardError
from mcpyard.domain.remedies import remedy
from mcpyard.store.sqlite.peeking import examine_state


def examine_home(home: Path) -> Iterator[Check]:
    """A check of the folder, and one of the database in it if there is one."""
    place = next(each for each in (home, *home.absolute().parents) if each.exists())
    try:
        _write(place)
    except OSError as error:
        fix = "free some space, check the permissions, or use another folder with --home"
        yield bad("home", f"{place} is not writable: {error.strerror}", fix)
    else:
        yield good("home", str(home))
    if (path := home / "state.db").exists():
        yield _state(home, path)


def _write(folder: Path) -> None:
    """Write a byte to a file without a name: a folder may be writable and its disk full."""
    with TemporaryFile(dir=folder, buffering=0) as probe:
        probe.write(b"\n")
        os.fsync(probe.fileno())


def _state(home: Path, path: Path) -> Check:
    try:
        examine_state(home)
    except YardError as error:
        return bad("state", error.message, remedy(error))
    return good("state", f"{path} is readable")
