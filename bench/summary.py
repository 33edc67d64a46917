"""Writes docs/performance.md: `python -m bench.summary [SECONDS]`.

Runs the benches below one after another, each in a process of its own, and puts every figure they
print on one page, with the machine and the versions. SECONDS is how long each round of the benches
of calls takes; some twenty minutes in all unless told.
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

INTRODUCTION: Final = """\
# Performance

Written by `scripts/prove summary`; do not edit. All figures are from one run on one machine. The
same run measures the official SDK, two other gateways, and a minimal baseline (bare pipes, a bare
HTTP route). On a machine under other load, compare the ratios and not the absolute values. A limit
is the target of the benchmark; a missed limit is marked.
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
        "The gateway compared with other gateways",
        "An echo server over stdio, called over HTTP. The bare route is uvicorn returning the same"
        " bytes, without an MCP server.",
        timed=True,
    ),
    Part(
        "gateway_relay",
        "The gateway compared with a raw relay",
        "The relay parses HTTP and copies bytes to the same echo server and back, nothing more;"
        " with `--tasks` each of its requests has a task."
        " Arguments have many lengths unless a row says otherwise.",
        timed=True,
    ),
    Part(
        "recording",
        "Keeping the arguments and results of calls",
        "The gateway with recording switched on and off in turn.",
        timed=True,
    ),
    Part(
        "remote",
        "Calls to remote servers",
        "Processor time of a call to a server behind streamable HTTP, compared with one over a"
        " pipe.",
        timed=True,
    ),
    Part(
        "calls",
        "Calls from Python",
        "An echo server over stdio, 64 concurrent calls: mcpyard, the client of the SDK, and a"
        " minimal client that only matches ids.",
        timed=True,
    ),
    Part("starts", "Starting servers", "Time until every server has answered its first request."),
    Part(
        "daemon_starts",
        "Starting mcpyard compared with mcp-hub",
        "Time from the start of the process until the tools of all servers that can answer are"
        " listed, and the cost of a start without servers.",
    ),
    Part(
        "imports",
        "Importing and editing with many servers",
        "Disabled servers in a real home and a real project; the bare limit parses the file and"
        " writes it durably.",
    ),
    Part("idle", "At rest", "Resource usage of an idle mcpyard, including its keeper."),
    Part(
        "crash",
        "Crash of a server",
        "Calls in flight when a server process dies, and the next call.",
    ),
    Part(
        "keeper",
        "No orphans",
        "Starting processes through the keeper, and cleaning up after mcpyard is killed.",
    ),
    Part(
        "floods",
        "Servers that flood",
        "Calls to a server beside one that writes garbage, and one that keeps changing 10,000"
        " tools.",
    ),
    Part("reload", "Hot reload", "Time from saving `.mcp.json` to the reconnect."),
    Part("toolbox", "The toolbox", "Overhead for each call, and the time to build it."),
    Part(
        "page",
        "The page with many servers",
        "In a real browser: 200 cards that keep changing, a log that is always written to, and"
        " a list of 1,000 servers with 5,000 tools compared with one of 50.",
    ),
    Part("commands", "The command line", "Commands with a running mcpyard of 1,000 servers."),
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
        match = re.fullmatch(r"\s*(\S.*?) {2,}(\S.*)", line)
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
