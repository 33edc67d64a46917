"""Requests to authorization servers: bounded in bytes and time, and only to allowed addresses.

The address of an authorization server comes from the MCP server, which may be hostile: it could
name a service that only this machine or its network can reach. So a private target is allowed only
for a server that is in a private network itself, and a link-local one only for a link-local server.
The name of a target is looked up once, and the request goes to the addresses that were checked: a
resolver that changes its answer changes nothing. Behind a proxy, the proxy looks it up.
"""

import asyncio
import ipaddress
import socket
from enum import Enum, auto
from typing import Final

import httpx2

from mcpyard.wire.remote.direct_transport import ADDRESSES
from mcpyard.wire.remote.http_client import read_within
from mcpyard.wire.remote.http_errors import place

MOST_BYTES: Final = 1024 * 1024
"""Of one document or token answer; real ones have a few thousand."""

_SECONDS: Final = 20.0

_WITH_IPV4: Final = tuple(
    map(ipaddress.IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "::/96"))
)
"""IPv6 addresses that lead to the IPv4 address in their last bytes: mapped and translated ones, by
this machine or by its network, and those of old."""

_IPV4_BYTES: Final = 4


class IssuerRefused(Exception):
    """A request to an authorization server that is not made, or whose answer is not taken."""


class _Reach(Enum):
    PUBLIC = auto()
    PRIVATE = auto()
    LINK_LOCAL = auto()


async def ask_issuer(
    client: httpx2.AsyncClient, request: httpx2.Request, server: httpx2.URL
) -> httpx2.Response:
    """The answer to a request, completely read.

    Args:
        client: The client for the server's sign-in.
        request: What to ask.
        server: The address of the MCP server.

    Raises:
        IssuerRefused: The address is not allowed, or the answer is too long or too slow.
    """
    where = place(request.url)
    try:
        async with asyncio.timeout(_SECONDS):
            addresses = await _checked(request.url, server)
            if addresses is not None:
                request.extensions[ADDRESSES] = addresses
            response = await client.send(request, stream=True, follow_redirects=False)
            try:
                body = await _body(response)
            finally:
                await response.aclose()
    except TimeoutError:
        raise IssuerRefused(f"{where} did not answer within {_SECONDS:g} s") from None
    if body is None:
        raise IssuerRefused(f"the answer of {where} is larger than {MOST_BYTES} bytes")
    head = response.headers
    return httpx2.Response(response.status_code, headers=head, content=body, request=request)


async def _body(response: httpx2.Response) -> bytes | None:
    if response.headers.get("content-encoding", "identity") != "identity":
        # It could unfold to any size before the limit sees it.
        raise IssuerRefused("the authorization server sent a compressed answer unasked")
    return await read_within(response, MOST_BYTES)


async def _checked(target: httpx2.URL, server: httpx2.URL) -> tuple[str, ...] | None:
    """The addresses that a request may go to; None for those of the server itself."""
    if target.scheme not in {"http", "https"} or not target.host:
        raise IssuerRefused("the authorization server's URL must begin with http:// or https://")
    if (target.host, target.port) == (server.host, server.port):
        return None
    addresses = await _addresses(target)
    not_public = {*map(_reach, addresses)} - {_Reach.PUBLIC}
    if not_public and not not_public <= {*map(_reach, await _addresses(server))}:
        message = f"{target.host} is in a private network, and the server is not"
        raise IssuerRefused(message)
    return addresses


async def _addresses(url: httpx2.URL) -> tuple[str, ...]:
    """The IP addresses of a host; none for a name that only a proxy knows."""
    loop = asyncio.get_running_loop()
    try:
        infos = await loop.getaddrinfo(url.host, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(dict.fromkeys(str(each[4][0]) for each in infos))


def _reach(text: str) -> _Reach:
    """How far an address reaches."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.is_site_local:
            return _Reach.PRIVATE
        if any(address in each for each in _WITH_IPV4):
            address = ipaddress.IPv4Address(address.packed[-_IPV4_BYTES:])
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return _Reach.LINK_LOCAL
    return _Reach.PUBLIC if address.is_global else _Reach.PRIVATE
