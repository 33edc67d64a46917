"""The JSON-RPC peer: who waits for which answer.

The hot path of the whole yard, so one future a request, no task, no timer of its own, no logging.
The callbacks of others are handed to the event loop instead of being called from here: one that
raises must not end the connection it is about. Waiters are told at once, and raise nothing.
"""

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.domain.started_calls import CallWaiter
from mcpyard.wire import jsonrpc
from mcpyard.wire.faults import fault
from mcpyard.wire.jsonrpc import Envelope, Params, Reply
from mcpyard.wire.link import Busy, Link, Outgoing
from mcpyard.wire.pending import (
    FLOOD,
    NO_EXTRAS,
    OVERSIZE,
    PendingCall,
    Progress,
    RequestExtras,
    Stats,
)
from mcpyard.wire.server_requests import OnRequest, ServerRequests, refuse

OnNotification = Callable[[str, bytes, int | None], None]
"""A server sent a notification: method, parameters, stream."""

OnNoise = Callable[[str, bytes], None]
"""Something came that is no message: why not, and how it begins."""

_MOST_NOISE: Final = 100
_SHOWN_NOISE: Final = 200

LISTEN: Final = "subscriptions/listen"
"""The one request whose answer stream a server may end by a cancel notice."""

_ENDS: Final = 4096
"""Bytes of each end of what is no message, looked at to tell whose answer it should have been."""

_progress = msgspec.json.Decoder(Progress)


class Peer:
    """Our end of a conversation with one server; the `Receiver` of its link.

    Attributes:
        stats: What came over the link.
        gone: Why the link is of no use any more; None while it is.
        server_requests: What the other side asks.
    """

    def __init__(
        self,
        link: Link,
        *,
        on_request: OnRequest = refuse,
        on_notification: OnNotification | None = None,
        on_lost: Callable[[Cause], None] | None = None,
        on_noise: OnNoise | None = None,
    ) -> None:
        self.stats = Stats()
        self.gone: Cause | None = None
        self._link = link
        self._on_notification = on_notification
        self._on_lost = on_lost
        self._on_noise = on_noise
        self._loop = asyncio.get_running_loop()
        self._pending: dict[jsonrpc.Id | None, PendingCall] = {}
        self.server_requests = ServerRequests(on_request, self._reply)
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._last = 0
        self._handed_on = 0

    @property
    def in_flight(self) -> int:
        """How many of our requests wait for an answer."""
        return len(self._pending)

    @property
    def working(self) -> bool:
        """Whether any of them has a time limit."""
        return any(call.deadline for call in self._pending.values())

    async def open(self) -> None:
        """Open the link, or raise `LinkFailed`."""
        await self._link.open(self)

    async def close(self) -> None:
        """Fail whatever waits and let go of the link."""
        self._end(Cause(Code.CLOSED, "the connection was closed by mcpyard"))
        await self._link.close()

    def fail(self, cause: Cause) -> None:
        """Fail whatever waits, and whatever is asked from now on."""
        self._end(cause)

    async def request(self, method: str, params: Params, terms: CallTerms) -> Reply:
        """Ask, and wait for the answer.

        Raises:
            RpcError: The server answered with an error.
            TimedOut: It did not answer in time; it was told that nobody waits any more.
            Disconnected: The link is lost; carries the cause, as the other faults do.
        """
        return await self.wait(self.start(method, params, terms))

    def start(
        self,
        method: str,
        params: Params,
        terms: CallTerms,
        extras: RequestExtras = NO_EXTRAS,
        waiter: CallWaiter | None = None,
    ) -> PendingCall:
        """Send a request; `wait` must follow, or `leave` whenever nobody waits any more.

        Args:
            method: The method.
            params: Its parameters; JSON bytes go out as they are.
            terms: Time-out and progress.
            extras: What the era adds.
            waiter: Is told of the answer in the place of a future, from within `message`.
        """
        if self.gone is not None:
            raise fault(self.gone)
        self._last = number = self._last + 1
        body = params if type(params) is bytes else jsonrpc.encode(params)
        meta = extras.meta
        if terms.progress is not None or terms.longest is not None:
            token = b'"progressToken":%d' % number
            meta = b"%b,%b" % (meta, token) if meta else token
        if meta:
            body = jsonrpc.with_meta(body, meta)
        body = jsonrpc.request(number, method, body)
        self._link.send(Outgoing(body, number, method, extras.headers, not self._pending))
        waiter = waiter or self._loop.create_future()
        self._pending[number] = call = self._pend(number, method, waiter, terms)
        return call

    async def wait(self, call: PendingCall) -> Reply:
        """The answer to a started request; whoever stops waiting cancels it upstream."""
        try:
            return await call.future
        finally:
            self.leave(call)
            # An error that came by the future would hold this frame, and the frame the future.
            del call

    def leave(self, call: PendingCall) -> None:
        """Its caller waits no more; unless it is answered, the server is told."""
        if call.id in self._pending:
            self._give_up(call, "the caller disconnected")

    def drop(self, call: PendingCall) -> None:
        """Wait no more for a started request, without a word to the server."""
        if self._pending.pop(call.id, None) is None:
            return
        if self.gone is None:
            self._link.abandon(call.id)

    def hold(self, number: int) -> None:
        """Let the clock of a request stand still; `release` must follow."""
        call = self._pending.get(number)
        if call is None or not call.deadline:
            return
        call.held += 1
        if call.held == 1:
            call.held_since = self._loop.time()

    def release(self, number: int) -> None:
        """Let the clock of a request go on, once nobody holds it any more."""
        call = self._pending.get(number)
        if call is None or not call.held:
            return
        call.held -= 1
        if not call.held:
            stood = self._loop.time() - call.held_since
            call.deadline += stood
            call.latest = call.latest and call.latest + stood
            self._wake_at(call.deadline)

    def notify(self, method: str, params: Params = None) -> None:
        """Send a notification."""
        if self.gone is not None:
            raise fault(self.gone)
        body = jsonrpc.notification(method, jsonrpc.encode(params))
        self._link.send(Outgoing(body, None, method))

    def message(self, frame: bytes, stream: int | None) -> bool:
        """A message came (see `Receiver`)."""
        self.stats.received += 1
        try:
            envelope = jsonrpc.read(frame)
        except (ValueError, RecursionError):
            return self._not_an_envelope(frame, stream)
        if envelope.method is None:
            return self._on_reply(envelope)
        self._dispatch(envelope, envelope.method, stream)
        return self.stats.unasked_is_of_use(envelope.method)

    def noise(self, reason: str, sample: bytes) -> None:
        """Something came that is no message (see `Receiver`)."""
        if reason == OVERSIZE:
            self.stats.oversize += 1
        else:
            self.stats.noise += 1
        # A server that does nothing else is not to fill the log with it.
        few = self.stats.noise + self.stats.oversize <= _MOST_NOISE or reason == FLOOD
        if self._on_noise is not None and few:
            self._loop.call_soon(self._on_noise, reason, sample[:_SHOWN_NOISE])

    def failed(self, request: int, cause: Cause) -> None:
        """One request cannot be answered (see `Receiver`)."""
        if call := self._take(request):
            call.waiter.set_exception(fault(cause))

    def lost(self, cause: Cause) -> None:
        """The link is gone (see `Receiver`)."""
        if self.gone is None:
            self._end(cause)
            if self._on_lost is not None:
                self._loop.call_soon(self._on_lost, cause)

    def _end(self, cause: Cause) -> None:
        self.gone = self.gone or cause
        for number in list(self._pending):
            if call := self._take(number):
                call.waiter.set_exception(fault(cause))
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self.server_requests.end()

    def _pend(self, number: int, method: str, waiter: CallWaiter, terms: CallTerms) -> PendingCall:
        timeout, longest = terms.timeout, terms.longest
        if timeout is None:
            return PendingCall(number, method, waiter, terms.progress)
        now = self._loop.time()
        deadline = now + timeout
        latest = now + longest if longest is not None and longest > timeout else 0.0
        if self._alarm is None or deadline < self._alarm_at:
            self._wake_at(deadline)
        return PendingCall(number, method, waiter, terms.progress, timeout, deadline, latest)

    def _wake_at(self, moment: float) -> None:
        """Look at the deadlines at a moment, or sooner where that was planned already.

        One timer serves all requests: nearly all are answered in time, and are not to pay for it.
        """
        if self._alarm is not None:
            if self._alarm_at <= moment:
                return
            self._alarm.cancel()
        self._alarm_at = moment
        self._alarm = self._loop.call_later(
            max(0.0, moment - self._loop.time()), self._check_deadlines
        )

    def _check_deadlines(self) -> None:
        self._alarm, now = None, self._loop.time()
        running = [each for each in self._pending.values() if each.deadline and not each.held]
        for call in running:
            if call.deadline <= now:
                self._expire(call)
        if left := [each.deadline for each in running if each.deadline > now]:
            self._wake_at(min(left))

    def _expire(self, call: PendingCall) -> None:
        if not call.waiter.done():
            text = f"{call.method} was not answered in time ({call.timeout:g} s)"
            call.waiter.set_exception(TimedOut(text))
            self._give_up(call, "timeout")

    def _give_up(self, call: PendingCall, reason: str) -> None:
        self.drop(call)
        # The specification forbids cancelling `initialize`.
        if self.gone or self._link.cancels_by_closing or call.method == "initialize":
            return
        try:
            self.notify("notifications/cancelled", {"requestId": call.id, "reason": reason})
        except Busy:
            # The server is not reading; it will find nobody waiting soon enough.
            return

    def _take(self, number: jsonrpc.Id | None) -> PendingCall | None:
        """The call of that number, no longer pending; None when nobody waits for it."""
        call = self._pending.get(number)
        if call is None:
            return None
        # A caller that was cancelled in this very turn of the loop still has its cancel to send.
        if call.waiter.done():
            return None
        del self._pending[number]
        return call

    def _on_reply(self, envelope: Envelope) -> bool:
        """Hand an answer to whoever waits for it; whether somebody does."""
        call = self._take(envelope.id) or self._take_by_text(envelope.id)
        if call is None:
            return False
        if envelope.failed:
            call.waiter.set_exception(jsonrpc.read_error(envelope.error))
        elif envelope.result is jsonrpc.ABSENT:
            text = f"the answer to {call.method} has neither a result nor an error"
            call.waiter.set_exception(fault(Cause(Code.GARBAGE, text)))
        elif self._handed_on and not call.is_awaited:
            # What came before the answer must reach its caller before it, as it does with a future.
            self._loop.call_soon(call.answer, Reply(envelope.result))
        else:
            call.waiter.set_result(Reply(envelope.result))
        return True

    def _take_by_text(self, number: jsonrpc.Id | None) -> PendingCall | None:
        """The call whose number was sent back as a text: it is still its number."""
        return self._take(whole_number(number)) if isinstance(number, str) else None

    def _not_an_envelope(self, frame: bytes, stream: int | None) -> bool:
        """Take what may be a batch; whether all of it is of use, or an answer is."""
        if frame.lstrip()[:1] == b"[":
            try:
                elements = jsonrpc.read_batch(frame)
            except (ValueError, RecursionError):
                elements = []
            useful, waiting = True, len(self._pending)
            for element in elements:
                # An element that is a list again is no message: no recursion into it.
                if element.startswith(b"["):
                    self.noise("a batch in a batch", element)
                    useful = False
                else:
                    useful &= self.message(element, stream)
            if elements:
                return useful or len(self._pending) < waiting
        head, tail = frame[:_ENDS], frame[-_ENDS:]
        self.noise("not a JSON-RPC message", head)
        number = jsonrpc.find_id(head, tail)
        if number is not None:
            self.failed(number, Cause(Code.GARBAGE, "the server's answer is not valid JSON"))
        return False

    def _dispatch(self, envelope: Envelope, method: str, stream: int | None) -> None:
        params = b"{}" if envelope.params is jsonrpc.ABSENT else bytes(envelope.params)
        if envelope.id is not None:
            self.server_requests.answer(envelope.id, method, params, stream)
        elif method == "notifications/progress":
            self._on_progress(params)
        elif method == "notifications/cancelled":
            self._on_cancelled(params)
        elif self._on_notification is not None:
            self._loop.call_soon(self._on_notification, method, params, stream)
        self._handed_on += 1
        self._loop.call_soon(self._was_handed_on)

    def _was_handed_on(self) -> None:
        self._handed_on -= 1

    def _on_progress(self, params: bytes) -> None:
        try:
            progress = _progress.decode(params)
        except ValueError:
            self.noise("unreadable progress", params)
            return
        call = self._pending.get(progress.progress_token)
        if call is None:
            return
        if call.latest:
            call.deadline = min(self._loop.time() + call.timeout, call.latest)
        if call.progress is not None:
            self._loop.call_soon(call.progress, msgspec.to_builtins(progress))

    def _on_cancelled(self, params: bytes) -> None:
        try:
            number = self.server_requests.cancel(params)
        except ValueError:
            self.noise("unreadable cancel notice", params)
            return
        # A server ends a long stream of ours, and only such a one, in the same words.
        call = self._pending.get(number)
        if call is not None and call.method == LISTEN:
            self.failed(call.id, Cause(Code.CLOSED, "the server ended the stream"))

    def _reply(self, body: bytes) -> None:
        if self.gone is not None:
            return
        try:
            self._link.send(Outgoing(body, None, ""))
        except Busy:
            # A server that asks without reading its answers; it is its own loss.
            return
