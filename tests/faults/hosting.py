"""Runs `host.py` and looks at its process from outside."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from mcpyard.runtime.processes.table import read_mark
from tests.faults.watching import write_project

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1024 * 1024


class Host:
    """A yard in another process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.pid = process.pid

    async def ask(self, **request: object) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(await self.process.stdout.readline())

    async def call(self, server: str, tool: str, text: str = "") -> dict[str, Any]:
        return await self.ask(do="call", server=server, tool=tool, arguments={"text": text})

    async def records(self) -> dict[str, dict[str, Any]]:
        records = (await self.ask(do="records"))["records"]
        return {record["name"]: record for record in records}

    async def connected(self, seconds: float = 20) -> dict[str, dict[str, Any]]:
        """The records, once every server is connected."""
        async with asyncio.timeout(seconds):
            records = await self.records()
            while any(record["status"] != "connected" for record in records.values()):
                await asyncio.sleep(0.02)
                records = await self.records()
        return records

    def keeper(self) -> int:
        """The pid of the yard's keeper."""
        children = psutil.Process(self.pid).children()
        return next(each.pid for each in children if "keeper.py" in " ".join(each.cmdline()))

    def peak(self) -> int:
        """The most memory it ever had, in bytes."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        match = re.search(r"VmHWM:\s+(\d+) kB", text)
        assert match
        return int(match[1]) * 1024

    def family(self) -> set[int]:
        """Every living process that was started for this yard, however it is related to it."""
        return family(self.pid)


def family(yard: int) -> set[int]:
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    return {pid for pid in pids if f":{yard}:".encode() in read_mark(pid)}


@asynccontextmanager
async def hosted(folder: Path, servers: dict[str, Any]) -> AsyncGenerator[Host]:
    """A host that runs these servers; it and all it started are dead afterwards."""
    write_project(folder, servers)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.faults.host",
        str(folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        limit=16 * MEBIBYTE,
    )
    host = Host(process)
    try:
        assert (await host.hear())["ready"]
        yield host
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()
        for pid in family(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
