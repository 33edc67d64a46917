"""What a durable write, a line of the journal and a start with many servers cost.

Run with `python -m bench.store [FOLDER]`; the folder's disk is what is measured.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from uuid import UUID, uuid4

from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.store.sqlite.store import Store

SECONDS = 2.0
CALLERS = 32
LINES = 20_000
SERVERS = 1_000
TOOLS = 10

TOOL = {
    "name": "read_file",
    "description": "Read one file of the project as text, from a line on. " * 4,
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}},
        "required": ["path"],
    },
}


async def main(folder: Path) -> None:
    print(f"{'one fsync of 4 KiB':34} {syncs(folder):10,.0f} /s")
    store = await Store.open(folder / "writes")
    for callers in (1, CALLERS):
        rate = await writes(store, callers)
        print(f"{f'durable writes, {callers} at once':34} {rate:10,.0f} /s")
    handed, written = await lines(store)
    print(f"{'journal lines handed over':34} {handed:10,.0f} /s")
    print(f"{'journal lines written':34} {written:10,.0f} /s")
    await store.close()
    await registered(folder / "many")
    for name in ("first", "second"):
        took = await timed(lambda: opened(folder / "many"))
        print(f"{f'open with {SERVERS:,} servers, {name}':34} {took * 1e3:10.1f} ms")


def syncs(folder: Path) -> float:
    """How often the disk itself can make a small write durable, for comparison."""
    descriptor = os.open(folder / "syncs", os.O_RDWR | os.O_CREAT, 0o600)
    done, start = 0, perf_counter()
    while perf_counter() - start < SECONDS / 2:
        os.write(descriptor, b"x" * 4096)
        os.fdatasync(descriptor)
        done += 1
    os.close(descriptor)
    return done / (perf_counter() - start)


async def writes(store: Store, callers: int) -> float:
    start = perf_counter()
    done = 0

    async def caller(server: UUID) -> None:
        nonlocal done
        while perf_counter() - start < SECONDS:
            await store.policies.set(server, {"timeout": done})
            done += 1

    await asyncio.gather(*(caller(uuid4()) for _ in range(callers)))
    return done / (perf_counter() - start)


async def lines(store: Store) -> tuple[float, float]:
    call = CallRecord(datetime.now(UTC), "cli", uuid4(), "files", "read_file", 1.5, "ok", 200, 4000)
    start = perf_counter()
    for _ in range(LINES):
        store.journal.append(call)
    handed = perf_counter() - start
    await store.journal.query(CallQuery(limit=1))
    assert store.journal.dropped == 0
    return LINES / handed, LINES / (perf_counter() - start)


async def registered(folder: Path) -> None:
    store = await Store.open(folder)
    definition = {"command": "npx", "args": ["-y", "@example/server"], "env": {"TOKEN": "${T}"}}
    servers = await store.definitions.add_all(
        {f"server-{number}": definition for number in range(SERVERS)}
    )
    for each in servers:
        names = {(each.id, f"tool-{n}"): f"mcp_{each.name}_tool-{n}" for n in range(TOOLS)}
        store.memory.keep_names(names)
        store.memory.keep_tools(each.id, [{**TOOL, "name": f"tool-{n}"} for n in range(TOOLS)])
    await asyncio.gather(*(store.policies.set(each.id, {"wanted": "running"}) for each in servers))
    await store.close()


async def opened(folder: Path) -> None:
    store = await Store.open(folder)
    assert len(store.definitions.all()) == SERVERS
    store.memory.identity(Owner(Scope.USER), "server-0")
    await store.close()


async def timed(work: Callable[[], Awaitable[None]]) -> float:
    start = perf_counter()
    await work()
    return perf_counter() - start


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as temporary:
        asyncio.run(main(Path(temporary)))
