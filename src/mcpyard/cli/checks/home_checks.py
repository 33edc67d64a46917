"""Checks of the home: whether it can be written, and its state be read."""

import shlex
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mcpyard.cli.checks.findings import Check, bad, doubtful, good
from mcpyard.domain.errors import YardError
from mcpyard.domain.remedies import remedy
from mcpyard.store.atomic_files import probe_writing
from mcpyard.store.sqlite.peeking import examine_state
from mcpyard.store.sqlite.snapshots import Snapshots, newest
from mcpyard.store.sqlite.used_marker import is_marked

_SECRETS: Final = {"token": ", then mcpyard token rotate", "key": ""}
"""The admin token and what opens stored secrets, with what to do once others had access."""


def examine_home(home: Path) -> Iterator[Check]:
    """A check of the folder, and one of the database in it if there is one."""
    place = next(each for each in (home, *home.absolute().parents) if each.exists())
    try:
        probe_writing(place)
    except OSError as error:
        fix = "free some space, check the permissions, or use another folder with --home"
        yield bad("home", f"{place} is not writable: {error.strerror}", fix)
    else:
        yield good("home", str(home))
    yield from _readable_secrets(home)
    path = home / "state.db"
    if path.exists() or is_marked(path):
        yield _state(home, path)
        yield _snapshots(home)


def _readable_secrets(home: Path) -> Iterator[Check]:
    """The files whose readers can do anything here, where that is not only this user."""
    for name, then in _SECRETS.items():
        path = home / name
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            message = f"other users can access {path} (mode {mode:04o})"
            yield doubtful(name, message, f"chmod 600 {shlex.quote(str(path))}{then}")


def _state(home: Path, path: Path) -> Check:
    try:
        examine_state(home)
    except YardError as error:
        return bad("state", error.message, remedy(error))
    return good("state", f"{path} is readable")


def _snapshots(home: Path) -> Check:
    snapshots = Snapshots(home).all()
    if not snapshots:
        return good("backups", "none yet; mcpyard up takes one a day")
    day = f"{newest(snapshots, datetime.now(UTC)).at:%Y-%m-%d %H:%M} UTC"
    return good("backups", f"{len(snapshots)}, the newest of {day}; mcpyard restore lists them")
