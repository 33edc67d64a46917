"""The running yard, spoken to over loopback with the standard library's client: it starts fast."""

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar, cast
from urllib.parse import quote, urlsplit

from mcpyard.cli.cli_errors import Complaint, not_running, usage
from mcpyard.cli.timeouts import Patience
from mcpyard.domain.errors import EXIT_UNREACHABLE, YardBusy
from mcpyard.store.home import Home, Running
from mcpyard.store.tls import trusting

_PATIENCE: Final = 30.0
_COMING_UP: Final = 10.0
"""Seconds in which a yard that took its home should listen; a slow disk takes a few."""

_SERVERS: Final = "/api/mcp/servers"
_REFUSED: Final = 400

_Answer = TypeVar("_Answer")


class RunningYard:
    """The yard that holds a home."""

    def __init__(self, running: Running, token: str) -> None:
        self._url = running.url
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._pid = running.pid
        self._certificate = running.certificate

    def get(self, path: str) -> bytes:
        """What a route answers."""
        return self._ask("GET", path, None, _PATIENCE)

    def post(self, path: str, body: object = None, patience: float | None = None) -> bytes:
        """What a route answers to a body; waits as long as the yard itself unless told."""
        return self._ask("POST", path, _encoded(body or {}), patience)

    def delete(self, path: str) -> bytes:
        """What a route answers to a removal."""
        return self._ask("DELETE", path, None, _PATIENCE)

    def patch(self, path: str, body: object, headers: Mapping[str, str]) -> bytes:
        """What a route answers to a change; waits as long as the yard itself."""
        return self._ask("PATCH", path, _encoded(body), None, headers)

    def events(self, path: str, within: float | None = None) -> Iterator[object]:
        """The data of a stream's events, until it ends or so many seconds are over."""
        connection, answer = self._send("GET", path, None, None)
        until = None if within is None else time.monotonic() + within
        try:
            while line := _next_line(connection, answer, until):
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: ") :])
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None
        finally:
            connection.close()

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None,
        patience: float | None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        connection, answer = self._send(method, path, body, patience, headers)
        try:
            return answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None
        finally:
            connection.close()

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        patience: float | None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._connection(patience)
        try:
            connection.request(method, path, body, {**self._headers, **(headers or {})})
            answer = connection.getresponse()
            complaint = _complaint(answer) if answer.status >= _REFUSED else None
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._silent(error) from None
        if complaint:
            connection.close()
            raise complaint
        return connection, answer

    def _connection(self, patience: float | None) -> http.client.HTTPConnection:
        address = urlsplit(self._url)
        host, port = address.hostname or "", address.port
        if address.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=patience)
        context = trusting(self._certificate)
        return http.client.HTTPSConnection(host, port, timeout=patience, context=context)

    def _silent(self, error: Exception) -> Complaint:
        return Complaint(
            f"the yard (pid {self._pid} at {self._url}) does not answer: {error}",
            slug="yard-silent",
            exit_code=EXIT_UNREACHABLE,
        )


def find_yard(home: Path, *, patience: float = _COMING_UP) -> RunningYard | None:
    """The yard that holds a home, if one does; one that is coming up is waited for.

    Args:
        home: The home.
        patience: How many seconds to wait at most.
    """
    held, waiting = Home(home), Patience(patience)
    while (running := held.running()) and not running.url and waiting.lasts():
        """It holds the home, and will say where it listens."""
    if running is None:
        return None
    if not running.url:
        raise Complaint(
            f"the yard (pid {running.pid}) is just starting",
            hint="try again in a moment",
            slug="yard-starting",
            exit_code=EXIT_UNREACHABLE,
        )
    return RunningYard(running, held.token())


def ask_yard(
    home: Path, through: Callable[[RunningYard], _Answer], directly: Callable[[], _Answer]
) -> _Answer:
    """What the yard of a home answers; where none holds it, what comes of taking the home.

    Args:
        home: The home.
        through: Asks the yard.
        directly: Takes the home and does without.

    Raises:
        YardBusy: Somebody holds the home for long, and does not say where they listen.
    """
    waiting = Patience(_COMING_UP)
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
    """The yard that holds a home; a complaint where none does."""
    found = find_yard(home)
    if found is None:
        raise not_running(home)
    return found


def server_path(name: str, *more: str) -> str:
    """The path of a server's route."""
    return "/".join([_SERVERS, segment(name), *map(segment, more)])


def segment(text: str) -> str:
    """A name as a part of a path; without one the path would be that of another route."""
    if not text:
        raise usage("a name must not be empty")
    return quote(text, safe="")


def _encoded(body: object) -> bytes:
    # Unescaped, so that a text that is not UTF-8 fails here, where its writer is told.
    return json.dumps(body, ensure_ascii=False).encode()


def _next_line(
    connection: http.client.HTTPConnection,
    answer: http.client.HTTPResponse,
    until: float | None,
) -> bytes:
    """The next line of a stream; empty at its end, and when the time is over."""
    if until is None:
        return answer.readline()
    left = until - time.monotonic()
    if left <= 0:
        return b""
    connection.sock.settimeout(left)
    try:
        return answer.readline()
    except TimeoutError:
        return b""


def _complaint(answer: http.client.HTTPResponse) -> Complaint:
    try:
        problem: object = json.loads(answer.read())
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        return Complaint(f"the yard answered with status {answer.status}")
    return Complaint.of_problem(cast("dict[str, object]", problem))
