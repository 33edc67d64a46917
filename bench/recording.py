"""What recording calls costs the gateway: `python -m bench.recording [SECONDS]`.

One daemon, with recording on and off in turn, calls a second at concurrency 64. Each pair of rounds
gives a ratio; the median of the ratios is compared with the limit.
"""

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

import httpx2
import uvloop

from bench.gateway import PAUSE, WIDTH, measure_calls, project
from bench.gateway_targets import ORDINARY, TOKEN, Door, session_of, yard
from bench.measuring import Figures, percentile

PAIRS = 8
LEAST = 0.9


async def switch(door: Door, mode: str) -> dict[str, object]:
    """Switch recording on or off; what is recorded so far."""
    url = f"http://127.0.0.1:{door.port}/api/mcp/recording"
    async with httpx2.AsyncClient(headers=TOKEN, timeout=30) as client:
        return (await client.put(url, json={"mode": mode})).json()


async def compare(figures: Figures, folder: Path, seconds: float) -> None:
    async with yard(folder, {"echo": project(ORDINARY)}) as door:
        target = await session_of(door, "mcp_echo_echo", WIDTH, **TOKEN)
        await measure_calls(target, WIDTH, seconds / 2)
        rows: dict[str, list[tuple[float, float, float]]] = {"on": [], "off": []}
        for pair in range(PAIRS):
            for mode in ("on", "off") if pair % 2 else ("off", "on"):
                await switch(door, mode)
                await asyncio.sleep(PAUSE)
                tally, cpu = await measure_calls(target, WIDTH, seconds)
                rows[mode].append((tally.rate, percentile(tally.times, 0.99), cpu))
        for mode, measured in rows.items():
            rate, late, cpu = (statistics.median(column) for column in zip(*measured, strict=True))
            times = f"p99 {late * 1e3:.2f} ms, CPU {cpu * 1e6:,.0f} us a call"
            figures.show(f"recording {mode}, {WIDTH} at once", f"{rate:,.0f}/s, {times}")
        pairs = [*zip(rows["on"], rows["off"], strict=True)]
        ratios = [on[0] / off[0] for on, off in pairs]
        figures.show("on against off, each pair", ", ".join(f"{each:.3f}" for each in ratios))
        cost = statistics.median([on[2] / off[2] for on, off in pairs])
        figures.show("processor time of a call, on against off", f"{cost:.3f}x")
        state = await switch(door, "off")
        figures.show("recorded, dropped", f"{state['calls']}, {state['dropped']}")
        figures.at_least(
            "calls a second, recording on against off", statistics.median(ratios), LEAST
        )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(compare(figures, Path(folder), seconds))
    figures.leave()


if __name__ == "__main__":
    main()
