"""Which names a request may use: the Host it calls this yard by, the Origin it comes from.

The Host check keeps a web page from reaching the yard under a name of its own (DNS rebinding). The
Origin check keeps pages of other sites, and of other ports of this machine, from using a browser
that was let in.
"""

import ipaddress
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from mcpyard.api.problems import refusal
from mcpyard.api.responses import refuse
from mcpyard.api.security.incoming import Incoming

if TYPE_CHECKING:
    from starlette.responses import Response

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_SHOWN: Final = 80
_FOREIGN_SITES: Final = frozenset({"cross-site", "same-site"})


class AllowedNames:
    """The names of one yard."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self._hosts = LOOPBACK | {each.lower() for each in hosts}

    def objection(self, incoming: Incoming) -> "Response | None":
        """Why a request may not come in under its names."""
        if incoming.doubled:
            return refuse(refusal("doubled-header", "a header that must be unique was sent twice"))
        host = host_name(incoming.header(b"host") or "")
        if host not in self._hosts and not _is_address_of(incoming, host):
            return refuse(refusal("wrong-host", f'unknown host name "{host[:_SHOWN]}"'))
        if not incoming.is_public and is_foreign(incoming):
            return refuse(refusal("foreign-origin", "requests from other origins are not allowed"))
        return None


def is_foreign(incoming: Incoming) -> bool:
    """Whether a request comes from a page that is not this yard's own."""
    if incoming.site in _FOREIGN_SITES:
        return True
    origin = incoming.header(b"origin")
    return origin is not None and not _is_own(origin, incoming.header(b"host") or "")


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].split("]", 1)[0].lower()
    return header.rsplit(":", 1)[0].lower() if ":" in header else header.lower()


def _is_own(origin: str, host: str) -> bool:
    # The scheme is not compared: behind a proxy that speaks TLS the two rightly differ.
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return (
        parts.scheme in {"http", "https"} and origin.lower() == f"{parts.scheme}://{host}".lower()
    )


def _is_address_of(incoming: Incoming, host: str) -> bool:
    """Whether a host is the very address the request came to, which no name can pretend to be."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return host == incoming.address
