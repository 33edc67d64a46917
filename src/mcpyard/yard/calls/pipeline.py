"""The way of a call: route, validate, policy, fallback, deadline, call, outcome, account."""

from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import orjson

from mcpyard.catalog.routes import Route
from mcpyard.domain.call_contents import WINDOW
from mcpyard.domain.callers import Caller, Callers
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import (
    ArgumentsRefused,
    Problem,
    ServerUnknown,
    ToolUnknown,
    YardError,
)
from mcpyard.domain.model import Config
from mcpyard.domain.narrowing import is_mapping, is_object
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import CallTerms, RequestHandler
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.yard.calls.accounts import Accounts
from mcpyard.yard.calls.attempt import Attempt, CallBooks
from mcpyard.yard.calls.call_context import LIBRARY, NO_EXTRAS, CallContext, CallExtras, with_hops
from mcpyard.yard.calls.fallback import CallDeps, Fallback, FallbackStep
from mcpyard.yard.calls.outcome import Outcome, PassedOver
from mcpyard.yard.calls.recording import Recording
from mcpyard.yard.calls.results import check_result
from mcpyard.yard.directory import is_a_yard

INPUT_RESPONSES: Final = "inputResponses"
"""The parameter of a call with what was answered to the questions of its server."""

LONGEST_CALL: Final = 600.0
"""Seconds past which progress extends no call."""


class CallPipeline:
    """Carries out tool calls, and other requests to servers.

    Attributes:
        fallback: Finds a server that answers in the place of another.
        callers: Whose calls they are, and how many of them.
        recording: Records what calls were given and answered.
    """

    def __init__(self, deps: CallDeps, accounts: Accounts) -> None:
        self.callers = Callers(frozenset({LIBRARY}))
        self.fallback = Fallback(deps)
        self.recording = Recording(accounts, deps)
        self._book = deps.book
        self._servers = deps.servers
        self._desired = deps.desired
        self._books = CallBooks(self.fallback, accounts, deps.clock)
        self._yards: set[UUID] = set()

    def observed(self, server: DesiredServer, observed: Observed) -> None:
        """A server is in another state."""
        (self._yards.add if is_a_yard(observed) else self._yards.discard)(server.id)
        self.fallback.observed(server, observed)

    def route(self, name: str) -> Route:
        """The route of an exposed name.

        Raises:
            ToolUnknown: There is no such tool.
        """
        route = self._book.route(name)
        if route is None:
            raise ToolUnknown(f'there is no tool "{name[:80]}"')
        return route

    def call(
        self,
        route: Route,
        arguments: bytes,
        context: CallContext,
        parsed: dict[str, object] | None = None,
    ) -> Coroutine[Any, Any, Outcome]:
        """Call a tool, or one of its fallbacks (see `Fallback`).

        Args:
            route: The tool.
            arguments: A JSON object.
            context: In whose name.
            parsed: The arguments, where they are decoded already.

        Raises:
            ToolUnknown: The tool is switched off, or its server is gone.
            ArgumentsRefused: The arguments break its schema; the server was not called.
            TimedOut: The time ran out; the server was told.
            ServerFault: The server cannot be reached, is busy, or answered with an error.
            OverQuota: The caller has too many calls in flight.
        """
        server, parsed = self._checked(route, arguments, context, parsed)
        if route.fallbacks and context.fall_back:
            # The caller may change what it gave while another server is asked.
            step = FallbackStep(route, dict(parsed), arguments, checked=True)
            return self.fallback.answer(step, context, self._attempt_unnamed)
        return self._attempt(route, arguments, context, server)

    def start(
        self, route: Route, arguments: bytes, context: CallContext, waiter: CallWaiter
    ) -> Attempt | None:
        """Begin a plain call at once; its waiter is told of the answer.

        With the answer `finish` must follow, else `resume`. None, with nothing done, where `call`
        would do more than send it, or would refuse it.
        """
        caller = self.callers.of(context.who)
        resting = self.fallback.breakers.is_open(route)
        if resting or route.fallbacks or self._yards or caller.is_full:
            return None
        try:
            server, _ = self._checked(route, arguments, context)
        except YardError:
            return None
        began = self._books.clock.monotonic()
        attempt = Attempt(self._books, route, context.who, caller, arguments, began)
        on_request = attempt.asking(context.on_request)
        terms = _terms(server.config, route, context, caller, on_request)
        started = self._servers.start(route.server, route.tool.name, arguments, terms, waiter)
        if started is None:
            return None
        caller.enter()
        attempt.started = started
        return attempt

    def finish(self, attempt: Attempt, reply: ServerReply) -> bytes:
        """The result object that a started call was answered with.

        Raises:
            ProtocolBroken: It is none.
        """
        try:
            raw = attempt.taken(attempt.call.answered(reply))
        except BaseException as error:
            attempt.over(error)
            raise
        attempt.over()
        return raw

    async def resume(self, attempt: Attempt) -> bytes:
        """Wait for a started call after all, as `call` does (see `StartedCall.hand_over`)."""
        try:
            raw = attempt.taken(await attempt.call.wait())
        except BaseException as error:
            attempt.over(error)
            raise
        attempt.over()
        return raw

    def call_with(
        self, route: Route, arguments: Mapping[str, object] | None, context: CallContext
    ) -> Coroutine[Any, Any, Outcome]:
        """Call a tool with arguments that are not encoded yet (see `call`)."""
        parsed = _object(arguments)
        return self.call(route, _encode(parsed), context, parsed)

    async def request(
        self, server: UUID, method: str, params: bytes, context: CallContext
    ) -> bytes:
        """Ask a server anything else; the result object as it came (see `call`)."""
        desired = self._desired().get(server)
        if desired is None:
            raise ServerUnknown("the server was removed")
        caller = self.callers.of(context.who)
        terms = _terms(desired.config, None, context, caller, context.on_request)
        try:
            caller.enter()
            raw = await self._servers.request(server, method, params, terms)
        finally:
            caller.calls -= 1
        check_result(raw)
        return raw

    def release(self, client_key: str) -> None:
        """A client went; so do the processes that it had for itself."""
        self._servers.release(client_key)

    def _attempt_unnamed(
        self,
        route: Route,
        arguments: bytes,
        context: CallContext,
        passed_over: Sequence[PassedOver],
    ) -> Coroutine[Any, Any, Outcome]:
        """Call one of several tools that may answer."""
        server = self._server(route)
        return self._attempt(
            route, arguments, context, server, named=False, passed_over=tuple(passed_over)
        )

    async def _attempt(  # noqa: PLR0913  one a part of a call
        self,
        route: Route,
        arguments: bytes,
        context: CallContext,
        server: DesiredServer,
        *,
        named: bool = True,
        passed_over: Sequence[PassedOver] = (),
    ) -> Outcome:
        """Call one tool, and account for the call; an error names the server unless not wanted."""
        caller = self.callers.of(context.who)
        plain = context.extras is NO_EXTRAS and not self._yards
        params = None if plain else self._params(route, arguments, context.extras)
        began, who = self._books.clock.monotonic(), context.who
        breakers = self.fallback.breakers
        attempt = Attempt(
            self._books, route, who, caller, arguments, began, named, passed_over=passed_over
        )
        if not plain and (answers := context.extras.members.get(INPUT_RESPONSES)):
            attempt.answers = (answers[:WINDOW],)
        on_request = context.on_request and attempt.asking(context.on_request)
        terms = _terms(server.config, route, context, caller, on_request, attempt)
        try:
            caller.enter()
            if breakers.known:
                attempt.probe = breakers.enter(route)
            if params is None:
                raw = await self._servers.call(route.server, route.tool.name, arguments, terms)
            else:
                raw = await self._servers.request(route.server, "tools/call", params, terms)
            attempt.taken(raw)
        except BaseException as error:
            attempt.over(error)
            raise
        attempt.over()
        return Outcome(raw, route.server_name, route.tool.name, attempt.ms, server_id=route.server)

    def _checked(
        self,
        route: Route,
        arguments: bytes,
        context: CallContext,
        parsed: dict[str, object] | None = None,
    ) -> tuple[DesiredServer, dict[str, object]]:
        """The server of a tool that may be called so, and the arguments decoded."""
        server = self._server(route)
        if not context.may_use(server, route):
            tool = f'the tool "{route.tool.name}" of the server "{route.server_name}"'
            raise ToolUnknown(f"{tool} is disabled")
        if parsed is None:
            parsed = _parse(arguments)
        if problems := route.validator.check(parsed):
            raise ArgumentsRefused.of(*problems).about(route.server_name)
        return server, parsed

    def _server(self, route: Route) -> DesiredServer:
        server = self._desired().get(route.server)
        if server is None:
            raise ToolUnknown(f'the server "{route.server_name}" was removed')
        return server

    def _params(self, route: Route, arguments: bytes, extras: CallExtras) -> bytes | None:
        """All parameters for a server; None where there are only a name and arguments."""
        is_yard = route.server in self._yards
        members, meta, hops = extras
        if is_yard:
            meta = with_hops(meta, hops)
        elif not (members or meta):
            return None
        parts = [b'"name":%b,"arguments":%b' % (orjson.dumps(route.tool.name), arguments)]
        parts += [b"%b:%b" % (orjson.dumps(name), value) for name, value in members.items()]
        if meta:
            parts.append(b'"_meta":{%b}' % meta)
        return b"{%b}" % b",".join(parts)


def _object(arguments: Mapping[str, object] | None) -> dict[str, object]:
    if type(arguments) is dict:
        return arguments  # pyright: ignore[reportUnknownVariableType]
    if arguments is None:
        return {}
    if not is_mapping(arguments):
        raise ArgumentsRefused.of(Problem("arguments", "must be an object"))
    return dict(arguments)


def _encode(arguments: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(arguments)
    except TypeError as error:
        raise ArgumentsRefused.of(
            Problem("arguments", f"cannot be sent as JSON: {error}")
        ) from None


def _parse(arguments: bytes) -> dict[str, object]:
    try:
        parsed: object = orjson.loads(arguments)
    except ValueError as error:
        raise ArgumentsRefused.of(Problem("arguments", f"are not JSON: {error}")) from None
    if not is_object(parsed):
        raise ArgumentsRefused.of(Problem("arguments", "must be an object"))
    return parsed


def _terms(  # noqa: PLR0913, PLR0917  called for every call
    config: Config,
    route: Route | None,
    context: CallContext,
    caller: Caller,
    on_request: RequestHandler | None,
    waiting: Attempt | None = None,
) -> CallTerms:
    timeout, extends = config.timeout, config.progress_extends
    if route is not None:
        policy = route.policy
        timeout = policy.timeout or timeout
        extends = extends if policy.progress_extends is None else policy.progress_extends
    seconds = timeout / 1000 if context.timeout is None else context.timeout
    # A call to `max` would cost as much as the rest.
    longest = LONGEST_CALL if seconds < LONGEST_CALL else seconds  # noqa: FURB136
    if waiting is not None:
        waiting.limit = seconds
    return CallTerms(
        seconds,
        longest if extends else None,
        context.progress,
        on_request,
        context.on_notification,
        context.capabilities,
        context.log_level,
        context.client_key,
        caller,
        waiting,
    )
