"""What a yard needs that takes a while, but none of its definitions.

`mcpyard up` begins with it before most of its modules are loaded, which takes just as long. So this
module loads few others.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from mcpyard.runtime.processes.keeper_program import KeeperProgram, start_program
from mcpyard.runtime.processes.marks import MarkKey
from mcpyard.runtime.processes.orphans import Swept, sweep_dead_yards
from mcpyard.store.home import Home
from mcpyard.store.mark_key import home_mark_key, user_mark_key
from mcpyard.store.sqlite.databases import Databases


class EarlyStart(Struct, frozen=True):
    """What is under way.

    Attributes:
        home: The folder for persistent state, held by this process; None for state in memory.
        key: What the marks of processes are signed with.
        keeper: The process that starts servers, where some are expected.
        sweep: Ends what a yard that was killed together with its keeper left behind.
        databases: Opens those of the home.
    """

    home: Path | None
    key: MarkKey
    keeper: KeeperProgram | None
    sweep: asyncio.Task[Swept]
    databases: asyncio.Task[Databases] | None


@asynccontextmanager
async def start_early(home: Path | None, *, servers: bool) -> AsyncGenerator[EarlyStart]:
    """Begin with all of it; what is under way ends with the block.

    Args:
        home: A folder for persistent state.
        servers: Whether servers are expected.

    Raises:
        YardBusy: Another process uses the home; names its pid and address.
    """
    async with contextlib.AsyncExitStack() as undo:
        key = MarkKey(user_mark_key()) if home is None else _take(Home(home), undo)
        keeper = _start_keeper(undo) if servers else None
        opening = None if home is None else asyncio.create_task(Databases.open(home))
        if opening:
            undo.push_async_callback(_close, opening)
        sweep = asyncio.create_task(asyncio.to_thread(sweep_dead_yards, key), name="sweep")
        undo.push_async_callback(asyncio.wait, {sweep})
        yield EarlyStart(home, key, keeper, sweep, opening)


def _take(home: Home, undo: contextlib.AsyncExitStack) -> MarkKey:
    home.take()
    undo.callback(home.release)
    # Version 0.1 did not sign: what its killed yard left is known by that yard's pid and start.
    before = home.predecessor
    unsigned = [(before.pid, before.started)] if before and before.started else []
    return MarkKey(home_mark_key(home.folder), unsigned)


def _start_keeper(undo: contextlib.AsyncExitStack) -> KeeperProgram | None:
    # If that fails, the first start of a server tries again and tells.
    with contextlib.suppress(OSError):
        keeper = start_program()
        undo.callback(keeper.end)
        return keeper
    return None


async def _close(opening: asyncio.Task[Databases]) -> None:
    await asyncio.wait({opening})
    if not opening.cancelled() and not opening.exception():
        await opening.result().close()
