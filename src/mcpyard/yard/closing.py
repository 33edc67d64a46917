"""Ending and awaiting things that may not end."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Coroutine
from typing import Final

STEP_TIMEOUT: Final = 5.0
"""Seconds for a step that has nothing to do but to stop."""

log = logging.getLogger(__name__)


async def bounded(step: Coroutine[None, None, None], seconds: float) -> None:
    """Wait for a step, but not for ever, not even for one that cannot be cancelled."""
    task = asyncio.ensure_future(step)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not task.done():
        log.error("%s does not stop and is abandoned", step.__qualname__)
    elif not task.cancelled():
        task.result()


async def wait_up_to(event: Awaitable[object], seconds: float) -> None:
    """Wait at most so many seconds; a timeout is not an error."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event, max(0.0, seconds))
