"""Finds the yard that holds a home, and asks its routes for commands, which wait for answers."""

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from mcpyard.client.http import Cut, HttpClient
from mcpyard.client.problems import documented
from mcpyard.domain.errors import Disconnected, InputError, YardBusy, YardError
from mcpyard.store.home import Home, Running

SERVERS: Final = "/api/mcp/servers"

_REQUEST_TIMEOUT: Final = 30.0
_COMING_UP: Final = 10.0
"""Seconds in which a yard that took its home should listen; a slow disk takes a few."""

_LOOK_AGAIN: Final = 0.02
"""Seconds; the other process announces itself in a file, and tells nobody."""

_Answer = TypeVar("_Answer")


class Deadline:
    """How long to go on looking for what another process will do."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._never = threading.Event()

    def lasts(self) -> bool:
        """Let a moment pass; whether there is time for another look."""
        self._never.wait(_LOOK_AGAIN)
        return time.monotonic() < self._until


class RunningYard:
    """The yard that holds a home."""

    def __init__(self, running: Running, token: str) -> None:
        self._running = running
        self._token = token

    def get(self, path: str) -> bytes:
        """What a route answers."""
        return self._request("GET", path)

    def post(self, path: str, body: object = None) -> bytes:
        """What a route answers to a body; waits as long as the yard itself."""
        return self._request("POST", path, body or {})

    def put(self, path: str, body: object) -> bytes:
        """What a route answers to what takes the place of something."""
        return self._request("PUT", path, body)

    def delete(self, path: str) -> bytes:
        """What a route answers to a removal."""
        return self._request("DELETE", path)

    def patch(self, path: str, body: object, headers: Mapping[str, str]) -> bytes:
        """What a route answers to a change; waits as long as the yard itself."""
        return self._request("PATCH", path, body, headers)

    def events(self, path: str, within: float | None = None) -> Iterator[object]:
        """The data of a stream's events, until it ends or so many seconds are over."""
        until = None if within is None else time.monotonic() + within
        stream = self._stream(path)

        async def following() -> bytes | None:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    return await anext(stream, None)
            return None

        with asyncio.Runner() as runner:
            try:
                while data := runner.run(following()):
                    yield json.loads(data)
            finally:
                runner.run(stream.aclose())

    async def _stream(self, path: str) -> AsyncGenerator[bytes]:
        async with self._client().answer("GET", path) as answer:
            # A yard that is killed ends its streams, too.
            with suppress(Cut):
                async for events in answer.events():
                    for each in events:
                        yield each.data

    def _request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        # Unescaped, so that a text that is not UTF-8 fails here, where its writer is told.
        content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()

        async def answered() -> bytes:
            # What changes something takes as long as the yard itself takes for it.
            async with aclosing(self._client(None if content else _REQUEST_TIMEOUT)) as client:
                return await client.request(bytes, method, path, content, headers)

        return asyncio.run(answered())

    def _client(self, within: float | None = None) -> HttpClient:
        name = f"mcpyard (pid {self._running.pid} at {self._running.url})"
        return HttpClient(self._running, self._token, name=name, within=within)


def find_yard(home: Path, *, timeout: float = _COMING_UP) -> RunningYard | None:
    """The yard that holds a home, if one does; one that is coming up is waited for."""
    held, waiting = Home(home), Deadline(timeout)
    while (running := held.running()) and not running.url and waiting.lasts():
        """It holds the home, and will say where it listens."""
    if running is None:
        return None
    if not running.url:
        message = f"mcpyard (pid {running.pid}) is still starting"
        raise documented(Disconnected(message), slug="yard-starting", hint="try again in a moment")
    return RunningYard(running, held.token())


def ask_yard(
    home: Path, through: Callable[[RunningYard], _Answer], directly: Callable[[], _Answer]
) -> _Answer:
    """What the yard of a home answers; where none holds it, what comes of taking it directly.

    Raises:
        YardBusy: Somebody holds the home for long, and does not say where they listen.
    """
    waiting = Deadline(_COMING_UP)
    while True:
        if yard := find_yard(home):
            return through(yard)
        try:
            return directly()
        except YardBusy:
            # Somebody was faster: a yard, or a command that is soon done.
            if not waiting.lasts():
                raise


def need_yard(home: Path) -> RunningYard:
    """The yard that holds a home; an error where none does."""
    if yard := find_yard(home):
        return yard
    raise not_running(home)


def not_running(home: Path) -> YardError:
    """The error that mcpyard is not running."""
    error = Disconnected(f"mcpyard is not running (home: {home})")
    return documented(error, slug="not-running", hint="start it: mcpyard up")


def server_path(name: str, *more: str) -> str:
    """The path of a server's route."""
    return "/".join([SERVERS, segment(name), *map(segment, more)])


def segment(text: str) -> str:
    """A name as a part of a path; without one the path would be that of another route."""
    if not text:
        raise documented(InputError("a name must not be empty"), slug="usage")
    return quote(text, safe="")
