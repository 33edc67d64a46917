"""Which era a server is of: ask, and let the first success decide.

`server/discover` goes first. An error answer to it, or silence, brings `initialize` after it, and
both stay pending: a slow modern server answers the one late and refuses the other, an old one may
ignore what it does not know. A server known to be of the handshake era gets no other question
unless it refuses that one, as it may be one that dies of an unknown method.
"""

import asyncio
from typing import Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import ServerFault
from mcpyard.domain.narrowing import is_array
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace, Era, InitializeResult, members
from mcpyard.wire.handshake import initialize_params, read_initialize
from mcpyard.wire.jsonrpc import UNSUPPORTED_VERSION, Reply, RpcError
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.modern import VERSION, Modern, read_discover
from mcpyard.wire.peer import Peer
from mcpyard.wire.pending import PendingCall

SILENCE: Final = 3.0
"""Seconds without an answer after which the other era is tried too."""

DISCOVER: Final = "server/discover"

_DECISIVE: Final = frozenset({Code.NEEDS_AUTH, Code.FORBIDDEN, Code.UNSUPPORTED_VERSION})
"""Causes that asking in the other era cannot change."""


async def probe(
    peer: Peer, face: ClientFace, last_era: Era | None, silence: float
) -> InitializeResult:
    """Meet the server.

    Raises:
        LinkFailed: It refused in both eras, died, wants a sign-in, or speaks no known version.
    """
    questions = _Questions(peer, face)
    first: Era = last_era or "modern"
    other: Era = "modern" if first == "handshake" else "handshake"
    try:
        questions.ask(first)
        result = await questions.next_result(silence if first == "modern" else None)
        if result is None:
            questions.ask(other)
        while result is None and questions.open:
            result = await questions.next_result(None)
        if result is None:
            raise LinkFailed(questions.verdict())
        return result
    finally:
        questions.drop()


def late_cause(peer: Peer, seconds: float) -> Cause:
    """Why a server that did not answer in time could not be met."""
    text = f"the server did not answer within {seconds:g} s of its start"
    if not peer.stats.noise:
        return Cause(Code.START_TIMEOUT, text)
    return Cause(Code.GARBAGE, f"{text}, and its output is not JSON-RPC messages of one line each")


class _Questions:
    """The one or two requests that wait for the server's first word."""

    def __init__(self, peer: Peer, face: ClientFace) -> None:
        self._peer = peer
        self._face = face
        self._calls: dict[asyncio.Future[Reply], PendingCall] = {}
        self._failures: list[Cause] = []
        self._again = False

    @property
    def open(self) -> bool:
        """Whether any answer is still to come."""
        return bool(self._calls)

    def ask(self, era: Era) -> None:
        """Send the first request of an era."""
        if era == "handshake":
            call = self._peer.start("initialize", initialize_params(self._face), CallTerms())
        else:
            extras = Modern(self._face).extras(DISCOVER, None, CallTerms())
            call = self._peer.start(DISCOVER, None, CallTerms(), extras)
        self._calls[call.future] = call

    async def next_result(self, seconds: float | None) -> InitializeResult | None:
        """The result in the next answer; None when that has none, or nothing comes in time."""
        done, _ = await asyncio.wait(
            self._calls, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        for future in done:
            call = self._calls.pop(future)
            if self._wants_it_again(call):
                self.ask("modern")
                return await self.next_result(seconds)
            if result := self._read(call):
                return result
        return None

    def _wants_it_again(self, call: PendingCall) -> bool:
        """Whether a server refused our version and names it as one of its own, for the first time.

        One that is being replaced, or stands behind several doors, may know it the next moment.
        """
        error = call.future.exception()
        if self._again or not isinstance(error, RpcError) or error.code != UNSUPPORTED_VERSION:
            return False
        supported: object = members(error.data).get("supported")
        named = is_array(supported) and VERSION in supported
        self._again = named and call.method == DISCOVER
        return self._again

    def verdict(self) -> Cause:
        """Why neither era would do: the one that says most, else the last."""
        for cause in self._failures:
            if cause.code is Code.UNSUPPORTED_VERSION:
                return cause
        return self._failures[-1]

    def drop(self) -> None:
        """Wait for nothing more; the server is told nothing, since it may not know the question."""
        for call in self._calls.values():
            # An answer that came together with the decisive one has been seen, refusal or not.
            call.future.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._peer.drop(call)

    def _read(self, call: PendingCall) -> InitializeResult | None:
        try:
            if call.method == "initialize":
                return read_initialize(call.future.result())
            if result := read_discover(call.future.result()):
                return result
            text = "the server answered server/discover without a supported protocol version"
            self._failures.append(Cause(Code.REFUSED_HANDSHAKE, text))
        except RpcError as error:
            self._failures.append(_refusal(call.method, error))
        except ServerFault as error:
            cause = error.cause or Cause(Code.REFUSED_HANDSHAKE, error.message)
            self._failures.append(cause)
            if self._peer.gone is not None or cause.code in _DECISIVE:
                raise LinkFailed(cause) from error
        return None


def _refusal(method: str, error: RpcError) -> Cause:
    if error.code == UNSUPPORTED_VERSION and method == DISCOVER:
        supported = members(error.data).get("supported")
        text = f"the server supports no known protocol version: {error.message}"
        return Cause(Code.UNSUPPORTED_VERSION, text, f"it supports {supported}")
    text = f"the server refused {method}: {error.message} ({error.code})"
    return Cause(Code.REFUSED_HANDSHAKE, text)
