"""What goes on over one connection: a log that is followed, a call that is given up."""

import http.client
import json
import signal
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.commands import TIMEOUT, Json, Up, echo, write_project, yard_up

pytestmark = pytest.mark.real

HANG = "/api/mcp/tools/mcp_one_hang/call"


@pytest.fixture
def up(tmp_path: Path) -> Generator[Up]:
    project = write_project(tmp_path / "p", one=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        up.event("status", status="connected")
        yield up


class Line:
    """One connection to a yard."""

    def __init__(self, up: Up) -> None:
        address = urlsplit(up.url)
        self._stream: http.client.HTTPResponse | None = None
        self._token = (up.home / "token").read_text()
        self.connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=TIMEOUT
        )

    def send(self, method: str, path: str, body: object = None) -> None:
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"Authorization": f"Bearer {self._token}"})

    def call(self, tool: str, **arguments: object) -> Json:
        self.send("POST", f"/api/mcp/tools/mcp_one_{tool}/call", {"arguments": arguments})
        return self.answer()[1]

    def answer(self) -> tuple[int, Json]:
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def follow(self) -> Iterator[bytes]:
        self.send("GET", "/api/mcp/servers/one/logs?follow=1")
        self._stream = self.connection.getresponse()
        assert self._stream.headers["content-type"].startswith("text/event-stream")
        yield from self._stream

    def hang_up(self) -> None:
        if self._stream:
            self._stream.close()
        self.connection.close()


@pytest.fixture
def dial(up: Up) -> Generator[Callable[[], Line]]:
    """Gives new connections, closed when the test is over."""
    lines: list[Line] = []

    def new() -> Line:
        lines.append(Line(up))
        return lines[-1]

    yield new
    for line in lines:
        line.hang_up()


Dial = Callable[[], Line]


def test_a_followed_log_gives_what_was_and_what_comes_once_each(dial: Dial) -> None:
    stream = dial().follow()
    assert next(stream).startswith(b": ")
    assert next(line for line in stream if line.startswith(b"id: ")) == b"id: 1\n"
    dial().call("log", line="the news")
    frame = next(line for line in stream if b"the news" in line)
    assert json.loads(frame.removeprefix(b"data: "))["number"] == 2
    dial().call("log", line="more news")
    numbers = [line for line in (next(stream) for _ in range(4)) if line.startswith(b"id: ")]
    assert numbers == [b"id: 3\n"]


def test_a_followed_log_ends_with_the_yard(up: Up, dial: Dial) -> None:
    stream = dial().follow()
    next(stream)
    began = time.monotonic()
    up.process.send_signal(signal.SIGTERM)
    assert list(stream)
    assert up.process.wait(TIMEOUT) == 0
    assert time.monotonic() - began < 3


def test_a_call_is_given_up_when_whoever_asked_is_gone(dial: Dial) -> None:
    # The first request waits until its route is loaded; one that is gone by then calls nothing.
    assert dial().call("cancelled")["content"][0]["text"] == "0"
    line = dial()
    line.send("POST", HANG, {})
    line.hang_up()
    until = time.monotonic() + TIMEOUT
    while dial().call("cancelled")["content"][0]["text"] != "1":
        assert time.monotonic() < until


def test_a_call_in_flight_is_answered_before_the_yard_ends(up: Up, dial: Dial) -> None:
    line = dial()
    line.send("POST", HANG, {})
    dial().call("cancelled")
    up.process.send_signal(signal.SIGTERM)
    status, problem = line.answer()
    assert (status, problem["type"]) == (502, "urn:mcpyard:error:disconnected")
    assert up.process.wait(TIMEOUT) == 0


def test_a_call_in_flight_does_not_hold_up_a_forced_end(up: Up, dial: Dial) -> None:
    dial().send("POST", HANG, {})
    dial().call("cancelled")
    up.process.send_signal(signal.SIGTERM)
    up.event("status", phase="stopping")
    began = time.monotonic()
    assert up.end() == 0
    assert time.monotonic() - began < 4, "calls in flight get 5 s otherwise"
