"""The old transport: one event stream for everything the server says, POSTs for the rest.

The stream's first event names the address for the POSTs. Answers come on the stream, so a POST
answers nothing but whether it was taken. The stream's end is the end of the link.
"""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

import httpx2

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.jsonrpc import find_id
from mcpyard.wire.link import LinkFailed, Outgoing, Receiver
from mcpyard.wire.remote.eventstream import DEFAULT_LIMIT, EventParser, OversizeEvent, SseEvent
from mcpyard.wire.remote.http_client import exchange, media_type, read_refusal, same_origin
from mcpyard.wire.remote.http_errors import broken, garbage, too_long
from mcpyard.wire.remote.http_stream import EVENT_STREAM
from mcpyard.wire.remote.outbox import end
from mcpyard.wire.remote.post_sender import Answer
from mcpyard.wire.remote.remote_errors import RemoteLink

HEARTBEAT_SECONDS: Final = 90.0
"""Servers that send heartbeats do so every 15 to 30 s: three or more in a row went missing."""

_ENDPOINT_SECONDS: Final = 10.0


class SseLink(RemoteLink):
    """A way to a server that speaks the HTTP+SSE transport of 2024-11-05.

    Attributes:
        endpoint_timeout: Seconds the server has to name the address for the POSTs.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        auth: httpx2.Auth | None = None,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        super().__init__(url, headers, limit=limit, auth=auth)
        self._heartbeat = heartbeat
        self.endpoint_timeout = _ENDPOINT_SECONDS
        self._reading: asyncio.Task[None] | None = None

    @property
    def cancels_by_closing(self) -> bool:
        """False: the stream is everybody's."""
        return False

    async def open(self, receiver: Receiver) -> None:
        """Open the stream and wait for the address of the POSTs, or raise `LinkFailed`."""
        self._prepare(receiver)
        loop = asyncio.get_running_loop()
        endpoint: asyncio.Future[httpx2.URL] = loop.create_future()
        self._reading = loop.create_task(self._read(endpoint))
        self._reading.add_done_callback(self._background_ended)
        try:
            async with asyncio.timeout(self.endpoint_timeout):
                self._post_url = await endpoint
        except TimeoutError:
            await self.close()
            cause = Cause(Code.UNRESPONSIVE, "The server did not send the message endpoint")
            raise LinkFailed(cause) from None
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """End the stream and let go of every connection."""
        self._dead = True
        client, self._client = self._client, None
        if client is None:
            return
        try:
            if self._reading is not None:
                end(self._reading)
                await asyncio.wait([self._reading])
            await self._outbox.close()
        finally:
            await client.aclose()

    def _post_headers(self, message: Outgoing) -> dict[str, str]:
        return {"Content-Type": "application/json", **message.headers}

    async def _accepted(self, message: Outgoing, response: Answer) -> None:
        """Nothing to take: the answer comes on the stream."""

    async def _read(self, endpoint: asyncio.Future[httpx2.URL]) -> None:
        try:
            cause = await self._follow(endpoint)
        except LinkFailed as failure:
            cause = failure.cause
        except httpx2.HTTPError as error:
            cause = broken(error, self._url)
        except TimeoutError:
            silence = f"The server has been silent for {self._heartbeat:g} s"
            cause = Cause(Code.UNRESPONSIVE, silence)
        if endpoint.done():
            self._lose(cause)
        else:
            endpoint.set_exception(LinkFailed(cause))

    async def _follow(self, endpoint: asyncio.Future[httpx2.URL]) -> Cause:
        headers = {"Accept": EVENT_STREAM, "Cache-Control": "no-store"}
        request = self._http.build_request("GET", self._url, headers=headers)
        async with exchange(self._http, request) as response:
            if not response.is_success:
                return self._cause_of(response, await read_refusal(response))
            if media_type(response) != EVENT_STREAM:
                return garbage(f"The server answered with {media_type(response)}, not with events")
            self._worked = True
            await self._relay(response, endpoint)
        return Cause(Code.CLOSED, "The server ended the event stream")

    async def _relay(self, response: httpx2.Response, endpoint: asyncio.Future[httpx2.URL]) -> None:
        parser = EventParser(self._limit)
        loop = asyncio.get_running_loop()
        beating = False
        async with asyncio.timeout(None) as silence, aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                items = parser.feed(chunk)
                # Only a server that has sent a heartbeat can be missed for sending none.
                beating = beating or parser.comments > 0 or any(map(_is_ping, items))
                if beating:
                    silence.reschedule(loop.time() + self._heartbeat)
                for item in items:
                    self._take(item, endpoint, response.url)

    def _take(
        self, item: SseEvent | OversizeEvent, endpoint: asyncio.Future[httpx2.URL], base: httpx2.URL
    ) -> None:
        if isinstance(item, OversizeEvent):
            self._fail(find_id(item.head, item.tail), too_long(self._limit), item.head)
        elif item.event == "endpoint" and not endpoint.done():
            endpoint.set_result(_resolved(base, item.data))
        elif item.event == "message" and item.data:
            self._receiver.message(item.data, None)

    def _lose(self, cause: Cause) -> None:
        if self._reading is not None:
            end(self._reading)
        super()._lose(cause)


def _is_ping(item: SseEvent | OversizeEvent) -> bool:
    return isinstance(item, SseEvent) and item.event == "ping"


def _resolved(base: httpx2.URL, named: bytes) -> httpx2.URL:
    try:
        url = base.join(named.decode().strip())
    except (httpx2.InvalidURL, ValueError):
        raise LinkFailed(garbage("The message endpoint is not a valid URL", named)) from None
    if not same_origin(base, url):
        raise LinkFailed(garbage("The message endpoint is on another origin", named))
    return url
