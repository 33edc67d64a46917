"""`mcpyard stdio` in processes of its own, spoken to line by line."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from mcpyard.store.home import Home
from tests.cli.commands import MCPYARD, TIMEOUT

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Bridge:
    """One bridge, and the program that started it."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*MCPYARD, "stdio", "--home", str(home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home.parent,
            env=os.environ | {"MCPYARD_HOME": str(home)},
        )
        self._rest = b""

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, **message: object) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def hear(self, seconds: float = TIMEOUT) -> Any:  # noqa: ANN401  any message
        """The next message."""
        assert self.process.stdout
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            assert ready, f"nothing in {seconds} s"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"the output ended: {self.errors()}"
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method: str, **params: object) -> Any:  # noqa: ANN401  any answer
        self.send(id=method, method=method, params=params)
        while (message := self.hear()).get("id") != method:
            pass
        return message

    def ask_modern(self, method: str, **params: object) -> Any:  # noqa: ANN401  any answer
        return self.ask(method, **params, _meta=MODERN)

    def greet(self) -> Any:  # noqa: ANN401  any answer
        answer = self.ask("initialize", **INITIALIZE)
        self.send(method="notifications/initialized")
        return answer

    def errors(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read().decode()

    def end(self) -> int:
        """Close its input; how it ends."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(TIMEOUT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(TIMEOUT)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


@contextlib.contextmanager
def bridge(home: Path, *arguments: str) -> Generator[Bridge]:
    process = Bridge(home, *arguments)
    try:
        yield process
    finally:
        process.close()


def yard_of(home: Path) -> int:
    """The pid of the yard that holds a home."""
    running = Home(home).running()
    assert running, "no yard runs"
    return running.pid
