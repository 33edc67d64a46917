"""The web server, inside a loop that somebody else runs and ends."""

import asyncio
import contextlib
import ctypes
import socket
from collections.abc import Generator
from typing import Final

from starlette.types import ASGIApp

from mcpyard.api.http_server.connection_limits import BoundedProtocol
from mcpyard.api.http_server.tls_files import Tls
from mcpyard.api.http_server.uvicorn_internals import Config, Server
from mcpyard.domain import limits

_BACKLOG: Final = 512

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_LARGEST_BUFFER: Final = 4 * 1024 * 1024
_KEPT_MEMORY: Final = 16 * 1024 * 1024


class WebServer(Server):
    """Serves until it is told to stop. Signals are its owner's business, not its own.

    Args:
        app: Answers the requests.
        tls: The certificate to serve with.
        most_connections: How many connections are taken at once.
        last_requests: Seconds that requests in flight may take after that word.
    """

    def __init__(
        self,
        app: ASGIApp,
        tls: Tls | None = None,
        most_connections: int | None = None,
        last_requests: float = limits.SHUTDOWN,
    ) -> None:
        if most_connections is not None:
            BoundedProtocol.most_connections = most_connections
        super().__init__(
            Config(
                app,
                http=BoundedProtocol,
                interface="asgi3",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                # They are renewed by a tick ten times a second, which an idle yard does without.
                date_header=False,
                server_header=False,
                backlog=_BACKLOG,
                ssl_certfile=tls.certificate if tls else None,
                ssl_keyfile=tls.key if tls else None,
                timeout_graceful_shutdown=round(last_requests),
            )
        )
        self.ready = asyncio.Event()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Take no more requests, finish those in flight, then end."""
        self.should_exit = True
        self._stopping.set()

    def force_close(self) -> None:
        """Do not wait for requests in flight."""
        self.force_exit = True

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the signals alone."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        _keep_memory()
        self.ready.set()

    async def main_loop(self) -> None:
        """Wait for the word to stop."""
        await self._stopping.wait()


def _keep_memory() -> None:
    """Keep some of the memory that long answers were held in, for the next ones.

    Otherwise the C library gives it back after each, and to get it anew costs as much as all the
    rest of the work on an answer of a megabyte. Where it cannot be told so, nothing is lost.
    """
    with contextlib.suppress(AttributeError, OSError, TypeError):
        tune = ctypes.CDLL(None).mallopt
        tune(_M_MMAP_THRESHOLD, _LARGEST_BUFFER)
        tune(_M_TRIM_THRESHOLD, _KEPT_MEMORY)
