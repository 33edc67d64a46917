"""The command line beside a full yard: `python -m bench.commands`.

`mcpyard ls --json` with 1,000 servers registered and 100 of them running, against the bare import
of the libraries it would need; and the CPU that an empty yard spends until it is ready.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measuring import ECHO, Figures

REGISTERED = 1_000
RUNNING = 100
ROUNDS = 9
YARD = [sys.executable, "-m", "mcpyard"]


def project(folder: Path) -> None:
    program, *args = ECHO
    servers = {
        f"s{number}": {
            "command": program,
            "args": args,
            "transport": "stdio",
            "enabled": number < RUNNING,
        }
        for number in range(REGISTERED)
    }
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def up(home: Path, *more: str) -> subprocess.Popen[str]:
    command = [*YARD, "up", "--port", "0", "--json", "--home", str(home), *more]
    yard = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert yard.stdout
    assert json.loads(yard.stdout.readline())["event"] == "ready"
    return yard


def median_seconds(command: list[str]) -> float:
    def once() -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    return statistics.median(once() for _ in range(ROUNDS))


def listing(figures: Figures, folder: Path) -> None:
    project(folder)
    yard = up(folder / "home", "--project", str(folder))
    try:
        connected: set[str] = set()
        assert yard.stdout
        while len(connected) < RUNNING:
            event = json.loads(yard.stdout.readline())
            if event.get("status") == "connected":
                connected.add(event["name"])
        bare = median_seconds([sys.executable, "-c", "import typer, httpx2"])
        seconds = median_seconds([*YARD, "ls", "--json", "--home", str(folder / "home")])
    finally:
        yard.terminate()
        yard.communicate()
    figures.show("import typer, httpx2", f"{bare * 1000:.0f} ms")
    figures.show(f"ls --json, {REGISTERED} servers, {RUNNING} running", f"{seconds * 1000:.0f} ms")
    figures.at_most("ls --json against the import", seconds / bare, 2, "x")


def start(figures: Figures, folder: Path) -> None:
    yard = up(folder / "empty")
    ticks = Path(f"/proc/{yard.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    yard.terminate()
    yard.communicate()
    figures.at_most("CPU from start to ready, without servers", cpu, 1.5, " s")


def main() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        start(figures, Path(folder))
        listing(figures, Path(folder))
    figures.leave()


if __name__ == "__main__":
    main()
