"""The seam between the JSON-RPC peer and the ways bytes travel.

A link carries whole JSON-RPC messages. It knows nothing of pending calls, eras or tools; the peer
knows nothing of pipes and sockets. `send` never waits: what cannot be written at once is queued by
the link, and a link whose queue is over its limit raises `Busy`. Whatever goes wrong later is told
through `Receiver.lost`, exactly once, after which the link is dead.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

import msgspec

from mcpyard.domain.cause import Cause

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Outgoing(msgspec.Struct, frozen=True):
    """One message on its way to a server.

    Attributes:
        body: The JSON-RPC message, without a line end.
        id: The request's id; None for a notification or an answer to the server.
        method: The method, empty for an answer.
        headers: Routing headers of the modern era, used by HTTP links only.
        alone: Whether nothing else is in flight, so that it need not wait for others to share a
            write with.
    """

    body: bytes
    id: int | None
    method: str
    headers: Mapping[str, str] = _NO_HEADERS
    alone: bool = False


class Receiver(Protocol):
    """What a link tells its peer. Called in the event loop's thread, never from within `send`."""

    def message(self, frame: bytes, stream: int | None) -> bool:
        """A message came; `stream` is the id of the request whose answer stream carried it.

        None on a link that has one stream for everything. False for what is of no use: no message,
        an answer that nobody waits for, a notice of a changed list, and one in four of all other
        requests and notices.
        """
        ...

    def noise(self, reason: str, sample: bytes) -> None:
        """Something came that is no message: counted and shown, otherwise ignored."""
        ...

    def failed(self, request: int, cause: Cause) -> None:
        """This one request cannot be answered (too long an answer, an HTTP error, a cut stream)."""
        ...

    def lost(self, cause: Cause) -> None:
        """The link is gone. The last thing a link says."""
        ...


class Link(Protocol):
    """A way to one server."""

    @property
    def cancels_by_closing(self) -> bool:
        """Whether `abandon` itself tells the server, so that no cancel notice is sent."""
        ...

    async def open(self, receiver: Receiver) -> None:
        """Make the way ready, or raise `LinkFailed`."""
        ...

    def send(self, message: Outgoing) -> None:
        """Take a message; raises `Busy` when too much is waiting already."""
        ...

    def abandon(self, request: int) -> None:
        """Nobody waits for this request any more."""
        ...

    async def close(self) -> None:
        """Let go of everything; never raises, may be called twice. No `lost` after it."""
        ...


@runtime_checkable
class EraAware(Protocol):
    """A link that behaves by era: streamable HTTP does."""

    modern: bool
    protocol_version: str | None

    def open_get_stream(self) -> None:
        """Listen for what a server of the handshake era says unasked."""
        ...


class LinkFailed(Exception):
    """A link could not be opened."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause


class Busy(Exception):
    """Too much is waiting to be written."""
