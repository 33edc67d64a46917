"""What is done to the keeper of a yard, and what must become of it and of its servers."""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from bench.fire.scene import Scene, YardDownError
from tests.runtime.waiting import alive

CLEARED = 15.0
"""Seconds in which everything that a keeper left must be gone."""

NOTICED = 45.0
"""Seconds in which a keeper that hangs must be replaced, on a machine that is under load."""

LOOK_AGAIN = 0.1


async def kill_keeper(scene: Scene) -> str:
    """Kill the keeper; what went otherwise than it must."""
    async with scene.keeper_lock:
        pid, left = await _keeper(scene), {*scene.daemons()}
        send(pid, signal.SIGKILL)
        return await _cleared(scene, left)


async def hang_keeper(scene: Scene) -> str:
    """Stop the keeper until it is replaced; what went otherwise than it must."""
    async with scene.keeper_lock:
        pid, left = await _keeper(scene), {*scene.daemons()}
        send(pid, signal.SIGSTOP)
        if not await _soon(lambda: not alive(pid) and scene.keeper() is not None, NOTICED):
            send(pid, signal.SIGCONT)
            return "a keeper that hangs was not replaced"
        return await _cleared(scene, left)


async def kill_yard_with_hung_keeper(scene: Scene) -> None:
    """Stop the keeper and kill its yard; the next yard is up when this returns."""
    async with scene.keeper_lock:
        send(await _keeper(scene), signal.SIGSTOP)
        await scene.kill_yard()


def send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


async def _keeper(scene: Scene) -> int:
    """The keeper, which a yard that has just begun has not started yet."""
    await _soon(lambda: scene.keeper() is not None, NOTICED)
    if (pid := scene.keeper()) is None:
        raise YardDownError("a yard has no keeper")
    return pid


async def _cleared(scene: Scene, left: set[int]) -> str:
    if await _soon(lambda: not left & scene.daemons().keys(), CLEARED):
        return ""
    scene.orphans |= left & scene.daemons().keys()
    return "a lost keeper left processes behind"


async def _soon(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether it came true in time; looked at seldom, since looks cost what is measured."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not condition():
        if loop.time() > until:
            return False
        await asyncio.sleep(LOOK_AGAIN)
    return True
