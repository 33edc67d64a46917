"""The running yard, spoken to over loopback with the standard library's client: it starts fast."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote, urlsplit

from mcpyard.cli.complaints import Complaint, not_running
from mcpyard.domain.errors import EXIT_UNREACHABLE
from mcpyard.store.home import Home

_PATIENCE: Final = 30.0
_SERVERS: Final = "/api/mcp/servers"
_REFUSED: Final = 400


class RunningYard:
    """The yard that holds a home."""

    def __init__(self, url: str, token: str, pid: int) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._pid = pid

    def get(self, path: str) -> bytes:
        """What a route answers."""
        return self._ask("GET", path, None, _PATIENCE)

    def post(self, path: str, body: object = None, patience: float | None = None) -> bytes:
        """What a route answers to a body; waits as long as the yard itself unless told."""
        return self._ask("POST", path, json.dumps(body or {}).encode(), patience)

    def events(self, path: str) -> Iterator[object]:
        """The data of a stream's events, until it ends."""
        connection, answer = self._send("GET", path, None, None)
        try:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: ") :])
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None
        finally:
            connection.close()

    def _ask(self, method: str, path: str, body: bytes | None, patience: float | None) -> bytes:
        connection, answer = self._send(method, path, body, patience)
        try:
            return answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._silent(error) from None
        finally:
            connection.close()

    def _send(
        self, method: str, path: str, body: bytes | None, patience: float | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        address = urlsplit(self._url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=patience
        )
        try:
            connection.request(method, path, body, self._headers)
            answer = connection.getresponse()
            if answer.status >= _REFUSED:
                raise _complaint(answer)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._silent(error) from None
        return connection, answer

    def _silent(self, error: Exception) -> Complaint:
        return Complaint(
            f"the yard (pid {self._pid} at {self._url}) does not answer: {error}",
            slug="yard-silent",
            exit_code=EXIT_UNREACHABLE,
        )


def find_yard(home: Path) -> RunningYard | None:
    """The yard that holds a home, if one does."""
    held = Home(home)
    running = held.running()
    if running is None:
        return None
    if not running.url:
        raise Complaint(
            f"the yard (pid {running.pid}) is just starting",
            hint="try again in a moment",
            slug="yard-starting",
            exit_code=EXIT_UNREACHABLE,
        )
    return RunningYard(running.url, held.token(), running.pid)


def need_yard(home: Path) -> RunningYard:
    """The yard that holds a home; a complaint where none does."""
    found = find_yard(home)
    if found is None:
        raise not_running(home)
    return found


def server_path(name: str, *more: str) -> str:
    """The path of a server's route."""
    return "/".join([_SERVERS, quote(name, safe=""), *(quote(each, safe="") for each in more)])


def _complaint(answer: http.client.HTTPResponse) -> Complaint:
    try:
        problem: object = json.loads(answer.read())
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        return Complaint(f"the yard answered with status {answer.status}")
    return Complaint.of_problem(cast("dict[str, object]", problem))
