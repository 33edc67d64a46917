"""Writes docs/performance.md: `python -m bench.summary [SECONDS]`.

Runs the benches below one after another, each in a process of its own, and puts every figure they
print on one page, with the machine and the versions. SECONDS is how long each round of the benches
of calls takes; some ten minutes in all unless told.
"""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from bench.gateway_targets import HUB, PROXY
from bench.measuring import ROOT

PAGE: Final = ROOT / "docs" / "performance.md"
LIBRARIES: Final = ("mcp", "uvicorn", "uvloop", "httptools", "starlette", "orjson", "msgspec")
LIMIT: Final = 600.0
NAME_WIDTH: Final = 52

INTRODUCTION: Final = """\
# Performance

Written by `scripts/prove summary`; do not edit. Every figure is of one run on one machine, beside
what else can do the same in that run: the official SDK, two other gateways, and the least that a
program can do (bare pipes, a bare route). On a machine with other work compare the ratios, not the
digits. A limit is what the bench holds the figure against; one that was missed says so.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One bench, and what it shows."""

    bench: str
    title: str
    shows: str
    timed: bool = False

    def command(self, seconds: str) -> list[str]:
        words = [sys.executable, "-m", f"bench.{self.bench}"]
        return [*words, seconds] if self.timed else words


PARTS: Final = (
    Part(
        "gateway",
        "The gateway beside its peers",
        "An echo server over stdio, called over HTTP. The bare route is uvicorn answering the same"
        " bytes, with no server behind it.",
        timed=True,
    ),
    Part(
        "calls",
        "Calls from Python",
        "An echo server over stdio, 64 calls at once: a yard, the SDK's client, and a client that"
        " does nothing but match ids.",
        timed=True,
    ),
    Part("starts", "Starting servers", "Until every server has answered its first question."),
    Part("idle", "At rest", "What a yard costs while nothing happens, its keeper included."),
    Part("crash", "A child that dies", "Calls in flight, and the call right after."),
    Part("keeper", "No orphans", "Spawning through the keeper, and what is left when a yard dies."),
    Part("reload", "Hot reload", "From a save of `.mcp.json` to the reconnect it causes."),
    Part("toolbox", "The toolbox", "What it adds to a call, and building it."),
    Part("commands", "The command line", "Beside a yard with 1,000 servers."),
)


class Unfinished(Exception):
    """A bench ended without its figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of a bench."""

    name: str
    value: str
    limit: str

    @classmethod
    def read(cls, line: str) -> "Figure | None":
        """The figure that a line tells, if it does (see `Figures.show`)."""
        columns = re.fullmatch(rf"(.{{{NAME_WIDTH}}}\S*) +(\S.*)", line)
        match = columns or re.fullmatch(r"\s*(\S.*?) {2,}(\S.*)", line)
        if match is None:
            return None
        value, limit, missed = match[2], "", match[2].endswith("MISSED")
        if held := re.search(r"  \((at (?:most|least) [^)]*)\)", value):
            value, limit = value[: held.start()], held[1]
        return cls(match[1].strip(), value, f"{limit}, missed" if missed else limit)


def figures(part: Part, seconds: str) -> list[Figure]:
    """What a bench prints; a missed limit is a figure like any other."""
    command = part.command(seconds)
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LIMIT, cwd=ROOT
    )
    measured = [figure for line in ran.stdout.splitlines() if (figure := Figure.read(line))]
    missed = any(each.limit.endswith("missed") for each in measured)
    if not measured or (ran.returncode and not missed):
        raise Unfinished(f"bench.{part.bench}: {ran.stderr[-2000:]}")
    return [each for each in measured if each.name != "cores"]


def section(part: Part, measured: Iterable[Figure]) -> Iterator[str]:
    yield from ("", f"## {part.title}", "", part.shows, "")
    yield from ("| | figure | limit |", "|---|---|---|")
    for each in measured:
        yield f"| {each.name} | {each.value} | {each.limit} |"


def machine() -> Iterator[tuple[str, str]]:
    """What the figures were taken on."""
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    yield "taken", f"{datetime.now(UTC):%Y-%m-%d}"
    yield "processor", f"{os.cpu_count()} cores, {cpu[1] if cpu else platform.machine()}"
    yield "memory", f"{memory:.0f} GiB"
    yield "system", f"{platform.system()} {platform.release()}"
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}"
    yield "mcpyard", version("mcpyard")
    yield "libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    yield (
        "peers",
        f"{HUB.replace('@', ' ')} (Node {node.stdout.strip()}), {PROXY.replace('==', ' ')}",
    )


def page(seconds: str) -> str:
    before = os.getloadavg()[0]
    parts: list[str] = []
    for part in PARTS:
        print(f"bench.{part.bench} ...", file=sys.stderr, flush=True)
        parts += section(part, figures(part, seconds))
    load = f"{before:.1f} before the run, {os.getloadavg()[0]:.1f} after it"
    rows = [f"| {name} | {text} |" for name, text in [*machine(), ("load", load)]]
    head = [INTRODUCTION, "| the machine | |", "|---|---|", *rows]
    return "\n".join([*head, *parts, ""])


def main() -> None:
    text = page(sys.argv[1] if sys.argv[1:] else "2")
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
