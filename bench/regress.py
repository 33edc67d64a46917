"""This tree beside an earlier commit: `python -m bench.regress BASE [--limit 0.97]`.

Calls a second through the gateway, 64 at once and one at a time, and by `yard.call`. In each round
both sides run in new processes of their own and are measured in turns of a fraction of a second,
since the machine may have other work and be slower a moment later. What is compared is the ratio
of what they did in one round. The load comes from this tree for both.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

import uvloop

import mcpyard
from bench.calls import ARGUMENTS, WIDTH
from bench.calls import ORDINARY as PIPED
from bench.gateway import measure_calls, project
from bench.gateway_targets import ORDINARY, TOKEN, session_of, yard
from bench.measuring import ROOT, Figures, definition, rate
from mcpyard import Yard

ROUNDS: Final = 10
SLICES: Final = 10
"""Turns that each side has in a round."""

SECONDS: Final = 2.0
WARM_UP: Final = 0.3
LIMIT: Final = 0.97
TIMEOUT: Final = 120.0
VENDOR: Final = Path("src", "mcpyard", "web", "static", "vendor")
"""Downloaded when the tree is set up, so no commit has it."""

Rates = dict[str, float]


class Pair(NamedTuple):
    """What both sides did in one round, in calls a second."""

    base: float
    head: float

    @property
    def ratio(self) -> float:
        """Above 1 where this tree is faster."""
        return self.head / self.base


@dataclass(frozen=True, slots=True)
class Spread:
    """How values lie."""

    median: float
    lower: float
    upper: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        several = [*values, *values] if len(values) == 1 else [*values]
        lower, median, upper = statistics.quantiles(several, n=4, method="inclusive")
        return cls(median, lower, upper, min(values), max(values))


def turns(rounds: int) -> Iterator[tuple[str, str]]:
    """Which side is measured first, and which then."""
    for number in range(rounds):
        yield ("head", "base") if number % 2 else ("base", "head")


def report(measured: Mapping[str, Sequence[Pair]], limit: float, figures: Figures) -> None:
    """Hold the median ratio of each figure against the limit, and print how the ratios lie."""
    for name, pairs in measured.items():
        spread = Spread.of([each.ratio for each in pairs])
        figures.at_least(name, spread.median, limit, "x")
        ends = f"{spread.lowest:.3f} to {spread.highest:.3f}"
        middle = f"quartiles {spread.lower:.3f} to {spread.upper:.3f}"
        base, head = (statistics.median(column) for column in zip(*pairs, strict=True))
        figures.show("", f"{ends}, {middle}; {base:,.0f}/s and {head:,.0f}/s")


Slice = Callable[[float], Awaitable[Rates]]
"""Measures for so many seconds."""


@asynccontextmanager
async def gateway() -> AsyncGenerator[Slice]:
    with tempfile.TemporaryDirectory() as folder:
        async with yard(Path(folder), {"echo": project(ORDINARY)}) as door:
            target = await session_of(door, "mcp_echo_echo", WIDTH, **TOKEN)

            async def measured(seconds: float) -> Rates:
                many, _ = await measure_calls(target, WIDTH, seconds)
                one, _ = await measure_calls(target, 1, seconds)
                return {f"gateway, {WIDTH} at once": many.rate, "gateway, one at a time": one.rate}

            yield measured


@asynccontextmanager
async def calls() -> AsyncGenerator[Slice]:
    async with Yard.open(servers={"echo": definition(PIPED)}) as opened:
        await opened.settled("echo")
        name = "mcp_echo_echo"

        async def measured(seconds: float) -> Rates:
            done = await rate(lambda: opened.call(name, ARGUMENTS), WIDTH, seconds)
            return {f"yard.call, {WIDTH} at once": done}

        yield measured


PARTS: Final = {"gateway": gateway, "calls": calls}


async def measure(part: str, source: str) -> None:
    """In a process of its own: print what the mcpyard of one side does, whenever it is asked."""
    location = Path(mcpyard.__file__)
    if not location.is_relative_to(source):
        sys.exit(f"measured {location}, which is not in {source}")
    async with PARTS[part]() as measured:
        await measured(WARM_UP)
        print(json.dumps({}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await measured(float(line))), flush=True)


class Side:
    """The process that measures a part of one side."""

    def __init__(self, part: str, tree: Path) -> None:
        source = str(tree / "src")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.regress", "--measure", part, source],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def measured(self, seconds: float | None = None) -> Rates:
        """What it does for so long; without, wait until it is ready."""
        assert self._process.stdin
        assert self._process.stdout
        if seconds is not None:
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
        return json.loads(self._process.stdout.readline() or sys.exit("a measurement failed"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=TIMEOUT)


def compare(trees: Mapping[str, Path], rounds: int, seconds: float) -> dict[str, list[Pair]]:
    measured: dict[str, list[Pair]] = {}
    for part in PARTS:
        for order in turns(rounds):
            for name, pair in _round(part, trees, order, seconds).items():
                measured.setdefault(name, []).append(pair)
    return measured


def _round(
    part: str, trees: Mapping[str, Path], order: tuple[str, str], seconds: float
) -> dict[str, Pair]:
    rates: dict[str, dict[str, list[float]]] = {}
    # Of two copies of one tree, the one that starts second is slower, so both start first.
    first, second = order
    with Side(part, trees[first]) as one, Side(part, trees[second]) as other:
        sides = {first: one, second: other}
        for side in sides.values():
            side.measured()
        for turn in turns(SLICES):
            for side in turn:
                for name, measured_rate in sides[side].measured(seconds / SLICES).items():
                    rates.setdefault(name, {}).setdefault(side, []).append(measured_rate)
    return {
        name: Pair(statistics.fmean(of["base"]), statistics.fmean(of["head"]))
        for name, of in rates.items()
    }


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.strip())
    return done.stdout.strip()


@contextmanager
def checked_out(commit: str) -> Generator[Path]:
    """The tree of a commit, for as long as the block lasts."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "base"
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
        try:
            shutil.copytree(ROOT / VENDOR, tree / VENDOR)
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        uvloop.run(measure(*sys.argv[2:]))
        return
    parser = argparse.ArgumentParser(prog="scripts/prove regress")
    parser.add_argument("base", help="the commit that this tree is compared with")
    parser.add_argument("--limit", type=float, default=LIMIT, help="the least median ratio")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each side in a round")
    options = parser.parse_args()
    commit = git("rev-parse", "--verify", f"{options.base}^{{commit}}")
    figures = Figures()
    figures.show("this tree", git("describe", "--always", "--dirty"))
    figures.show("against", git("describe", "--always", commit))
    with checked_out(commit) as base:
        measured = compare({"base": base, "head": ROOT}, options.rounds, options.seconds)
    report(measured, options.limit, figures)
    figures.leave()


if __name__ == "__main__":
    main()
