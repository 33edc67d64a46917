"""This tree beside an earlier commit: `python -m bench.regress BASE [--limit 0.97]`.

Calls a second through the gateway, 64 at once and one at a time, and by `yard.call`. Each round
measures both sides one after the other, each in processes of its own, and is begun by the other
side than the last. What is compared is the ratio within a round, since the machine may have other
work and be slower a minute later. The load comes from this tree for both.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

import uvloop

import mcpyard
from bench.calls import ORDINARY as PIPED
from bench.calls import WIDTH, with_yard
from bench.gateway import asked, project
from bench.gateway_targets import ORDINARY, TOKEN, session_of, yard
from bench.measuring import ROOT, Figures

ROUNDS: Final = 10
SECONDS: Final = 1.5
WARM_UP: Final = 0.3
LIMIT: Final = 0.97
PATIENCE: Final = 120.0
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


async def gateway(seconds: float) -> Rates:
    with tempfile.TemporaryDirectory() as folder:
        async with yard(Path(folder), {"echo": project(ORDINARY)}) as door:
            target = await session_of(door, "mcp_echo_echo", WIDTH, **TOKEN)
            await asked(target, WIDTH, WARM_UP)
            many, _ = await asked(target, WIDTH, seconds)
            one, _ = await asked(target, 1, seconds)
            return {f"gateway, {WIDTH} at once": many.rate, "gateway, one at a time": one.rate}


async def calls(seconds: float) -> Rates:
    return {f"yard.call, {WIDTH} at once": await with_yard(seconds, PIPED)}


PARTS: Final = {"gateway": gateway, "calls": calls}


def measure(part: str, source: str, seconds: float) -> None:
    """In a process of its own: print what the mcpyard of one side does."""
    found = Path(mcpyard.__file__)
    if not found.is_relative_to(source):
        sys.exit(f"measured {found}, which is not in {source}")
    print(json.dumps(uvloop.run(PARTS[part](seconds))))


def measured_of(tree: Path, seconds: float) -> Rates:
    """What one side does, measured in processes that import its source."""
    source, rates = str(tree / "src"), Rates()
    for part in PARTS:
        command = [sys.executable, "-m", "bench.regress", "--measure", part, source, str(seconds)]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": source},
            stdout=subprocess.PIPE,
            check=True,
            timeout=PATIENCE,
        )
        rates |= json.loads(done.stdout)
    return rates


def compare(trees: Mapping[str, Path], rounds: int, seconds: float) -> dict[str, list[Pair]]:
    measured: dict[str, list[Pair]] = {}
    for turn in turns(rounds):
        rates = {side: measured_of(trees[side], seconds) for side in turn}
        for name, rate in rates["base"].items():
            measured.setdefault(name, []).append(Pair(rate, rates["head"][name]))
    return measured


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
        part, source, seconds = sys.argv[2:]
        measure(part, source, float(seconds))
        return
    parser = argparse.ArgumentParser(prog="scripts/prove regress")
    parser.add_argument("base", help="the commit that this tree is compared with")
    parser.add_argument("--limit", type=float, default=LIMIT, help="the least median ratio")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    given = parser.parse_args()
    commit = git("rev-parse", "--verify", f"{given.base}^{{commit}}")
    figures = Figures()
    figures.show("this tree", git("describe", "--always", "--dirty"))
    figures.show("against", git("describe", "--always", commit))
    with checked_out(commit) as base:
        measured = compare({"base": base, "head": ROOT}, given.rounds, given.seconds)
    report(measured, given.limit, figures)
    figures.leave()


if __name__ == "__main__":
    main()
