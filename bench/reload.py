"""From a save to the reconnect it causes: `python -m bench.reload [SAVES]`.

The file is saved in the ways of six editors; what is measured is the time from the end of each save
until the server it changes is being ended, to be started anew.
"""

import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench.measuring import ZOO, Figures, all_connected, definition, percentile
from mcpyard import Yard
from mcpyard.yard.events import Subscription
from tests.faults.editors import WAYS


def text(name: str) -> bytes:
    changing = definition([*ZOO, "good", name])
    servers = {"steady": definition([*ZOO, "good"]), "changing": changing}
    return json.dumps({"mcpServers": servers}).encode()


async def next_phase(events: Subscription, phase: str) -> None:
    async for event in events:
        if event.kind == "status" and (event.data["name"], event.data["phase"]) == (
            "changing",
            phase,
        ):
            return


async def measure(folder: Path, saves: int, figures: Figures) -> None:
    path = folder / ".mcp.json"
    path.write_bytes(text("first"))
    took: list[float] = []
    async with Yard.open(folder) as yard:
        await all_connected(yard, 2)
        pid = yard.record("steady").pid
        for number, save in zip(range(saves), itertools.cycle(WAYS), strict=False):
            events = yard.events()
            # The draft says what the file says already, so that only the last text causes anything.
            await save(path, path.read_bytes() + b"\n", text(f"save {number}"))
            began = time.perf_counter()
            await next_phase(events, "stopping")
            took.append((time.perf_counter() - began) * 1000)
            await next_phase(events, "connected")
            events.finish()
        applied = yard.record("changing").args
        same_process = yard.record("steady").pid == pid
    figures.show(f"{saves} saves, the median time", f"{statistics.median(took):.0f} ms")
    figures.at_most("save to reconnect, p95", percentile(took, 0.95), 500, " ms")
    figures.at_least("the last save is applied", float(f"save {saves - 1}" in str(applied)), 1)
    figures.at_least("the other server keeps its process", float(same_process), 1)


def main() -> None:
    saves = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(asyncio.wait_for(measure(Path(folder), saves, figures), 10 + saves))
    figures.leave()


if __name__ == "__main__":
    main()
