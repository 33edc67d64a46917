"""A link over one TLS connection: whole messages, a line each, as over the pipes of a server."""

import asyncio
import ssl
from typing import Final, cast

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.quantities import HARD_MAX_MESSAGE
from mcpyard.wire.framer import Event, LineFramer
from mcpyard.wire.link import Busy, Outgoing, Receiver
from mcpyard.wire.pending import OVERSIZE
from mcpyard.wire.pipes import Inlet, Outlet

FRAME_LIMIT: Final = HARD_MAX_MESSAGE + 1024 * 1024
"""The longest message: the longest that a server may send, and what stands around it."""

QUEUE_LIMIT: Final = 2 * FRAME_LIMIT
"""What may wait for a node that does not read; it is cut off after seconds anyway."""

_ADVICE: Final = "Check the node and the network between the nodes."


class _Connection(Inlet):
    """Both halves of a connection; reads in turns, writes once a turn."""

    def __init__(self, link: "SocketLink") -> None:
        super().__init__(LineFramer(FRAME_LIMIT), link.on_frame, link.on_closed)
        self.outlet = Outlet(QUEUE_LIMIT, link.on_closed)
        self.heard_at = self._loop.time()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        super().connection_made(transport)
        self.outlet.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.heard_at = self._loop.time()
        super().data_received(data)

    def pause_writing(self) -> None:
        self.outlet.pause_writing()

    def resume_writing(self) -> None:
        self.outlet.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.outlet.connection_lost(exc)


class SocketLink:
    """A `Link` over a connection that was accepted, or that was dialed.

    Unlike one to a child it never drops an answer: a link that cannot take one is cut.

    Attributes:
        protocol: What the event loop is given for the connection.
        closed_text: What to say when the other side closes it.
    """

    cancels_by_closing = False

    def __init__(self) -> None:
        self.closed_text = "the other node closed the connection"
        self._receiver: Receiver | None = None
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._connection = _Connection(self)
        self.protocol: asyncio.Protocol = self._connection

    @property
    def ssl_object(self) -> ssl.SSLObject:
        """The TLS session of the connection."""
        transport = self._connection.transport
        assert transport  # noqa: S101  asked for once it is made
        return cast("ssl.SSLObject", transport.get_extra_info("ssl_object"))

    @property
    def heard_at(self) -> float:
        """When anything came last, by the event loop's clock."""
        return self._connection.heard_at

    def excuse_silence(self) -> None:
        """Count from now on: this process slept, and what came meanwhile is not read yet."""
        self._connection.heard_at = self._loop.time()

    def attach(self, receiver: Receiver) -> None:
        """Hand what comes to a receiver."""
        self._receiver = receiver

    async def open(self, receiver: Receiver) -> None:
        """The connection is made already (see `Link`)."""
        self.attach(receiver)

    def send(self, message: Outgoing) -> None:
        """Queue a message."""
        try:
            self._connection.outlet.write(message.body, at_once=message.alone)
        except Busy:
            if message.id is not None:
                raise
            self.cut("the other node does not read what is sent to it")

    def abandon(self, request: int) -> None:
        """Nothing to do: all answers share one stream."""

    def cut(self, reason: str) -> None:
        """Give the connection up."""
        if self._closed:
            return
        self._closed = True
        if self._connection.transport is not None:
            self._connection.transport.abort()
        if self._receiver is not None:
            # From within `send` the peer is not to hear of it.
            self._loop.call_soon(self._receiver.lost, Cause(Code.CLOSED, reason, _ADVICE))

    async def close(self) -> None:
        """Let go of the connection, without waiting for a node that may be frozen."""
        self._closed = True
        if self._connection.transport is not None:
            self._connection.transport.abort()
            await asyncio.wait({self._connection.gone})

    def on_frame(self, event: Event) -> bool:
        """Hand on what came. No message of a node is of no use: it is read as fast as it comes."""
        if self._receiver is None or self._closed:
            return True
        if isinstance(event, bytes):
            self._receiver.message(event, None)
            return True
        self._receiver.noise(OVERSIZE, event.head)
        self.cut("the other node sent a message that is too long")
        return False

    def on_closed(self, _cause: Cause) -> None:
        """One half of the connection is gone."""
        self.cut(self.closed_text)
