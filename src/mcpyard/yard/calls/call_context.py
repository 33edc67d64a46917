"""Who makes a call, what they may use, and what travels with it."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import orjson
from msgspec import Struct

from mcpyard.catalog.routes import Route
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.ports import NotificationHandler, RequestHandler

LIBRARY: Final = "library"
"""The caller when none is named."""

HOPS: Final = "mcpyard/hops"
"""The member of `_meta` that counts the gateways a request went through."""

MAX_HOPS: Final = 4

Progress = Callable[[Mapping[str, object]], None]

Allows = Callable[[DesiredServer, Route], bool]
"""Whether a caller may use a tool of a server."""


class CallExtras(NamedTuple):
    """What a request holds beside a name and arguments.

    Attributes:
        members: Other parameters, by name, as JSON.
        meta: The members of `_meta` that are for the server, as JSON without braces.
        hops: How many gateways the request went through.
    """

    members: Mapping[str, bytes] = {}
    meta: bytes = b""
    hops: int = 0


NO_EXTRAS: Final = CallExtras()

_PROGRESS_TOKEN: Final = "progressToken"  # noqa: S105  names a member
_PROTOCOL: Final = "io.modelcontextprotocol/"


def with_meta(meta: Mapping[str, object] | None) -> CallExtras:
    """The extras of a call with this `_meta`.

    Raises:
        ArgumentsRefused: It cannot be sent as JSON.
    """
    if not meta:
        return NO_EXTRAS
    try:
        return CallExtras(meta=forwarded_meta({k: orjson.dumps(v) for k, v in meta.items()}))
    except TypeError as error:
        raise ArgumentsRefused.of(Problem("_meta", f"cannot be sent as JSON: {error}")) from None


def forwarded_meta(members: Mapping[str, bytes]) -> bytes:
    """The members of a caller's `_meta` that are for the server.

    Progress has a token of our own, hops are counted here, and what the protocol itself says
    there is about the caller's connection.
    """
    return b",".join(
        b"%b:%b" % (orjson.dumps(name), value)
        for name, value in members.items()
        if name not in {_PROGRESS_TOKEN, HOPS} and not name.startswith(_PROTOCOL)
    )


def with_hops(meta: bytes, hops: int) -> bytes:
    """These members of `_meta`, and the count of gateways for one more."""
    count = b'"%b":%d' % (HOPS.encode(), hops + 1)
    return b"%b,%b" % (meta, count) if meta else count


class CallContext(Struct, frozen=True):
    """In whose name a request is made. A msgspec struct because one is made for every call.

    Attributes:
        who: The caller, for the journal.
        timeout: Seconds that each server has; None for what its definition says.
        extras: What is sent beside name and arguments.
        progress: Receives the progress.
        on_request: Answers what the server asks meanwhile.
        on_notification: Receives what the server sends about the call.
        capabilities: What the client can do, as JSON.
        log_level: The log messages it wants.
        client_key: Names the client to servers that run a process for each.
        allows: What it may use; None for everything.
        fall_back: Whether a fallback server may answer.
    """

    who: str = LIBRARY
    timeout: float | None = None
    extras: CallExtras = NO_EXTRAS
    progress: Progress | None = None
    on_request: RequestHandler | None = None
    on_notification: NotificationHandler | None = None
    capabilities: bytes | None = None
    log_level: str | None = None
    client_key: str | None = None
    allows: Allows | None = None
    fall_back: bool = True

    def may_use(self, server: DesiredServer, route: Route) -> bool:
        """Whether the caller may use a tool; what it may use is told, or else every tool is on."""
        return self.allows(server, route) if self.allows else route.policy.enabled


LIBRARY_CALL: Final = CallContext()
"""Of a call that says nothing but what to call."""
