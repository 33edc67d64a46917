"""One request and its answer on a connection, with less ado than uvicorn's own.

Most requests and answers are whole and short. An application that finds `BODY` in its scope need
not ask for the body, and one that finds `SEND_WHOLE` may give a whole answer there: head and body
leave in one piece, without messages that are taken apart again.
"""

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from starlette.types import Receive, Send

from mcpyard.api.http_server.uvicorn_internals import STATUS_LINE, RequestResponseCycle
from mcpyard.api.security.headers import BRIEF, missing, strictly
from mcpyard.asgi_scope import BODY, SEND_WHOLE, Application, Headers, Scope

if TYPE_CHECKING:
    from mcpyard.api.http_server.uvicorn_internals import ASGI3Application, HttpToolsProtocol


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
    body: Any
    tasks: Any
    loop: asyncio.AbstractEventLoop
    _event: asyncio.Event | None = None

    def __init__(self, of: "HttpToolsProtocol", *, keep_alive: bool) -> None:
        self.transport = of.transport
        self.flow = of.flow
        self.logger = of.logger
        self.default_headers = of.server_state.default_headers
        self.on_response = of.on_response_complete
        self.tasks = of.tasks
        self.loop = of.loop
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = of.expect_100_continue

    @property
    def message_event(self) -> Any:  # noqa: ANN401  an attribute of the base without a type
        """Made when it is needed: nobody waits for more of a request that came whole."""
        if self._event is None:
            self._event = asyncio.Event()
            if not self.more_body:
                self._event.set()
        return self._event

    def go_on(self, app: Application) -> None:
        """Have an application answer the request, in a task (see `OpenRequest`)."""

        async def strict(scope: Scope, receive: Receive, send: Send) -> None:
            await app(scope, receive, strictly(send, BRIEF))

        self.start(cast("ASGI3Application", strict))

    def start(self, app: "ASGI3Application") -> None:
        """Have an application answer the request, in a task."""
        # It leaves the set by itself: a callback would cost each request a turn of the loop.
        self.tasks.add(self.loop.create_task(self.run_asgi(app)))

    async def run_asgi(self, app: "ASGI3Application") -> None:
        """Have the request answered, and let go of it."""
        try:
            await app(self.scope, self.receive, self.send)
            if not self.response_complete:
                await super().run_asgi(_returned)
        except BaseException as error:  # noqa: BLE001  whatever it is, the client gets an answer
            await super().run_asgi(_raising(error))
        finally:
            # Scope and cycle would hold each other and the body, and the connection holds the last
            # cycle: all of it would wait for the next request, or for the collector.
            # The loop is named because to find it takes a system call.
            self.tasks.discard(asyncio.current_task(self.loop))
            self.body = b""
            self.on_response = _nothing
            self.scope.pop(SEND_WHOLE, None)
            self.scope.pop(BODY, None)

    def send_whole(self, status: int, headers: Headers, *body: bytes) -> bool:
        """Give a whole answer (see `SendWhole`)."""
        if self.response_started or self.flow.write_paused or self.scope["method"] == "HEAD":
            return False
        if self.disconnected:
            return True
        self.response_started = self.response_complete = True
        head = _head(status, headers, self.keep_alive)
        if len(body) == 1:
            self.transport.write(b"%b%d\r\n\r\n%b" % (head, len(body[0]), body[0]))
        else:
            self.transport.writelines((b"%b%d\r\n\r\n" % (head, sum(map(len, body))), *body))
        if self._event:
            self._event.set()
        if not self.keep_alive:
            self.transport.close()
        # The connection holds its last cycle, and would be held by it.
        callback, self.on_response = self.on_response, _nothing
        callback()
        return True


def _nothing() -> None:
    """Stands for a connection that need not be told."""


async def _returned(*_arguments: object) -> None:
    """Stands for an application that returned; uvicorn knows what to do if nothing was answered."""


def _raising(error: BaseException) -> "ASGI3Application":
    """Stands for an application that failed."""
    held = [error]

    async def failed(*_arguments: object) -> None:
        # Not kept: the error has a traceback, which would lead back to it.
        raise held.pop()

    return failed


@lru_cache(maxsize=256)
def _head(status: int, headers: Headers, keep_alive: bool) -> bytes:
    """An answer's head up to the number of its bytes."""
    more = missing(BRIEF, tuple([name for name, _ in headers]))
    close = () if keep_alive else ((b"connection", b"close"),)
    lines = [b"%b: %b\r\n" % each for each in (*headers, *more, *close)]
    return b"".join((STATUS_LINE[status], *lines, b"content-length: "))
