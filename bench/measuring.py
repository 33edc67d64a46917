"""What the benches of the runtime share: servers to run, rates, and figures held against limits."""

import asyncio
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ECHO = [sys.executable, "-I", "-S", str(ROOT / "tests" / "faults" / "echo.py")]
ZOO = [sys.executable, "-I", "-S", str(ROOT / "tests" / "faults" / "zoo.py")]


def definition(command: list[str], **policy: object) -> dict[str, Any]:
    """A server that is wanted to run."""
    program, *args = command
    running = {"transport": "stdio", "command": program, "args": args, "wanted": "running"}
    return {**running, **policy}


class Figures:
    """Prints figures and remembers whether one missed its limit."""

    def __init__(self) -> None:
        self.missed = False

    def show(self, name: str, value: str) -> None:
        print(f"{name:52}  {value}", flush=True)

    def at_most(self, name: str, value: float, limit: float, unit: str = "") -> None:
        self._hold(name, f"{value:,.3g}{unit}  (at most {limit:g}{unit})", met=value <= limit)

    def at_least(self, name: str, value: float, limit: float, unit: str = "") -> None:
        self._hold(name, f"{value:,.3g}{unit}  (at least {limit:g}{unit})", met=value >= limit)

    def _hold(self, name: str, text: str, *, met: bool) -> None:
        self.missed |= not met
        self.show(name, text if met else f"{text}  MISSED")

    def leave(self) -> None:
        """Exit with 1 when a limit was missed."""
        sys.exit(int(self.missed))


def percentile(values: Iterable[float], share: float) -> float:
    """The value that this share of all lies at or below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def rate(ask: Callable[[], Awaitable[object]], width: int, seconds: float) -> float:
    """Answers a second with that many askers."""
    began = time.perf_counter()
    until = began + seconds
    done = 0

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await ask()
            done += 1

    await asyncio.gather(*(worker() for _ in range(width)))
    return done / (time.perf_counter() - began)


def rss() -> float:
    """Resident memory of this process, in MB."""
    match = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(match[1]) / 1000 if match else 0.0


def open_files() -> int:
    """File descriptors of this process."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  pathlib opens one more


async def all_connected(yard: Any, count: int) -> None:  # noqa: ANN401  `Yard` is slow to import
    """Return when that many servers are connected."""
    events = yard.events()
    connected: set[object] = set()
    async for event in events:
        if event.kind == "status" and event.data["status"] == "connected":
            connected.add(event.data["name"])
        if len(connected) == count:
            break
    events.finish()
