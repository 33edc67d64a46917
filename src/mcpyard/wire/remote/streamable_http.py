"""Streamable HTTP: a POST per message, answered by JSON or by an event stream.

Both eras travel on it. In the handshake era there is a session with an id, a GET stream for what
the server says unasked, and a cut answer stream can be resumed where the server numbered its
events. In the modern era none of that exists: a request lives and dies with its POST, and closing
its stream is how it is cancelled.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import httpx2

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.link import LinkFailed, Outgoing, Receiver
from mcpyard.wire.remote.eventstream import DEFAULT_LIMIT, EventParser
from mcpyard.wire.remote.http_client import exchange, media_type, read_within
from mcpyard.wire.remote.http_errors import garbage, never_reached, session_expired, too_long
from mcpyard.wire.remote.http_stream import EVENT_STREAM, Ending, pause, relay
from mcpyard.wire.remote.message_ids import answers, method_unknown
from mcpyard.wire.remote.outbox import end
from mcpyard.wire.remote.post_sender import Answer
from mcpyard.wire.remote.remote_errors import RemoteLink

_SESSION: Final = "Mcp-Session-Id"
_VERSION: Final = "MCP-Protocol-Version"
_ACCEPT: Final = f"application/json, {EVENT_STREAM}"
_JSON_TYPES: Final = frozenset({"application/json", ""})

_BARREN_RESUMPTIONS: Final = 10
"""Resumptions in a row without a new event after which an answer is given up."""

_GOODBYE_SECONDS: Final = 2.0


class HttpLink(RemoteLink):
    """A way to a server that speaks streamable HTTP.

    Attributes:
        modern: Whether the server is of the modern era; set by the session once it knows.
        protocol_version: The version sent with each message; set by the session once it knows.
        session_id: The handshake era's session, taken from the answer to `initialize`.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        auth: httpx2.Auth | None = None,
    ) -> None:
        super().__init__(url, headers, limit=limit, auth=auth)
        self.modern = False
        self.protocol_version: str | None = None
        self.session_id: str | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def cancels_by_closing(self) -> bool:
        """True in the modern era, where a closed stream is the cancel notice."""
        return self.modern

    async def open(self, receiver: Receiver) -> None:
        """Check address and headers; the first message makes the connection."""
        self._prepare(receiver)

    def open_get_stream(self) -> None:
        """Listen for what the server says unasked, if it offers that; opened anew when cut."""
        if self._listening is None and not self._dead:
            self._listening = asyncio.get_running_loop().create_task(self._listen())
            self._listening.add_done_callback(self._stopped_listening)

    async def close(self) -> None:
        """End the session and let go of every connection."""
        self._dead = True
        client, self._client = self._client, None
        if client is None:
            return
        try:
            await self._stop_listening()
            await self._outbox.close()
            await self._say_goodbye(client)
        finally:
            await client.aclose()

    def _post_headers(self, message: Outgoing) -> dict[str, str]:
        return {
            "Accept": _ACCEPT,
            "Content-Type": "application/json",
            **(self._session_headers() if message.method != "initialize" else {}),
            **message.headers,
        }

    def _session_headers(self) -> dict[str, str]:
        headers = {_SESSION: self.session_id, _VERSION: self.protocol_version}
        return {name: value for name, value in headers.items() if value}

    async def _accepted(self, message: Outgoing, response: Answer) -> None:
        if message.method == "initialize":
            self.session_id = _readable(response.headers.get(_SESSION.lower()))
        if message.id is None:
            return
        kind = media_type(response)
        if response.status_code == HTTPStatus.ACCEPTED:
            self._fail(message.id, garbage("The server accepted the request without a response"))
        elif kind == EVENT_STREAM:
            await self._take_stream(message.id, response)
        elif kind in _JSON_TYPES:
            await self._take_json(message.id, response)
        else:
            self._fail(message.id, garbage(f"The server answered with {kind}, which is not MCP"))

    async def _take_json(self, request: int, response: Answer) -> None:
        body = await read_within(response, self._limit)
        if body is None:
            self._fail(request, too_long(self._limit))
        elif answers(body, request):
            self._receiver.message(body, request)
        else:
            self._fail(request, garbage("The server returned an unexpected response", body))

    async def _take_stream(self, request: int, response: Answer) -> None:
        parser = EventParser(self._limit)
        ending = await relay(response, parser, self._receiver, request)
        if ending is Ending.CUT and parser.last_id and not self.modern:
            await response.aclose()
            ending = await self._resume(parser, request)
        if ending is Ending.CUT:
            self._fail(
                request, Cause(Code.CLOSED, "The server ended the stream without a response")
            )
        elif ending is Ending.OVERSIZE:
            self._fail(request, too_long(self._limit))

    async def _resume(self, parser: EventParser, request: int) -> Ending:
        barren = 0
        while barren < _BARREN_RESUMPTIONS:
            last_id = parser.last_id
            await asyncio.sleep(pause(parser.retry, barren))
            ending = await self._follow(parser, request)
            if ending is not Ending.CUT:
                return ending
            barren = barren + 1 if parser.last_id == last_id else 0
        return Ending.CUT

    async def _listen(self) -> None:
        parser = EventParser(self._limit)
        barren = 0
        while not self._dead:
            received = parser.received
            if await self._follow(parser, None) is Ending.REFUSED:
                return
            barren = barren + 1 if parser.received == received else 0
            await asyncio.sleep(pause(parser.retry, barren))

    async def _follow(self, parser: EventParser, request: int | None) -> Ending:
        parser.restart()
        if left := self.throttle.left:
            await asyncio.sleep(left)
        try:
            async with exchange(self._http, self._get(parser.last_id)) as response:
                if response.is_success and media_type(response) == EVENT_STREAM:
                    return await relay(response, parser, self._receiver, request)
                # A proxy says so while the server behind it restarts.
                if self.throttle.note(response.status_code, response.headers):
                    return Ending.CUT
                if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    return Ending.CUT
                await self._turned_down(request, response)
                return Ending.REFUSED
        except httpx2.HTTPError as error:
            if never_reached(error):
                raise
            return Ending.CUT

    async def _turned_down(self, request: int | None, response: httpx2.Response) -> None:
        # 405 is how a server says that it has no stream to offer, which is its right.
        if request is not None or response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            await self._refused(request, response)

    def _get(self, last_id: str) -> httpx2.Request:
        headers = {"Accept": EVENT_STREAM, "Cache-Control": "no-store", **self._session_headers()}
        if last_id:
            headers["Last-Event-ID"] = last_id
        # An id is any text, so it may be more than ASCII.
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        return self._http.build_request("GET", self._url, headers=encoded)

    def _cause_of(self, response: httpx2.Response, body: bytes) -> Cause:
        sent = response.request
        # To a GET it may as well mean that there is no stream to get.
        of_session = sent.method == "POST" and _SESSION in sent.headers
        if response.status_code == HTTPStatus.NOT_FOUND and of_session and not method_unknown(body):
            return session_expired(HTTPStatus.NOT_FOUND)
        return super()._cause_of(response, body)

    def _draw_consequences(self, cause: Cause, response: httpx2.Response) -> None:
        super()._draw_consequences(cause, response)
        session = response.request.headers.get(_SESSION)
        # Later refusals of a session that was given up already change nothing.
        if cause.code is Code.CLOSED and session == self.session_id:
            self._session_ended()

    def _session_ended(self) -> None:
        self.session_id = None
        if self._listening is not None:
            end(self._listening)
        self._fail_all()
        self._lose(session_expired())

    def _fail_all(self) -> None:
        for request in self._outbox.requests:
            self._fail(request, session_expired())

    def _lose(self, cause: Cause) -> None:
        if self._listening is not None:
            end(self._listening)
        super()._lose(cause)

    def _stopped_listening(self, task: asyncio.Task[None]) -> None:
        if self._listening is task:
            self._listening = None
        self._background_ended(task)

    async def _stop_listening(self) -> None:
        if self._listening is not None:
            end(self._listening)
            await asyncio.wait([self._listening])

    async def _say_goodbye(self, client: httpx2.AsyncClient) -> None:
        if self.session_id is None or self.modern or self.throttle.left:
            return
        headers = self._session_headers()
        with suppress(httpx2.HTTPError, LinkFailed, TimeoutError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await client.delete(self._url, headers=headers, follow_redirects=False)


def _readable(session: str | None) -> str | None:
    return session if session and session.isascii() and session.isprintable() else None
