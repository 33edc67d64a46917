"""POSTs to one server, without httpx2 where a POST needs nothing of it.

Building a request and passing it through httpx2 costs several times what the exchange itself does.
So the head of a request is built by httpx2 once for each kind of request, and a plain success is
read as it comes. Whatever is more (a token to be renewed, cookies, a redirect, a refusal) is left
to httpx2.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from http import HTTPStatus
from typing import Final, TypeAlias

import httpx2

from mcpyard.wire.remote.direct_transport import ANSWER, DirectTransport, encode, timeouts_of
from mcpyard.wire.remote.http11 import DirectAnswer
from mcpyard.wire.remote.http11_pool import Http11Pool, Timeouts
from mcpyard.wire.remote.http_client import send_within_origin

Answer: TypeAlias = DirectAnswer | httpx2.Response
"""What came of a POST; a `DirectAnswer` is always a success."""

_HEADS: Final = 256
_ASIDE: Final = ("set-cookie", "content-encoding")
"""Headers of an answer that is for httpx2 to read."""


class ReadyAuth(httpx2.Auth, ABC):
    """A sign-in by bearer token that mostly knows its token without waiting for it."""

    @abstractmethod
    def ready_token(self) -> str | None:
        """The token; empty when requests go without; None when the flow has to find out."""


class PostSender:
    """Sends the POSTs of one link.

    Args:
        client: Builds requests, and sends what is not plain.
        transport: Where plain requests go; None when all are for httpx2.
        auth: The sign-in that the client has.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        transport: DirectTransport | None,
        auth: httpx2.Auth | None = None,
    ) -> None:
        self._client = client
        self._transport = transport
        self._auth = auth
        self._ready_auth = auth if isinstance(auth, ReadyAuth) else None
        self._token = ""
        self._heads: dict[Hashable, tuple[bytes, Http11Pool, Timeouts]] = {}

    async def send(
        self, body: bytes, kind: Hashable, build: Callable[[], httpx2.Request]
    ) -> Answer:
        """Send a POST; the answer must be closed.

        Args:
            body: The body.
            kind: Requests of one kind differ in nothing but their bodies.
            build: Gives the request as httpx2 would send it.
        """
        transport, token = self._transport, self._ready_token()
        if transport is None or token is None or self._client.cookies:
            return await send_within_origin(self._client, build())
        if token != self._token:
            self._heads.clear()
            self._token = token
        head, pool, timeouts = self._heads.get(kind) or self._cache(kind, build(), transport)
        answer = await pool.ask(b"%b%d\r\n\r\n%b" % (head, len(body), body), timeouts)
        if _is_plain(answer):
            return answer
        return await self._send_aside(build(), answer, token)

    async def _send_aside(
        self, request: httpx2.Request, answer: DirectAnswer, token: str
    ) -> httpx2.Response:
        try:
            # A 401 says that the request was not taken. What it says of a token that has been
            # replaced since then must not cost the new one.
            stale = answer.status_code == HTTPStatus.UNAUTHORIZED and token != self._ready_token()
            if stale:
                await answer.aclose()
            else:
                request.extensions[ANSWER] = answer
            return await send_within_origin(self._client, request)
        except BaseException:
            await answer.aclose()
            raise

    def _ready_token(self) -> str | None:
        if self._auth is None:
            return ""
        return self._ready_auth.ready_token() if self._ready_auth else None

    def _cache(
        self, kind: Hashable, request: httpx2.Request, transport: DirectTransport
    ) -> tuple[bytes, Http11Pool, Timeouts]:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        encode(request)
        del request.headers["content-length"]
        head, _ = encode(request)
        cached = (head + b"Content-Length: ", transport.pool(request.url), timeouts_of(request))
        if len(self._heads) >= _HEADS:
            self._heads.clear()
        self._heads[kind] = cached
        return cached


def _is_plain(answer: DirectAnswer) -> bool:
    success = 200 <= answer.status_code < 300  # noqa: PLR2004
    return success and not any(name in answer.headers for name in _ASIDE)
