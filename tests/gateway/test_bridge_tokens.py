"""What the bridge does when the yard does not know its token any more."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from mcpyard.client.gateway import Bridge
from mcpyard.client.http import EVENT_STREAM, Answer, HttpClient
from mcpyard.store.home import Running
from tests.runtime.waiting import eventually

NOWHERE = Running(0, "http://nowhere:1")
INITIALIZE = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}'
GOODBYE = b'{"method":"DELETE"}'
ASKED = b'{"jsonrpc":"2.0","id":7,"method":"tools/list"}'


class FakeYard:
    """A yard that lets in whoever has its key; `written` is what its home says instead."""

    def __init__(self) -> None:
        self.key = "+"
        self.requests: list[str] = []
        self.lines: list[bytes] = []
        self.sessions = 0
        self.streams: list[asyncio.StreamReader] = []
        self.written = ""

    async def reach(self) -> HttpClient:
        return Knock(self, self.written or self.key)

    async def write(self, line: bytes) -> None:
        self.lines.append(line)

    def rotate(self) -> None:
        self.key += "+"
        for stream in self.streams:
            stream.feed_data(b"0\r\n\r\n")

    def listen(self) -> Answer:
        stream = asyncio.StreamReader()
        self.streams.append(stream)
        headers = {"content-type": EVENT_STREAM, "transfer-encoding": "chunked"}
        return Answer(200, headers, stream)

    def answer(self, body: bytes) -> Answer:
        message = json.loads(body or GOODBYE)
        headers: dict[str, str] = {}
        if message["method"] == "initialize":
            self.sessions += 1
            headers["mcp-session-id"] = f"s{self.sessions}"
        return plain(200, {"jsonrpc": "2.0", "id": message.get("id"), "result": {}}, headers)


class Knock(HttpClient):
    """One who asks that yard with a token."""

    def __init__(self, yard: FakeYard, token: str) -> None:
        super().__init__(NOWHERE, token)
        self._yard = yard
        self._token = token

    @asynccontextmanager
    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncGenerator[Answer]:
        del path
        refused = self._token != self._yard.key
        self._yard.requests.append(f"{method} {headers.get('Mcp-Session-Id', '-')} {int(refused)}")
        await asyncio.sleep(0)
        if refused:
            yield plain(401, {"detail": "a token is required"})
        elif method == "GET":
            yield self._yard.listen()
        else:
            yield self._yard.answer(body)


def plain(status: int, body: object, headers: Mapping[str, str] | None = None) -> Answer:
    content, reader = json.dumps(body).encode(), asyncio.StreamReader()
    reader.feed_data(content)
    return Answer(status, {"content-length": str(len(content)), **(headers or {})}, reader)


@pytest.fixture
def yard(monkeypatch: pytest.MonkeyPatch) -> FakeYard:
    monkeypatch.setattr("mcpyard.client.gateway._LISTEN_PAUSE", 0.0)
    return FakeYard()


@pytest.fixture
async def program(yard: FakeYard) -> AsyncIterator[Bridge]:
    """A program that has met the yard, and listens."""
    bridge = Bridge("/mcp", yard.reach, yard.write)
    await bridge.take(INITIALIZE)
    assert await eventually(lambda: len(yard.lines) == 1)
    await bridge.take(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert await eventually(lambda: len(yard.streams) == 1)
    yard.lines.clear()
    yard.requests.clear()
    yield bridge
    await bridge.finish(force=True)


async def test_a_program_that_only_listens_goes_on_with_the_new_token(
    yard: FakeYard, program: Bridge
) -> None:
    del program
    yard.rotate()
    assert await eventually(lambda: len(yard.streams) == 2)
    assert yard.requests == ["GET s1 1", "POST - 0", "POST s2 0", "GET s2 0"]
    assert yard.lines == [], "the program knows nothing of it"


async def test_requests_that_were_refused_together_are_asked_once_more_in_one_new_session(
    yard: FakeYard, program: Bridge
) -> None:
    yard.key += "+"
    for number in (7, 8, 9):
        await program.take(ASKED.replace(b"7", b"%d" % number))
    assert await eventually(lambda: len(yard.lines) == 3)
    assert sorted(json.loads(line)["id"] for line in yard.lines) == [7, 8, 9]
    assert all("result" in json.loads(line) for line in yard.lines)
    assert yard.sessions == 2
    assert yard.requests.count("POST s2 0") == 1 + 3, "the notice, and the three"


async def test_a_refusal_that_stays_is_told_and_the_session_goes_on_once_it_ends(
    yard: FakeYard, program: Bridge
) -> None:
    yard.written = "-"
    yard.rotate()
    await program.take(ASKED)
    assert await eventually(lambda: len(yard.lines) == 1)
    error = json.loads(yard.lines.pop())["error"]
    assert (error["message"], error["data"]) == ("a token is required", {"status": 401})
    knocks = len(yard.requests)
    assert not await eventually(lambda: len(yard.requests) > knocks + 4, 0.1), "nobody insists"
    yard.written = yard.key
    await program.take(ASKED)
    assert await eventually(lambda: len(yard.lines) == 1)
    assert "result" in json.loads(yard.lines.pop())
