"""`up --sync`: a plan that is applied again whenever something changed, with nobody to ask.

What needs a decision or an approval is left alone, and told in the log once.
"""

import logging
from collections.abc import Awaitable, Callable

from mcpyard.domain.errors import YardError
from mcpyard.domain.sync.plan import CellState
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.views.sync import SyncView

log = logging.getLogger(__name__)

_OPEN_STATES = frozenset({CellState.CONFLICT, CellState.WAITING, CellState.UNSUPPORTED})


async def keep_synced(
    sync: Sync, command: tuple[str, ...], pause: Callable[[], Awaitable[None]]
) -> None:
    """Apply the plan again and again, with a pause in between."""
    request, terms = SyncRequest(command=command, automatic=True), EditTerms(who="sync")
    reported: set[str] = set()
    while True:
        lines = await _apply(sync, request, terms)
        for line in lines - reported:
            log.warning("sync: %s", line)
        reported = lines
        await pause()


async def _apply(sync: Sync, request: SyncRequest, terms: EditTerms) -> set[str]:
    """Apply the plan; what a person has to see to."""
    try:
        done = await sync.apply(request, terms)
    except YardError as error:
        # A file that cannot be used now may be mended while this runs.
        return {str(error)}
    if done.edit is not None:
        files = ", ".join(each.path for each in done.files)
        log.info("sync: changed %s; undo it: mcpyard undo %d", files, done.edit)
    return _open(done)


def _open(done: SyncView) -> set[str]:
    cells = (each for each in done.cells if each.state in _OPEN_STATES)
    files = (each for each in done.targets if each.problems)
    return {
        *(f"{each.server} in {each.target}: {each.reason}" for each in cells),
        *(f"{each.target}: {each.problems[0].message}" for each in files),
    }
