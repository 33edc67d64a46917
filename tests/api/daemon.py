"""A yard that is up, asked over HTTP as any program would."""

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import psutil

from tests.cli.commands import Up, yard_up

SERVERS = "/api/mcp/servers"


@dataclass(frozen=True, slots=True)
class Daemon:
    """The running yard and somebody who holds its token."""

    up: Up
    client: httpx2.Client

    def get(self, path: str) -> Any:  # noqa: ANN401  any JSON
        return self._json(self.client.get(path))

    def post(self, path: str, body: object = None, status: int = 200) -> Any:  # noqa: ANN401
        return self._json(self.client.post(path, json=body), status)

    def patch(self, path: str, body: object, status: int = 200) -> Any:  # noqa: ANN401
        return self._json(self.client.patch(path, json=body), status)

    def register(self, name: str, definition: dict[str, object], **more: object) -> Any:  # noqa: ANN401
        return self.post(SERVERS, {"name": name, **definition, **more}, 201)

    def record(self, name: str) -> Any:  # noqa: ANN401
        return self.get(one(name))

    def until(self, name: str, state: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first record of a server that is so; told by the yard's own events."""
        while not state(record := self.record(name)):
            self.up.event("status")
        return record

    def _json(self, answer: httpx2.Response, status: int = 200) -> Any:  # noqa: ANN401
        assert answer.status_code == status, answer.text
        return answer.json()


@contextlib.contextmanager
def daemon(home: Path, *arguments: object) -> Generator[Daemon]:
    """A yard that is up for as long as the block lasts."""
    with yard_up(home, *arguments) as up, asking(up, home) as client:
        yield Daemon(up, client)


def asking(up: Up, home: Path) -> httpx2.Client:
    token = (home / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=up.url, headers=headers, timeout=30)


def one(ref: str, *more: str) -> str:
    """The path of one server."""
    return "/".join([SERVERS, quote(ref, safe=""), *more])


def is_gone(pid: int) -> bool:
    """Whether there is no such process any more, or only its shell."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
