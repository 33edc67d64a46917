"""The marker of a home whose state was stored once.

Without it, a state that is gone or empty would look like that of a new home, and mcpyard would
start without the servers, tokens and approvals of its user. Homes of version 0.1 have no marker
until they are opened.
"""

import logging
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import StateBroken, StorageFull
from mcpyard.store.atomic_files import write_private

log = logging.getLogger(__name__)

MARKER: Final = "state.used"

_CONTENT: Final = b"mcpyard stored its state in this folder. If state.db is gone: mcpyard restore\n"


def mark_used(state: Path) -> None:
    """Note that a state was stored; on a full disk the next start does it."""
    if not is_marked(state):
        try:
            write_private(state.with_name(MARKER), _CONTENT)
        except StorageFull as error:
            log.warning("%s", error)


def is_marked(state: Path) -> bool:
    """Whether a state was stored at this path once."""
    return state.with_name(MARKER).exists()


def check_there(state: Path) -> None:
    """Make sure that a state that was stored once is still there.

    Raises:
        StateBroken: It is gone.
    """
    if is_marked(state) and not state.exists():
        raise _lost(state, "is missing")


def check_filled(state: Path, version: int) -> None:
    """Make sure that a state that was stored once has a version.

    Raises:
        StateBroken: It is empty.
    """
    if is_marked(state) and not version:
        raise _lost(state, "is empty")


def _lost(state: Path, how: str) -> StateBroken:
    advice = (
        "Restore a backup: mcpyard restore; "
        f"or delete {state.with_name(MARKER)} to start without servers and tokens."
    )
    return StateBroken(f"{state} {how}, but this home was used before").advising(advice)
