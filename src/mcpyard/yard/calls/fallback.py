"""Which server answers in the place of another, and when.

A call moves on to a fallback when its server certainly never took it, or, where nobody knows, when
the tool is marked as safe to repeat. Every server is asked at most once, so fallbacks may name each
other. A server that does not respond, and a tool that ran into its time limit (see `ToolBreakers`),
are asked only where nobody else answers. A remote server that is away is probed meanwhile, so that
calls go to it again as soon as it is back.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec
import orjson

from mcpyard.catalog.routes import FallbackRoute, Route
from mcpyard.domain.call_repositories import RecordingSettings
from mcpyard.domain.definition.fallbacks import names_fallbacks
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import (
    ArgumentsRefused,
    CallRefused,
    Conflict,
    Disconnected,
    NeedsAuth,
    NobodyAnswered,
    NotFound,
    ProtocolBroken,
    ServerBusy,
    ServerFault,
    StartFailed,
    TimedOut,
    YardError,
)
from mcpyard.domain.lifecycle import ASLEEP, Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Clock, Servers
from mcpyard.yard.book import ToolBook
from mcpyard.yard.calls.breakers import ToolBreakers
from mcpyard.yard.calls.call_context import CallContext
from mcpyard.yard.calls.outcome import Outcome, PassedOver

_NOT_ASKED: Final = "no fallback was tried after that, because the call may have had an effect"

_NAMELESS: Final = (Disconnected, StartFailed, NeedsAuth, ProtocolBroken, ServerBusy, TimedOut)

Attempt = Callable[[Route, bytes, CallContext, Sequence[PassedOver]], Awaitable[Outcome]]
"""Calls one tool with arguments that fit its schema; told who was passed over before."""

Publish = Callable[[str, Mapping[str, object]], None]


class FallbackStep(NamedTuple):
    """One tool that could answer.

    Attributes:
        route: The tool.
        arguments: The arguments with the names that it has for them.
        encoded: The same as JSON.
        checked: Whether they are known to fit its schema.
    """

    route: Route
    arguments: dict[str, object]
    encoded: bytes
    checked: bool = False

    def translated(self, fallback: FallbackRoute, route: Route) -> "FallbackStep":
        """The step to a fallback of this one."""
        arguments = fallback.translate(self.arguments)
        same = arguments == self.arguments
        return FallbackStep(route, arguments, self.encoded if same else orjson.dumps(arguments))

    def check(self) -> None:
        """Raise `ArgumentsRefused` where the arguments do not fit the schema."""
        if not self.checked and (problems := self.route.validator.check(self.arguments)):
            raise ArgumentsRefused.of(*problems)


class CallDeps(NamedTuple):
    """What calls need, and where it is published which server answers for which."""

    book: ToolBook
    servers: Servers
    desired: Callable[[], Mapping[UUID, DesiredServer]]
    clock: Clock
    publish: Publish
    recording: RecordingSettings | None = None


class Fallback:
    """Finds a server that answers.

    Attributes:
        breakers: The tools that ran into their time limits.
    """

    def __init__(self, deps: CallDeps) -> None:
        self._deps = deps
        self.breakers = ToolBreakers(deps.clock)
        self._away: set[UUID] = set()

    async def answer(self, first: FallbackStep, context: CallContext, attempt: Attempt) -> Outcome:
        """Call the tool, else its fallbacks.

        Args:
            first: The tool, with arguments that fit its schema.
            context: In whose name; fallbacks that it does not allow are not even mentioned.
            attempt: Calls one of them.

        Raises:
            NobodyAnswered: Nobody answered; `passed_over` says why.
            YardError: Somebody failed in a way that no other may make up for.
        """
        passed: list[PassedOver] = []
        later: list[FallbackStep] = []
        for step in self._steps(first, context):
            if isinstance(step, PassedOver):
                passed.append(step)
            elif away := self._away_because(step.route):
                passed.append(PassedOver(step.route.server_name, away))
                later += [step] if self._may_yet_answer(step.route) else []
                self._deps.servers.probe(step.route.server)
            elif outcome := await _attempted(step, context, attempt, passed):
                return outcome
        # Nobody who is there has answered: the first who is about to come is waited for.
        for step in later[:1]:
            if outcome := await _attempted(step, context, attempt, passed):
                return outcome
        listed = "; ".join(f'"{each.server}": {each.why}' for each in passed)
        raise NobodyAnswered(f"no server answered: {listed}").noting("", tuple(passed))

    def observed(self, server: DesiredServer, observed: Observed) -> None:
        """Tell when a server with fallbacks is gone, and when it is there again."""
        phase = observed.state.phase
        if phase is Phase.CONNECTED:
            if server.id in self._away:
                self._away.discard(server.id)
                self._tell("recovered", server)
            return
        self.breakers.forget(server.id)
        coming = phase is Phase.CONNECTING and not observed.state.n
        expected = coming or _sleeps(server, phase)
        if expected or server.id in self._away or not names_fallbacks(server.config):
            return
        self._away.add(server.id)
        cause = observed.state.cause
        reason = cause.message if cause else f"is {phase}"
        self._tell("backup", server, backup=self._first_up(server.config.fallback), reason=reason)

    def answered(self, route: Route) -> None:
        """A tool answered."""
        if self.breakers.answered(route) and route.fallbacks:
            self._tell("recovered", self._deps.desired().get(route.server), route.tool.name)

    def failed(self, route: Route, error: YardError, *, waited: bool = False) -> None:
        """A call of a tool failed; an error of the protocol is an answer too.

        Args:
            route: The tool.
            error: Why it failed.
            waited: Whether it spent most of its limit before it was sent: then it says nothing of
                the tool, which was hardly given time.
        """
        if isinstance(error, CallRefused):
            self.answered(route)
        server = self._deps.desired().get(route.server)
        if not isinstance(error, TimedOut) or not error.sent or waited or server is None:
            return
        # With somebody else to ask, one is enough: the next caller need not wait as long.
        enough = 1 if route.fallbacks else server.config.health.failures
        if self.breakers.timed_out(route, enough) and route.fallbacks:
            stand_in = self._first_up(each.server for each in route.fallbacks)
            reason = error.message
            self._tell("backup", server, route.tool.name, backup=stand_in, reason=reason)

    def _steps(
        self, first: FallbackStep, context: CallContext
    ) -> Iterator[FallbackStep | PassedOver]:
        """The tool, its fallbacks, theirs, and so on: each server once."""
        waiting = deque([first])
        seen = {first.route.server_name}
        while waiting:
            step = waiting.popleft()
            yield step
            for fallback in step.route.fallbacks:
                if fallback.server in seen:
                    continue
                seen.add(fallback.server)
                route = self._find(fallback, context)
                if isinstance(route, PassedOver):
                    yield route
                elif route is not None:
                    waiting.append(step.translated(fallback, route))

    def _find(self, fallback: FallbackRoute, context: CallContext) -> Route | PassedOver | None:
        """The route of a fallback, or why there is none; None where the caller may not know."""
        server = self._by_name(fallback.server)
        route = self._deps.book.find(server.id, fallback.tool) if server else None
        if server and route and context.may_use(server, route):
            return route
        if context.allows:
            return None
        missing = f'it has no tool "{fallback.tool}"' if server else "no such server"
        return PassedOver(fallback.server, missing)

    def _by_name(self, name: str) -> DesiredServer | None:
        servers = self._deps.desired().values()
        return next((each for each in servers if each.name == name), None)

    def _first_up(self, names: Iterable[str]) -> str | None:
        return next(filter(self._is_connected, names), None)

    def _is_connected(self, name: str) -> bool:
        server = self._by_name(name)
        observed = self._deps.servers.observed().get(server.id) if server else None
        return observed is not None and observed.state.phase is Phase.CONNECTED

    def _away_because(self, route: Route) -> str | None:
        """Why a server had better not be asked just now."""
        observed = self._deps.servers.observed().get(route.server)
        state = (observed or Observed(route.server)).state
        if state.phase is Phase.CONNECTED:
            rests = self.breakers.rests(route)
            return "timed out recently" if rests else None
        server = self._deps.desired().get(route.server)
        if server and state.phase is Phase.STOPPED and _sleeps(server, state.phase):
            return None
        how = "does not respond" if state.phase is Phase.DEGRADED else "not connected"
        return f"{how}: {state.cause.message}" if state.cause else f"is {state.phase}"

    def _may_yet_answer(self, route: Route) -> bool:
        observed = self._deps.servers.observed().get(route.server)
        return observed is not None and observed.state.takes_calls

    def _tell(
        self, kind: str, server: DesiredServer | None, tool: str | None = None, **more: str | None
    ) -> None:
        if server:
            data = {"id": str(server.id), "name": server.name, "tool": tool}
            self._deps.publish(kind, data | more)


async def _attempted(
    step: FallbackStep, context: CallContext, attempt: Attempt, passed: list[PassedOver]
) -> Outcome | None:
    """What a step answers; None when another may be asked."""
    route = step.route
    try:
        step.check()
        outcome = await attempt(route, step.encoded, context, passed)
    except YardError as error:
        # The tool's own schema was satisfied: it is a fallback that takes other arguments.
        misfit = isinstance(error, ArgumentsRefused)
        if not misfit and not may_move_on(error, repeatable=route.repeatable):
            name_server(error, route.server_name)
            raise error.noting(_NOT_ASKED if _lost(error) else "", tuple(passed)) from None
        passed.append(PassedOver(route.server_name, error.message))
        return None
    return msgspec.structs.replace(outcome, passed_over=tuple(passed)) if passed else outcome


def _sleeps(server: DesiredServer, phase: Phase) -> bool:
    """Whether a server is only at rest: a call wakes it."""
    return server.wanted is Wanted.ON_DEMAND and phase in ASLEEP


def name_server(error: YardError, server: str) -> None:
    """Let an error that reaches a caller say which server it is about.

    Where the connection makes it, nobody knows that a caller may have several.
    """
    error.about(server)
    if isinstance(error, _NAMELESS) and f'"{server}"' not in error.message:
        error.message = f'the server "{server}": {error.message}'
        error.args = (error.message,)


def may_move_on(error: YardError, *, repeatable: bool) -> bool:
    """Whether another may have a call that failed so, without doing anything twice."""
    if isinstance(error, ServerFault) and (error.untaken or _is_untaken(error)):
        return True
    if isinstance(error, TimedOut) and not error.sent:
        return True
    if isinstance(error, NotFound | Conflict | StartFailed | NeedsAuth | NobodyAnswered):
        return True
    return repeatable and _lost(error)


def _is_untaken(error: ServerFault) -> bool:
    return error.cause is not None and error.cause.untaken


def _lost(error: YardError) -> bool:
    """Whether nobody knows what became of the call."""
    return isinstance(error, TimedOut | Disconnected | ProtocolBroken)
