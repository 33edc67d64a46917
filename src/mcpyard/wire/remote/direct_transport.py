"""HTTP/1.1 straight to a server, without a proxy: a transport for httpx2 that costs little.

httpx2 keeps what it does well: redirects, cookies, sign-in. Who needs none of these may send a
request itself (`pool`), and give the answer to httpx2 (`ANSWER`) if it turns out otherwise.
"""

import re
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

import httpx2

from mcpyard.wire.remote.http11 import DirectAnswer
from mcpyard.wire.remote.http11_pool import Http11Pool, Origin, Timeouts

if TYPE_CHECKING:
    import ssl

ANSWER: Final = "mcpyard.answer"
"""The extension of a request that was sent already: the answer that it got."""

ADDRESSES: Final = "mcpyard.addresses"
"""The extension of a request that may go only to these IP addresses, whatever its host has."""

_UNSUPPORTED: Final = frozenset({"HEAD", "CONNECT"})
_NAME: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(rb"[^\x00\r\n]*")
_TARGET: Final = re.compile(rb"[!-~]+")


class DirectTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of an `httpx2.AsyncClient` over connections of its own.

    Args:
        tls: Gives the TLS settings, once they are needed.
    """

    def __init__(self, tls: "Callable[[], ssl.SSLContext]") -> None:
        self._tls = tls
        self._pools: dict[tuple[Origin, tuple[str, ...] | None], Http11Pool] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request (see `httpx2.AsyncBaseTransport`)."""
        answer = request.extensions.pop(ANSWER, None)
        if not isinstance(answer, DirectAnswer):
            head, body = encode(request)
            data = b"%b\r\n%b" % (head, body)
            pool = self.pool(request.url, request.extensions.pop(ADDRESSES, None))
            answer = await pool.ask(data, timeouts_of(request), safe=request.method == "GET")
        stream = _BodyStream(answer)
        return httpx2.Response(answer.status_code, headers=answer.raw_headers, stream=stream)

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        for pool in self._pools.values():
            await pool.aclose()

    def pool(self, url: httpx2.URL, addresses: tuple[str, ...] | None = None) -> Http11Pool:
        """The connections to the origin of a URL, or to some of its IP addresses."""
        key = Origin.of(url), addresses
        if key not in self._pools:
            self._pools[key] = Http11Pool(key[0], self._tls, addresses)
        return self._pools[key]


def timeouts_of(request: httpx2.Request) -> Timeouts:
    """The time limits that httpx2 put on a request."""
    seconds = request.extensions.get("timeout", {})
    return Timeouts(seconds.get("connect"), seconds.get("read"))


def encode(request: httpx2.Request) -> tuple[bytes, bytes]:
    """The head of a request without its blank line, and the body.

    Raises:
        httpx2.LocalProtocolError: It cannot be sent, or would not arrive as what it is.
    """
    stream = request.stream
    if request.method in _UNSUPPORTED or not isinstance(stream, httpx2.ByteStream):
        raise httpx2.LocalProtocolError(f"{request.method} with this body is not supported")
    body = b"".join(stream)
    if "transfer-encoding" in request.headers:
        raise httpx2.LocalProtocolError("The header Transfer-Encoding cannot be set")
    if request.headers.get("content-length", str(len(body))) != str(len(body)):
        raise httpx2.LocalProtocolError("The header Content-Length contradicts the body")
    target = request.url.raw_path
    if not _TARGET.fullmatch(target):
        raise httpx2.LocalProtocolError("The url has characters that cannot be sent")
    fields = b"".join(_field(name, value) for name, value in request.headers.raw)
    return b"%b %b HTTP/1.1\r\n%b" % (request.method.encode("ascii"), target, fields), body


def _field(name: bytes, value: bytes) -> bytes:
    if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
        raise httpx2.LocalProtocolError(f"The header {name!r} has a value that cannot be sent")
    return b"%b: %b\r\n" % (name, value)


class _BodyStream(httpx2.AsyncByteStream):
    def __init__(self, answer: DirectAnswer) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._answer.aiter_bytes()

    async def aclose(self) -> None:
        await self._answer.aclose()
