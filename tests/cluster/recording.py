"""What recording servers wrote, callers that go on calling them, and what must hold of both."""

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx2
import psutil

from tests.api.daemon import one
from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import TOKEN, RunningNode

PROGRAM = str(Path(__file__).with_name("recording_server.py"))


def boot_time() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Record:
    """What one copy of a server wrote: its start, or a call that it began."""

    event: str
    server: str
    fence: int
    pid: int
    text: str
    at: float


class Recording:
    """The file that all copies of all servers write to."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._records: list[Record] = []
        self._read = 0
        file.touch()

    def server(self, name: str, seconds: float = 0.0) -> dict[str, object]:
        """The definition of a server that writes here; its calls take so long."""
        args = ["-I", "-S", PROGRAM, str(self.file), name, str(seconds)]
        return {"command": sys.executable, "args": args, "transport": "stdio"}

    def all(self) -> list[Record]:
        """Everything so far, by time."""
        with self.file.open("rb") as file:
            file.seek(self._read)
            lines = file.read().rpartition(b"\n")[0]
        if lines:
            self._read += len(lines) + 1
            self._records += [Record(**json.loads(line)) for line in lines.split(b"\n")]
            self._records.sort(key=lambda each: each.at)
        return self._records

    def calls(self, *servers: str) -> list[Record]:
        """The calls that were begun, of these servers or of all."""
        every = [each for each in self.all() if each.event == "call"]
        return [each for each in every if not servers or each.server in servers]

    def starts(self, *servers: str) -> list[Record]:
        """The copies that were started, of these servers or of all."""
        every = [each for each in self.all() if each.event == "start"]
        return [each for each in every if not servers or each.server in servers]

    def copies(self, server: str) -> list[int]:
        """The processes of a server that live."""
        return [each.pid for each in self.starts(server) if self._lives(each.pid)]

    def all_copies(self) -> frozenset[int]:
        """The processes of all servers that live."""
        return frozenset(each.pid for each in self.starts() if self._lives(each.pid))

    def _lives(self, pid: int) -> bool:
        """Whether a process is one of these servers still: its number may be another's by now."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return str(self.file) in psutil.Process(pid).cmdline()
        return False

    def twice(self) -> list[str]:
        """The calls that were carried out more than once; each caller numbers its own."""
        counted = Counter((each.server, each.text) for each in self.calls() if each.text)
        return [text for (_, text), number in counted.items() if number > 1]


def overtaken(records: Iterable[Record]) -> list[Record]:
    """The calls that an old copy began after a copy with a higher fence had begun one."""
    highest: Counter[str] = Counter()
    late: list[Record] = []
    for each in records:
        if each.event == "call" and each.fence < highest[each.server]:
            late.append(each)
        if each.event == "call":
            highest[each.server] = max(highest[each.server], each.fence)
    return late


_groups = count()


@dataclass(frozen=True)
class Outcome:
    """What became of one call."""

    node: str
    server: str
    text: str
    sent: float
    ended: float
    status: int
    problem: str

    @property
    def answered(self) -> bool:
        """Whether the server answered."""
        return self.status == 200


class Callers:
    """One caller for each of some servers at each of some nodes, until the end of the block."""

    def __init__(
        self, nodes: Sequence[RunningNode], servers: Sequence[str], pause: float = 0.0
    ) -> None:
        self._rest = pause
        # An address in memory would be used again, and two calls would look like one made twice.
        self._key = f"{os.getpid():x}-{next(_groups)}"
        self.outcomes: list[Outcome] = []
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._call_on, args=(node.name, node.up.url, server))
            for node in nodes
            for server in servers
        ]

    def start(self) -> None:
        for each in self._threads:
            each.start()

    def stop(self) -> None:
        self._over.set()
        for each in self._threads:
            each.join(2 * TIMEOUT)
            assert not each.is_alive()

    def of(self, *servers: str, since: float = 0.0) -> list[Outcome]:
        """The calls of some servers, or of all, that were sent since a moment."""
        with self._changed:
            every = [*self.outcomes]
        return [
            each for each in every if each.sent >= since and (not servers or each.server in servers)
        ]

    def wait_answered(
        self, servers: Iterable[str], nodes: Iterable[str], seconds: float = 30.0
    ) -> None:
        """Return once each node answered a call for each server that was sent from now on."""
        since, missing = boot_time(), {(node, server) for server in servers for node in nodes}
        until = since + seconds
        with self._changed:
            looked = len(self.outcomes)
            while True:
                news, looked = self.outcomes[looked:], len(self.outcomes)
                fresh = [each for each in news if each.answered and each.sent >= since]
                missing -= {(each.node, each.server) for each in fresh}
                if not missing:
                    return
                assert self._changed.wait(until - boot_time()), f"no answer: {sorted(missing)}"

    def _call_on(self, node: str, url: str, server: str) -> None:
        path, headers = one(server, "tools", "record", "call"), {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=url, headers=headers, timeout=TIMEOUT) as client:
            for number in count():
                if self._over.is_set():
                    return
                outcome = _call(
                    client, path, (node, server, f"{self._key}-{server}-{node}-{number}")
                )
                with self._changed:
                    self.outcomes.append(outcome)
                    self._changed.notify_all()
                # A refusal that comes at once must not become a flood.
                self._over.wait(self._rest if outcome.answered else 0.05)


def _call(client: httpx2.Client, path: str, names: tuple[str, str, str]) -> Outcome:
    node, server, text = names
    sent = boot_time()
    status, problem = 0, ""
    try:
        reply = client.post(path, json={"arguments": {"text": text}})
        status = reply.status_code
        if status != 200:
            problem = reply.text
        elif reply.json()["content"][0]["text"] != text:
            status, problem = 1, f"the answer to another call: {reply.text}"
    except (httpx2.HTTPError, ValueError) as error:
        problem = repr(error)
    return Outcome(node, server, text, sent, boot_time(), status, problem)


@contextlib.contextmanager
def calling(
    nodes: Sequence[RunningNode], servers: Sequence[str], pause: float = 0.0
) -> Generator[Callers]:
    """Call each server at each node for as long as the block runs, one call at a time."""
    callers = Callers(nodes, servers, pause)
    callers.start()
    try:
        yield callers
    finally:
        callers.stop()
