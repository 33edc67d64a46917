"""Which starts go on at once."""

import asyncio
import os
import subprocess
import sys
from contextlib import AsyncExitStack

from mcpyard.runtime.starts import Starts, is_busy


async def begun(starts: Starts, stack: AsyncExitStack, name: str, order: list[str]) -> None:
    """Begin a start that only waits, and keeps its place."""
    await stack.enter_async_context(starts.place(urgent=name.startswith("urgent")))
    order.append(name)


async def test_starts_that_only_wait_do_not_keep_others_from_beginning() -> None:
    starts, order = Starts(2, busy=lambda: False), list[str]()
    async with AsyncExitStack() as stack, asyncio.timeout(1.5), asyncio.TaskGroup() as tasks:
        for number in range(40):
            tasks.create_task(begun(starts, stack, str(number), order))
    assert order == [str(number) for number in range(40)]


async def test_on_a_busy_machine_only_as_many_begin_as_there_are_places() -> None:
    looks, looked = 0, asyncio.Event()

    def busy() -> bool:
        nonlocal looks
        looks += 1
        if looks == 5:
            looked.set()
        return True

    starts, order = Starts(2, busy), list[str]()
    async with AsyncExitStack() as stack:
        tasks = [
            asyncio.create_task(begun(starts, stack, name, order))
            for name in ("one", "two", "three", "four", "urgent")
        ]
        await looked.wait()
        assert order == ["one", "two"]
        await stack.pop_all().aclose()
        await asyncio.wait(tasks)
    assert order == ["one", "two", "urgent", "three", "four"]


async def test_one_that_gives_up_leaves_its_turn_to_the_next() -> None:
    starts, order = Starts(1, busy=lambda: True), list[str]()
    async with AsyncExitStack() as stack:
        await begun(starts, stack, "one", order)
        second = asyncio.create_task(begun(starts, stack, "two", order))
        third = asyncio.create_task(begun(starts, stack, "three", order))
        await asyncio.sleep(0)
        second.cancel()
        await stack.pop_all().aclose()
        await third
    assert order == ["one", "three"]


def test_a_machine_is_busy_while_more_wants_to_run_than_it_has_processors() -> None:
    spin = [sys.executable, "-I", "-S", "-c", "print(flush=True)\nwhile True: pass"]
    spinning = [
        subprocess.Popen(spin, stdout=subprocess.PIPE) for _ in range((os.cpu_count() or 1) + 2)
    ]
    try:
        for each in spinning:
            assert each.stdout
            each.stdout.readline()
        assert is_busy()
    finally:
        for each in spinning:
            each.kill()
            each.communicate()
