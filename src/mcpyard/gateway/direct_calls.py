"""Calls of tools that need no task: sent at once, and answered when the server's answer comes.

They take the steps of every call, by the same functions. Whatever is not plain about one is left to
the usual way: before it began by saying no, and afterwards, when it is late, withdrawn, failed or
more comes than its answer, by a task that waits for it from then on.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from msgspec import Struct
from starlette.types import Receive, Scope, Send

from mcpyard.asgi_scope import OpenRequest
from mcpyard.domain.errors import YardError
from mcpyard.domain.observed import Era
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.gateway.answering import answer, answer_at_once, outcome, refusal_of
from mcpyard.gateway.era_bridge import is_wanted
from mcpyard.gateway.exchange import Exchange, Watch
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.links import with_links_exposed
from mcpyard.gateway.requests import GatewayClient, arguments_of, read_plain_call
from mcpyard.gateway.sessions import ClientSession
from mcpyard.wire.jsonrpc import Id, RpcError, notification
from mcpyard.yard.calls.attempt import Attempt
from mcpyard.yard.calls.call_context import NO_EXTRAS, CallContext
from mcpyard.yard.calls.pipeline import CallPipeline


class DirectCalls(Struct, frozen=True, eq=False):
    """The calls of one session over one connection.

    Attributes:
        find: Finds the session, as long as there is one.
        exposure: What its address shows now.
        calls: Carries the calls out.
        watch: Tells which of them are late.
    """

    find: Callable[[], ClientSession | None]
    exposure: Callable[[], Exposure]
    calls: CallPipeline
    watch: Watch

    def __call__(self, request: OpenRequest, body: bytes) -> bool:
        """Begin a call; False, with nothing done, where it has to go the usual way."""
        message, session = read_plain_call(body), self.find()
        if message is None or session is None:
            return False
        number, client = message.id, session.client
        if number in session.running or client.abilities:
            return False
        try:
            exposure = self.exposure()
        except YardError:
            return False
        params = message.params
        target = exposure.tools.get(params.name)
        if target is None or target.era is not Era.HANDSHAKE:
            return False
        call = DirectCall(self, request, session, client, number, exposure)
        context = CallContext(
            client.who,
            None,
            NO_EXTRAS,
            None,
            None,
            call.notify,
            client.capabilities,
            client.log_level,
            client.client_key,
            exposure.allows,
        )
        attempt = self.calls.start(target.route, arguments_of(params.arguments), context, call)
        if attempt is None:
            return False
        call.begin(attempt)
        return True


class DirectCall(Struct, eq=False):
    """One call: what is told of its answer, and of all that may happen before."""

    _deps: DirectCalls
    _request: OpenRequest
    _session: ClientSession
    _client: GatewayClient
    _number: Id
    _exposure: Exposure
    _attempt: Attempt | None = None
    _exchange: Exchange | None = None
    _later: tuple[Callable[[Exchange], None], ...] = ()

    def begin(self, attempt: Attempt) -> None:
        """The call was sent."""
        self._attempt = attempt
        self._session.running[self._number] = self
        self._deps.watch.add(self)

    def done(self) -> bool:
        """Never while anybody asks: with the answer, or a task, nobody holds it any more."""
        return False

    def set_result(self, reply: ServerReply) -> None:
        """The server answered."""
        attempt = self._attempt
        if attempt is None or not reply.is_short:
            self._wait().set_result(reply)
            return
        # The attempt leads back here, and both are over.
        self._attempt = None
        self._deps.watch.drop(self)
        # Before the client can know the answer and use the id again.
        self._session.running.pop(self._number, None)
        result, refusal = b"", None
        try:
            result = self._exposed(self._deps.calls.finish(attempt, reply), attempt)
        except Exception as error:  # noqa: BLE001  whatever it is, the client gets an answer
            refusal = refusal_of(error)
        if not answer_at_once(self._request.send_whole, self._number, result, refusal):
            self._request.go_on(partial(self._answer, result, refusal))

    def set_exception(self, error: Exception) -> None:
        """The server did not answer, or not with a result."""
        self._wait().set_exception(error)

    def watch(self) -> None:
        """It is late (see `Watch`)."""
        self._have(self._watch)

    def withdraw(self) -> None:
        """The client does not want the answer any more, but is there."""
        self._have(Exchange.withdraw)

    def notify(self, method: str, params: bytes) -> None:
        """The server sent a notification about the call."""
        if is_wanted(self._client, method, params):
            message = notification(method, params)
            self._have(lambda exchange: exchange.send(message))

    def _have(self, act: Callable[[Exchange], None]) -> None:
        """Have an exchange do something, which is only there once a task waits for the answer."""
        if self._attempt is not None:
            self._wait()
        if self._exchange is None:
            self._later += (act,)
        else:
            act(self._exchange)

    def _wait(self) -> CallWaiter:
        """Have a task wait for the answer; returns what is to be told of it from now on."""
        attempt, self._attempt = cast("Attempt", self._attempt), None
        self._deps.watch.drop(self)
        waiter = attempt.call.hand_over()
        self._request.go_on(partial(self._resume, attempt))
        return waiter

    async def _resume(self, attempt: Attempt, _scope: Scope, receive: Receive, send: Send) -> None:
        with self._exchanging(receive, send) as exchange:
            self._exchange = exchange
            for act in self._later:
                act(exchange)
            work = partial(self._rest, attempt)
            ended = await outcome(self._session, self._number, exchange, work)
            await answer(exchange, self._number, *ended)

    async def _rest(self, attempt: Attempt, _exchange: Exchange) -> bytes:
        return self._exposed(await self._deps.calls.resume(attempt), attempt)

    async def _answer(
        self, result: bytes, refusal: RpcError | None, _scope: Scope, receive: Receive, send: Send
    ) -> None:
        with self._exchanging(receive, send) as exchange:
            await answer(exchange, self._number, result, refusal)

    def _exchanging(self, receive: Receive, send: Send) -> Exchange:
        whole, stream = self._request.send_whole, self._session.open_stream
        return Exchange(self._deps.watch, receive, send, whole, stream)

    def _watch(self, exchange: Exchange) -> None:
        self._deps.watch.drop(exchange)
        exchange.watch()

    def _exposed(self, raw: bytes, attempt: Attempt) -> bytes:
        return with_links_exposed(raw, self._exposure.addresses, attempt.route.server)
