"""A yard that is told to end lets what is under way finish, for clients of both eras."""

import asyncio
import os
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.commands import TIMEOUT, write_project, yard_up
from tests.gateway.bridges import MODERN, bridge
from tests.gateway.talking import odd_server
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real


@contextmanager
def gate(path: Path) -> Generator[int]:
    """The end of a named pipe that a call waits for, once it does."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_WRONLY)
    try:
        yield pipe
    finally:
        os.close(pipe)


def refuses(url: str) -> bool:
    """Whether nobody listens there any more."""
    place = urlsplit(url)
    with socket.socket() as asking:
        return asking.connect_ex((place.hostname or "", place.port or 0)) != 0


@pytest.mark.parametrize("modern", [False, True])
def test_a_call_under_way_is_answered_though_the_yard_is_ending(
    tmp_path: Path, *, modern: bool
) -> None:
    project = write_project(tmp_path / "project", odd=odd_server())
    path = tmp_path / "gate"
    with yard_up(tmp_path / "home", "--project", project) as up, bridge(up.home) as program:
        up.event("status", status="connected")
        program.greet()
        more = {"_meta": MODERN} if modern else {}
        arguments = {"path": str(path)}
        program.send(
            id=1,
            method="tools/call",
            params={"name": "mcp_odd_gate", "arguments": arguments, **more},
        )
        with gate(path) as pipe:
            up.process.send_signal(signal.SIGTERM)
            assert asyncio.run(eventually(lambda: refuses(up.url), TIMEOUT))
            os.write(pipe, b"done in time")
        while (message := program.hear()).get("id") != 1:
            pass
        assert message["result"]["content"][0]["text"] == "done in time", message
        assert up.process.wait(TIMEOUT) == 0
