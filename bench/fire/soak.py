"""A yard that is used on and on: `python -m bench.fire.soak [--minutes M] [--seed N]`.

Servers are called, started, stopped, edited, added and removed without a pause, by four tokens with
low quotas: what is refused because of one is answered rightly. After a warm-up the
yard's memory, descriptors, tasks, threads and database must not grow, and no zombie be left.
"""

import argparse
import asyncio
import os
import random
import signal
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import uvloop

from bench.fire.callers import Caller, HandshakeCaller, ModernCaller, RestCaller, Tally
from bench.fire.greedy_callers import LargeSessionCaller, StreamCaller
from bench.fire.members import Member
from bench.fire.quotas import show_quotas, unreturned
from bench.fire.scene import SERVERS, Scene, one, scene
from bench.fire.verdict import recovered
from bench.measuring import Figures
from tests.runtime.waiting import eventually

KINDS = {"legacy": 4, "modern": 2, "slow": 1, "http": 2, "sse": 1}
WAYS: dict[type[Caller], int] = {
    RestCaller: 3,
    ModernCaller: 6,
    HandshakeCaller: 3,
    StreamCaller: 6,
    LargeSessionCaller: 1,
}
LIMITS = "calls=2,sessions=8,streams=1,memory=320KiB"
"""Low enough to be in the way now and then."""

WARM_UP = 0.25
"""The share of the time in which caches and pools fill."""

DEFINITIONS = 16
"""Of each server, and names of those that come and go: a yard remembers every one it ever saw."""

SAMPLES = 60
BETWEEN_DEEDS = 0.02
MEBIBYTE = 1024 * 1024
MOST_GROWTH = 2.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What a yard uses at one moment; memory and database in MiB."""

    rss: float
    fds: int
    tasks: int
    threads: int
    database: float
    zombies: int


class Churn:
    """Somebody who never leaves a yard alone."""

    def __init__(self, made: Scene) -> None:
        self.done: Counter[str] = Counter()
        self._scene = made
        self._count = 0

    async def run(self, ending: asyncio.Event) -> None:
        deeds = (self._restart, self._stop_and_start, self._edit, self._come_and_go, self._look)
        while not ending.is_set():
            deed = self._scene.dice.choice(deeds)
            await deed(self._scene.dice.choice(self._scene.members))
            self.done[deed.__name__.strip("_").replace("_", " ")] += 1
            await asyncio.sleep(BETWEEN_DEEDS)

    async def _restart(self, member: Member) -> None:
        await self._ask("POST", one(member.name, "restart"))

    async def _stop_and_start(self, member: Member) -> None:
        await self._ask("POST", one(member.name, "stop"))
        await self._ask("POST", one(member.name, "start"))

    async def _edit(self, member: Member) -> None:
        self._count += 1
        tag = self._count % DEFINITIONS
        member.try_tag(tag)
        await self._ask("PATCH", one(member.name), member.launch(tag))
        member.take_tag(tag)

    async def _come_and_go(self, member: Member) -> None:
        self._count += 1
        passing = Member(f"p{self._count % DEFINITIONS}", member.kind, "user", member.port)
        await self._ask("POST", SERVERS, {"name": passing.name, **passing.definition()})
        await self._ask("DELETE", one(passing.name))

    async def _look(self, member: Member) -> None:
        for path in (SERVERS, one(member.name, "logs"), "/api/mcp/calls", "/metrics"):
            await self._ask("GET", path)

    async def _ask(self, method: str, path: str, body: object = None) -> None:
        answer = await self._scene.http.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:200]}"


async def look(made: Scene) -> Sample:
    """What the yard uses now."""
    tasks_file = made.folder / "tasks"
    before = tasks_file.read_text() if tasks_file.exists() else ""
    os.kill(made.pid, signal.SIGUSR1)
    written = await eventually(lambda: tasks_file.exists() and tasks_file.read_text() != before, 10)
    assert written, "the yard does not tell its tasks"
    process = psutil.Process(made.pid)
    below = [each for each in process.children(recursive=True) if each.is_running()]
    return Sample(
        process.memory_info().rss / MEBIBYTE,
        process.num_fds(),
        int(tasks_file.read_text().split()[-1]),
        process.num_threads(),
        sum(each.stat().st_size for each in made.home.glob("*.db*")) / MEBIBYTE,
        sum(_is_zombie(each) for each in below),
    )


def _is_zombie(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def soak(
    folder: Path, seconds: float, seed: int, samples_wanted: int = SAMPLES
) -> tuple[list[Sample], Counter[str], Tally]:
    """Use a yard for so long; samples after the warm-up, each in a moment of rest."""
    samples: list[Sample] = []
    tally = Tally()
    command = (sys.executable, "-m", "bench.fire.counted_up", str(folder / "tasks"))
    async with scene(folder, KINDS, seed, command, LIMITS) as made:
        churn = Churn(made)
        await recovered(made)
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() < began + seconds:
            await _round(made, churn, tally, seconds / samples_wanted)
            if loop.time() > began + seconds * WARM_UP:
                samples.append(await look(made))
        assert await unreturned(made) == []
        assert await made.end_yard() == 0
    assert not made.orphans
    return samples, churn.done, tally


async def _round(made: Scene, churn: Churn, tally: Tally, seconds: float) -> None:
    """Churn and call for a while, then let everything come to rest."""
    ending = asyncio.Event()
    callers = [way(made, tally) for way, count in WAYS.items() for _ in range(count)]
    working = [asyncio.create_task(each.run(ending)) for each in (churn, churn, *callers)]
    await asyncio.wait(working, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    ending.set()
    await asyncio.gather(*working)
    await recovered(made)


def growth(values: Sequence[float]) -> float:
    """How much the straight line through all values rises from the first to the last."""
    if len(values) < 2:
        return 0.0
    slope = statistics.linear_regression(range(len(values)), values).slope
    return slope * (len(values) - 1)


def quarters(values: Sequence[float]) -> str:
    """The means of the four quarters: a line that rises ever more slowly is no leak."""
    size = max(1, len(values) // 4)
    parts = [values[at : at + size] for at in range(0, len(values), size)][:4]
    return ", ".join(f"{statistics.mean(each):.2f}" for each in parts)


def report(samples: Sequence[Sample], done: Counter[str], tally: Tally) -> Figures:
    figures = Figures()
    figures.show("calls answered rightly", f"{tally.right:,}")
    for way, count in sorted(tally.by_way.items()):
        figures.show(f"  by {way}", f"{count:,}")
    show_quotas(figures, tally)
    for deed, count in sorted(done.items()):
        figures.show(f"deed: {deed}", f"{count:,}")
    figures.show("samples after the warm-up", str(len(samples)))
    columns = {name: [getattr(each, name) for each in samples] for name in Sample.__slots__}
    for name, values in columns.items():
        spread = f"{min(values):.4g} to {max(values):.4g}, last {values[-1]:.4g}"
        figures.show(name, spread)
    figures.show("rss, by quarters", quarters(columns["rss"]))
    figures.at_most("memory grows by", growth(columns["rss"]), MOST_GROWTH, " MiB")
    for name in ("fds", "tasks", "threads"):
        figures.at_most(f"{name} grow by", growth(columns[name]), 1)
    figures.at_most("the database grows by", growth(columns["database"]), MOST_GROWTH, " MiB")
    figures.at_most("zombies", max(columns["zombies"]), 0)
    faults = len(tally.wrong) + len(tally.broken) + len(tally.unfinished)
    figures.at_most("wrong, broken or endless calls", faults, 0)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        outcome = uvloop.run(soak(Path(folder), options.minutes * 60, options.seed))
    report(*outcome).leave()


if __name__ == "__main__":
    main()
