"""How soon a started daemon lists its servers: `python -m bench.daemon_starts [ROUNDS]`.

`mcpyard up` beside mcp-hub, in turn, each as a process of its own with the same servers: from the
start of the process until a client that asks again and again is given the tools of every server
that can answer. And what a daemon without servers costs.

The modules of mcpyard are compiled first, as by every installation: in a checkout they may not be,
and to compile them takes a third of a start.
"""

import compileall
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
import psutil

from bench.gateway_targets import ORDINARY, TOKEN, hub_program, initialize_result
from bench.measuring import Figures
from mcpyard import __file__ as package
from tests.free_ports import free_port

PAUSE: Final = 0.02
LIMIT: Final = 60.0
SETTLING: Final = 4.0
"""Seconds after its start in which an empty daemon is done with what it put off."""

WAITING: Final = ["sh", "-c", 'sleep 0.5; exec "$@"', "sh", *ORDINARY]
SILENT: Final = ["sleep", "3600"]
ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
JSON: Final = {"Content-Type": "application/json"}
CPU_LIMIT: Final = 0.40
MEMORY_LIMIT: Final = 60.0


class Row(NamedTuple):
    """A set of servers: how many can answer, and the commands of all."""

    title: str
    answering: int
    commands: list[list[str]]

    def servers(self) -> dict[str, object]:
        return {
            f"server-{number}": {"command": program, "args": args}
            for number, (program, *args) in enumerate(self.commands)
        }


ROWS: Final = (
    Row("ten servers that wait 0.5 s", 10, [WAITING] * 10),
    Row("100 servers", 100, [ORDINARY] * 100),
    Row("200 servers", 200, [ORDINARY] * 200),
    Row("ten servers beside a silent one", 10, [SILENT, *[ORDINARY] * 10]),
)


class Client:
    """Asks one daemon over a kept connection; None while there is no good answer."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)

    def ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes] | None:
        try:
            self._connection.request(method, path, body, dict(headers))
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return None
        return (answer, text) if answer.status < 300 else None


def hub_lists(port: int) -> Callable[[], int]:
    """How many servers mcp-hub lists the tools of."""
    client = Client(port)

    def count() -> int:
        if (response := client.ask("GET", "/api/servers", None, {})) is None:
            return 0
        servers = orjson.loads(response[1])["servers"]
        return sum(bool(each["capabilities"]["tools"]) for each in servers)

    return count


def yard_lists(port: int) -> Callable[[], int]:
    """How many servers the gateway of mcpyard lists the tools of."""
    client, headers = Client(port), {**ACCEPT, **JSON, **TOKEN}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    def count() -> int:
        if "Mcp-Session-Id" not in headers:
            response = client.ask("POST", "/mcp", orjson.dumps(initialize_result()), headers)
            if response is None:
                return 0
            headers["Mcp-Session-Id"] = response[0].headers["mcp-session-id"]
        response = client.ask("POST", "/mcp", orjson.dumps(listing), headers)
        return response[1].count(b"_echo") if response else 0

    return count


@contextmanager
def hub(folder: Path, servers: Mapping[str, object], port: int) -> Generator[psutil.Process]:
    config = folder / "hub.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    with running([hub_program(), "--port", str(port), "--config", str(config)]) as process:
        yield process


@contextmanager
def yard(folder: Path, servers: Mapping[str, object], port: int) -> Generator[psutil.Process]:
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    command = [sys.executable, "-m", "mcpyard", "up", "--json", "--port", str(port)]
    named = ["--home", str(folder / "home"), "--project", str(folder)]
    secret = TOKEN["Authorization"].removeprefix("Bearer ")
    with running([*command, *named], MCPYARD_TOKEN=secret) as process:
        yield process


@contextmanager
def running(command: list[str], **env: str) -> Generator[psutil.Process]:
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=os.environ | env)
    try:
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        child.wait()


def until(count: Callable[[], int], enough: int) -> float:
    """The time at which as many servers as that are listed."""
    limit = time.perf_counter() + LIMIT
    while (listed := count()) < enough:
        if time.perf_counter() > limit:
            raise TimeoutError(f"{listed} of {enough} servers")
        time.sleep(PAUSE)  # noqa: TID251  a client that asks again
    return time.perf_counter()


Daemon = Callable[[Path, Mapping[str, object], int], Any]
Lists = Callable[[int], Callable[[], int]]


def listed_after(daemon: Daemon, lists: Lists, row: Row) -> float:
    folder, port = Path(tempfile.mkdtemp(prefix="mcpyard-starts-")), free_port()
    try:
        began = time.perf_counter()
        with daemon(folder, row.servers(), port):
            return until(lists(port), row.answering) - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cost_of_empty() -> tuple[float, float]:
    """The CPU seconds and the MB of a daemon without servers, without its own small helpers."""
    folder, port = Path(tempfile.mkdtemp(prefix="mcpyard-starts-")), free_port()
    client, first = Client(port), orjson.dumps(initialize_result())
    headers = {**ACCEPT, **JSON, **TOKEN}
    try:
        with yard(folder, {}, port) as process:
            until(lambda: client.ask("POST", "/mcp", first, headers) is not None, 1)
            time.sleep(SETTLING)  # noqa: TID251  it is to be idle
            used = process.cpu_times()
            return used.user + used.system, process.memory_info().rss / 1e6
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    figures = Figures()
    hub_program()
    compileall.compile_dir(Path(package).parent, quiet=1)
    cost_of_empty()
    empty = [cost_of_empty() for _ in range(rounds)]
    cpu, memory = (statistics.median(column) for column in zip(*empty, strict=True))
    figures.at_most("an empty daemon, CPU", cpu, CPU_LIMIT, " s")
    figures.at_most("an empty daemon, memory", memory, MEMORY_LIMIT, " MB")
    for row in ROWS:
        times = [
            (listed_after(hub, hub_lists, row), listed_after(yard, yard_lists, row))
            for _ in range(rounds)
        ]
        theirs, ours = (statistics.median(column) for column in zip(*times, strict=True))
        figures.show(f"{row.title}, mcp-hub", f"{theirs:.2f} s")
        figures.at_most(f"{row.title}, mcpyard", ours, round(theirs, 2), " s")
    figures.leave()


if __name__ == "__main__":
    main()
