"""The HTTP client behind the remote links, set up for what MCP does with it.

What was configured for a server (headers, sign-in, cookies) is for that server alone. So a
redirect is followed only within the origin, and only when the method and body survive it. A
sticky cookie of a load balancer is kept for the life of the link, in memory.
"""

import ipaddress
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Final
from urllib.request import getproxies

import httpx2

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.http11 import DirectAnswer
from mcpyard.wire.remote.http11_pool import KEEP_ALIVE_SECONDS

if TYPE_CHECKING:
    import ssl

MAX_IN_FLIGHT: Final = 1024
"""POSTs under way at once per server; one more and the caller is told that the link is busy."""

_CONNECT_SECONDS: Final = 10.0
_KEPT_CONNECTIONS: Final = 20
"""More cost more than they save: httpx2 looks at every idle socket for every request."""

_PROXIED: Final = frozenset({"http", "https", "all"})
_REDIRECTS: Final = 5
_REFUSAL_LIMIT: Final = 1024 * 1024


def parse_url(text: str) -> httpx2.URL:
    """The address of a server; raises `LinkFailed` when it is none."""
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise LinkFailed(_invalid(f"The url is not valid: {error}")) from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise LinkFailed(_invalid("The url must begin with http:// or https:// and contain a host"))
    return url


def new_client(
    url: httpx2.URL,
    headers: Mapping[str, str],
    auth: httpx2.Auth | None = None,
    *,
    read_timeout: float | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> httpx2.AsyncClient:
    """A client for one server; raises `LinkFailed` when a header cannot be sent.

    Args:
        url: The server's address.
        headers: What goes with every request.
        auth: The sign-in, if there is one.
        read_timeout: Seconds of silence allowed. None for MCP, where the peer has the deadlines
            and a stream may be silent for hours.
        transport: What carries the requests; None for that of httpx2.
    """
    return httpx2.AsyncClient(
        headers=_checked(headers),
        auth=auth,
        transport=transport,
        verify=_tls() if transport is None else True,
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS, read=read_timeout),
        # No queue for connections: an answer that the server waits for must never stand behind
        # the calls that wait for the server.
        limits=httpx2.Limits(
            max_connections=None,
            max_keepalive_connections=_KEPT_CONNECTIONS,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        ),
        trust_env=not _is_loopback(url.host),
    )


def direct_transport(url: httpx2.URL) -> DirectTransport | None:
    """The way to a server that no proxy stands before; None where one may, which httpx2 knows."""
    proxied = not _is_loopback(url.host) and not getproxies().keys().isdisjoint(_PROXIED)
    return None if proxied else DirectTransport(_tls)


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether two addresses have scheme, host and port in common."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


@asynccontextmanager
async def exchange(
    client: httpx2.AsyncClient, request: httpx2.Request
) -> AsyncGenerator[httpx2.Response]:
    """Send a request and hold its answer open; a redirect that is not followed is the answer."""
    response = await send_within_origin(client, request)
    try:
        yield response
    finally:
        await response.aclose()


async def send_within_origin(
    client: httpx2.AsyncClient, request: httpx2.Request
) -> httpx2.Response:
    """Send a request, following redirects within its origin; the answer must be closed."""
    response = await client.send(request, stream=True, follow_redirects=False)
    for _ in range(_REDIRECTS):
        following = _followable(response)
        if following is None:
            break
        await response.aclose()
        response = await client.send(following, stream=True, follow_redirects=False)
    return response


async def read_within(response: httpx2.Response | DirectAnswer, limit: int) -> bytes | None:
    """The body of an answer, or None when it is longer than the limit."""
    if int(response.headers.get("content-length", "0")) > limit:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)


async def read_refusal(response: httpx2.Response) -> bytes:
    """The body of an answer that says no; nothing when it is absurdly long."""
    return await read_within(response, _REFUSAL_LIMIT) or b""


def media_type(response: httpx2.Response | DirectAnswer) -> str:
    """The media type of an answer in lower case, without its parameters."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


def _followable(response: httpx2.Response) -> httpx2.Request | None:
    sent, following = response.request, response.next_request
    if following is None or following.method != sent.method:
        return None
    return following if same_origin(sent.url, following.url) else None


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not (name.isascii() and value.isascii() and (name + value).isprintable() and name):
            raise LinkFailed(_invalid(f"The header {name!a} has a value that cannot be sent"))
    # A compressed body could unfold to any size before the limit sees it.
    return {"User-Agent": "mcpyard", **headers, "Accept-Encoding": "identity"}


def _invalid(message: str) -> Cause:
    return Cause(Code.INVALID_DEFINITION, message)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def _tls() -> "ssl.SSLContext":
    # One for all links: reading the trust store takes 40 ms.
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
