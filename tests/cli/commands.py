"""The command in processes of its own: run to its end, or as a yard that is up."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import psutil

MCPYARD = [sys.executable, "-m", "mcpyard"]
ECHO_SERVER = str(Path(__file__).with_name("echo_server.py"))
TIMEOUT = 40.0

Json: TypeAlias = Any


def echo(mode: str = "", **more: object) -> dict[str, object]:
    """The definition of an echo server."""
    args = ["-I", "-S", ECHO_SERVER, *([mode] if mode else [])]
    return {"command": sys.executable, "args": args, "transport": "stdio", **more}


def missing(folder: Path) -> dict[str, object]:
    """The definition of a server whose program is not there: it fails at once."""
    return {"command": str(folder / "no such program"), "args": [], "transport": "stdio"}


def write_project(folder: Path, **servers: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return folder


def mcpyard(
    *arguments: object, home: Path, cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a folder without a project unless told."""
    return subprocess.run(
        [*MCPYARD, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT * 2,
        cwd=cwd or home.parent,
        env=os.environ | {"MCPYARD_HOME": str(home)} | env,
    )


def answer(
    *arguments: object, home: Path, code: int = 0, cwd: Path | None = None, **env: str
) -> Json:
    """What a command prints as JSON; it must end with that exit code."""
    done = mcpyard(*arguments, "--json", home=home, cwd=cwd, **env)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


class Up:
    """A yard that is up, and the lines it says."""

    def __init__(
        self,
        home: Path,
        *arguments: object,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
        command: Sequence[str] = MCPYARD,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.process = subprocess.Popen(
            [*command, "up", "--port", "0", *map(str, arguments)],
            stdout=stdout,
            stderr=stderr,
            cwd=home.parent,
            env=os.environ | {"MCPYARD_HOME": str(home)} | dict(environment or {}),
        )
        self._rest = b""
        self.url = ""

    def line(self, seconds: float = TIMEOUT) -> str:
        """The next line; a test fails that waits for it too long."""
        assert self.process.stdout
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], until - time.monotonic())
            assert ready, f"no line in {seconds} s; so far: {self._rest!r}"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"the output ended: {self._rest!r} {self.errors()}"
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return line.decode()

    def event(self, kind: str, **members: object) -> Mapping[str, Any]:
        """The next event of a kind that has these members; others are passed over."""
        while True:
            event = json.loads(self.line())
            if event["event"] == kind and members.items() <= event.items():
                return event

    def wait_ready(self) -> "Up":
        first = json.loads(self.line())
        assert first.get("event") == "ready", first
        assert first["pid"] == self.process.pid
        self.url = first["url"]
        return self

    def family(self) -> list[psutil.Process]:
        """Every process below it."""
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT)

    def errors(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read().decode()

    def rest(self) -> str:
        """What else it prints until it ends."""
        assert self.process.stdout
        return (self._rest + self.process.stdout.read()).decode()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(TIMEOUT)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


@contextlib.contextmanager
def yard_up(home: Path, *arguments: object, command: Sequence[str] = MCPYARD) -> Generator[Up]:
    """A yard that has said it is ready."""
    up = Up(home, "--json", *arguments, command=command)
    try:
        yield up.wait_ready()
    finally:
        up.close()
