"""What an ASGI layer cannot see: how many connections there are, how large and how slow a head is.

A peer that sends its request byte by byte, or never ends it, would hold a connection for ever. So
each head has a size and a deadline, and so has the rest of a body that nobody waits for any more.
Streams and connections at rest between two requests are none of this module's business.
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from mcpyard.api.guard_headers import STRICT

HEAD_LIMIT: Final = 64 * 1024
HEAD_SECONDS: Final = 10.0
MOST_CONNECTIONS: Final = 512

_SEPARATORS: Final = 4
_TOO_LARGE: Final = "The head is too large."


class HeadTooLarge(Exception):
    """More than a head may have."""


class BoundedProtocol(HttpToolsProtocol):
    """Speaks HTTP with a peer, within limits."""

    head_seconds = HEAD_SECONDS
    most_connections = MOST_CONNECTIONS

    _deadline: asyncio.TimerHandle | None = None
    _in_body = False
    _unheard = 0
    """Bytes that came and led to nothing yet."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a peer, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._drop(503, "Too many connections.")
        else:
            self._hasten()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a peer."""
        self._relax()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a head or a body."""
        if self.transport.is_closing():
            return
        self._unheard += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unheard > HEAD_LIMIT:
            self._drop(431, _TOO_LARGE)
        elif self._unheard and not self._in_body:
            self._hasten()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._unheard = max(1, self._unheard)

    def on_headers_complete(self) -> None:
        """A head is complete; its request begins."""
        if sum(len(name) + len(value) + _SEPARATORS for name, value in self.headers) > HEAD_LIMIT:
            # Nothing but an error makes the parser stop.
            self._drop(431, _TOO_LARGE)
            raise HeadTooLarge
        self._relax()
        self._unheard = 0
        self._in_body = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._unheard = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._relax()
        self._unheard = 0
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer is complete, maybe before its request is."""
        super().on_response_complete()
        if self._in_body:
            self._hasten()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        if not self.transport.is_closing():
            self._drop(400, msg)

    def _hasten(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._too_late)

    def _relax(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._drop(408, "The request took too long.")

    def _drop(self, status: int, reason: str) -> None:
        self._relax()
        head = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(reason)).encode()),
            (b"connection", b"close"),
            *STRICT,
        ]
        lines = [b"%b: %b\r\n" % each for each in head]
        if not self._is_answering():
            self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", reason.encode()]))
        self.transport.close()

    def _is_answering(self) -> bool:
        """Whether an answer is on its way, into which no other may be mixed."""
        return bool(self.cycle) and (self._in_body or not self.cycle.response_complete)
