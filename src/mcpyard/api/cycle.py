"""One request and its answer on a connection, with less ado than uvicorn's own.

Most answers are whole and short. An application that finds `WHOLE` in its scope may give such an
answer there: head and body leave in one piece, without messages that are taken apart again.
"""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

WHOLE: Final = "mcpyard.whole"
"""Where a scope has its `Whole`."""

Headers = tuple[tuple[bytes, bytes], ...]

Whole = Callable[[int, Headers, bytes], bool]
"""Gives a whole answer: status, headers without the length, body.

False when it cannot be given so: the client does not read, or a part of an answer was sent already.
The usual way then waits, or complains.
"""


class Cycle(RequestResponseCycle):
    """One request and its answer."""

    # What most requests never change stands here, not in each of them.
    access_log = False
    disconnected = False
    response_started = False
    response_complete = False
    chunked_encoding = None
    expected_content_length = 0
    more_body = True

    scope: Any

    def __init__(self, of: "HttpToolsProtocol", *, keep_alive: bool) -> None:
        self.transport = of.transport
        self.flow = of.flow
        self.logger = of.logger
        self.default_headers = of.server_state.default_headers
        self.on_response = of.on_response_complete
        self.message_event = asyncio.Event()
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = of.expect_100_continue
        self.body = bytearray()

    def whole(self, status: int, headers: Headers, body: bytes) -> bool:
        """Give a whole answer (see `Whole`)."""
        if self.response_started or self.flow.write_paused or self.scope["method"] == "HEAD":
            return False
        if self.disconnected:
            return True
        self.response_started = self.response_complete = True
        head = _head(status, headers, self.keep_alive)
        self.transport.write(b"%b%d\r\n\r\n%b" % (head, len(body), body))
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
        return True


@lru_cache(maxsize=256)
def _head(status: int, headers: Headers, keep_alive: bool) -> bytes:
    """An answer's head up to the number of its bytes."""
    more = () if keep_alive else ((b"connection", b"close"),)
    lines = [b"%b: %b\r\n" % each for each in (*headers, *more)]
    return b"".join((STATUS_LINE[status], *lines, b"content-length: "))
