"""A yard that is killed and started again, and the processes around it."""

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import psutil

from bench.fire.members import Member, expected_status, key_of, make_members, project_text
from tests.faults.hosting import family
from tests.free_ports import free_port
from tests.runtime.waiting import alive, eventually

ROOT = Path(__file__).parents[2]
SERVERS = "/api/mcp/servers"
UP = (sys.executable, "-m", "mcpyard")
TIMEOUT = 60.0
LINE = 16 * 1024 * 1024
JOURNAL = 20_000
"""Calls that the journal keeps: full before a soak is warm."""

TOKENS = 3
"""Call tokens besides the admin token, each with the quotas of its own."""


class YardDownError(Exception):
    """A yard that was started is not there."""


def one(ref: str, *more: str) -> str:
    return "/".join([SERVERS, quote(ref, safe=""), *more])


@dataclass(slots=True)
class Scene:
    """Everything under fire.

    Attributes:
        epoch: How many yards there were; a call that spans two may be cut short.
        up: Set while a yard answers.
        orphans: Processes that outlived the yard they were started for.
        keeper_lock: Held while a keeper is replaced. Who kills both the keeper and the yard in one
            moment may leave processes that dropped their mark, which is documented.
        on_address: Told the address of each yard, and an empty text before that yard goes.
        limits: The quotas of each token, as `MCPYARD_LIMITS` says them.
        call_tokens: They outlive the yard that made them.
    """

    folder: Path
    members: list[Member]
    port: int
    dice: random.Random
    command: Sequence[str] = UP
    limits: str = ""
    epoch: int = 0
    up: asyncio.Event = field(default_factory=asyncio.Event)
    document: asyncio.Lock = field(default_factory=asyncio.Lock)
    orphans: set[int] = field(default_factory=set[int])
    keeper_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    on_address: Callable[[str], None] = lambda _: None
    url: str = ""
    token: str = ""
    call_tokens: list[str] = field(default_factory=list[str])
    yard: asyncio.subprocess.Process | None = None
    remotes: asyncio.subprocess.Process | None = None
    _http: httpx2.AsyncClient | None = None
    _reading: asyncio.Task[None] | None = None
    _turns: Iterator[int] = field(default_factory=lambda: cycle(range(TOKENS)))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / ".mcp.json"

    @property
    def pid(self) -> int:
        assert self.yard
        return self.yard.pid

    @property
    def http(self) -> httpx2.AsyncClient:
        assert self._http
        return self._http

    async def start_yard(self) -> None:
        """Start a yard; its faces answer when this returns."""
        with (self.folder / "stderr").open("ab") as errors:
            self.yard = await asyncio.create_subprocess_exec(
                *self.command,
                *("up", "--json", "--port", "0", "--project", str(self.folder), "--trust-folder"),
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                cwd=ROOT,
                env=os.environ | self._environment(),
                limit=LINE,
            )
        assert self.yard.stdout
        async with asyncio.timeout(TIMEOUT):
            line = await self.yard.stdout.readline()
        if not line:
            words = (self.folder / "stderr").read_text()[-2000:]
            raise YardDownError(f"a yard did not come up: {words}")
        ready = json.loads(line)
        self.url, self.token = ready["url"], (self.home / "token").read_text().strip()
        self._http = self.client()
        self._reading = asyncio.create_task(_read_on(self.yard.stdout))
        self.epoch += 1
        self.on_address(self.url)
        self.up.set()

    def _environment(self) -> dict[str, str]:
        return {
            "MCPYARD_HOME": str(self.home),
            "MCPYARD_LIMITS": self.limits,
            "MCPYARD_JOURNAL_CALLS": str(JOURNAL),
        }

    def client(self) -> httpx2.AsyncClient:
        """A client with the token, and connections that the yard does not close first."""
        headers = {"Authorization": f"Bearer {self.token}"}
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=2)
        return httpx2.AsyncClient(
            base_url=self.url, headers=headers, timeout=None, limits=limits, trust_env=False
        )

    async def kill_yard(self) -> None:
        """Kill the yard without a warning, see that nothing of it lives on, and start the next."""
        old = self._going_down()
        if self.yard:
            self.yard.kill()
        await self._gone(old)
        await self.start_yard()

    async def end_yard(self) -> int:
        """Ask the yard to end; its exit status."""
        old = self._going_down()
        assert self.yard
        self.yard.terminate()
        async with asyncio.timeout(TIMEOUT):
            status = await self.yard.wait()
        await self._gone(old)
        return status

    def _going_down(self) -> int:
        self.on_address("")
        self.epoch += 1
        self.up.clear()
        return self.pid

    async def _gone(self, old: int) -> None:
        assert self.yard
        await self.yard.wait()
        if not await eventually(lambda: not family(old) and not self.daemons(), 5):
            self.orphans |= family(old) | self.daemons().keys()
        if self._reading:
            await self._reading
        await self.http.aclose()

    def keeper(self) -> int | None:
        """The pid of the yard's keeper, when it has one just now."""
        with suppress(psutil.NoSuchProcess):
            for each in psutil.Process(self.pid).children():
                if "keeper.py" in " ".join(each.cmdline()):
                    return each.pid
        return None

    def daemons(self) -> dict[int, int]:
        """The processes that servers of this scene left behind, and the server of each."""
        key, pids = f"{key_of(self.port)}:".encode(), dict[int, int]()
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                last = place.read_bytes().rstrip(b"\0").rpartition(b"\0")[2]
                if last.startswith(key):
                    pids[int(place.parent.name)] = int(last.removeprefix(key))
        return pids

    async def records(self) -> dict[str, dict[str, Any]]:
        response = await self.http.get(SERVERS, params={"tools": 0})
        return {each["name"]: each for each in response.json()}

    async def register(self) -> None:
        """Register the servers that are the user's."""
        for each in self.members:
            if each.scope == "user":
                body = {"name": each.name, "scope": "user", **each.definition()}
                start = expected_status(each) == "running"
                path, sent = f"{SERVERS}?wait=0", {**body, "start": start}
                answer = await self.http.post(path, json=sent)
                assert answer.status_code == 201, answer.text

    async def make_tokens(self) -> None:
        """Make the call tokens."""
        for number in range(TOKENS):
            answer = await self.http.post("/api/tokens", json={"name": f"caller-{number}"})
            assert answer.status_code == 201, answer.text
            self.call_tokens.append(answer.json()["token"])

    def next_token(self) -> str:
        """A call token, of all of them in turn."""
        return self.call_tokens[next(self._turns)]

    async def heal(self) -> None:
        """Start every server that was given up; a person would do it by a click."""
        records = await self.records()
        for name in (each.name for each in self.members if each.callable):
            if records[name]["phase"] == "failed":
                await self.http.post(one(name, "start"), params={"wait": 0})

    async def start_remotes(self) -> None:
        command = (sys.executable, "-m", "bench.fire.remote_servers", str(self.port))
        self.remotes = await asyncio.create_subprocess_exec(*command, cwd=ROOT)

    async def kill_remotes(self) -> None:
        assert self.remotes
        self.remotes.kill()
        await self.remotes.wait()


async def _read_on(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass


@asynccontextmanager
async def scene(
    folder: Path,
    kinds: dict[str, int],
    seed: int,
    command: Sequence[str] = UP,
    limits: str = "",
) -> AsyncGenerator[Scene]:
    """A yard with its servers; all of it is gone afterwards, whatever happens."""
    port = free_port()
    dice = random.Random(seed)  # noqa: S311
    made = Scene(folder, make_members(port, kinds), port, dice, command, limits)
    made.project.write_text(project_text(made.members))
    try:
        await made.start_remotes()
        await made.start_yard()
        await made.make_tokens()
        await made.register()
        yield made
    finally:
        for process in (made.yard, made.remotes):
            if process and process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        for pid in (*family(made.pid), *made.daemons()) if made.yard else ():
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
