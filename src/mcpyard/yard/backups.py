"""Who answers in a server's place, and when.

A call moves on to a back-up when its server certainly never took it, or, where nobody knows, when
the tool is marked as safe to repeat. Every server is asked at most once, so back-ups may name each
other. A server that does not respond, and a tool that ran into its time limit (see `ToolBreakers`),
are asked only where nobody else answers.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from mcpyard.catalog.routes import Backup, Route
from mcpyard.domain.backups import names_backups
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
    ServerFault,
    StartFailed,
    TimedOut,
    YardError,
    name_server,
)
from mcpyard.domain.lifecycle import ASLEEP, UP, Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Clock, Servers
from mcpyard.yard.book import ToolBook
from mcpyard.yard.outcome import Outcome, PassedOver
from mcpyard.yard.tool_breakers import ToolBreakers

_NOT_ASKED: Final = "no back-up was asked after that, as the call may have had an effect"

Ask = Callable[[Route, Mapping[str, object]], Awaitable[Outcome]]
Allows = Callable[[DesiredServer, Route], bool]
"""Whether a caller may use a tool of a server."""

Publish = Callable[[str, Mapping[str, object]], None]


class Way(NamedTuple):
    """One tool that could answer, with the arguments as it wants them."""

    route: Route
    arguments: Mapping[str, object]


class Reach(NamedTuple):
    """What a call can reach, and whoever is told of what becomes of the ways."""

    book: ToolBook
    servers: Servers
    desired: Callable[[], Mapping[UUID, DesiredServer]]
    clock: Clock
    publish: Publish


class Backups:
    """Finds somebody who answers.

    Attributes:
        breakers: The tools that ran into their time limits.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self.breakers = ToolBreakers(reach.clock)
        self._away: set[UUID] = set()

    async def answer(
        self,
        route: Route,
        arguments: Mapping[str, object],
        ask: Ask,
        allows: Allows | None = None,
    ) -> Outcome:
        """Ask the tool, else its back-ups.

        Args:
            route: The way to the tool.
            arguments: Its arguments.
            ask: Asks one of them.
            allows: What the caller may use; back-ups outside of it are not even mentioned.

        Raises:
            ArgumentsRefused: The arguments break the tool's schema; nobody was called.
            NobodyAnswered: Nobody answered; `passed_over` says why.
            YardError: Somebody failed in a way that no other may make up for.
        """
        if problems := route.validator.check(dict(arguments)):
            raise ArgumentsRefused.of(*problems)
        passed: list[PassedOver] = []
        later: list[Way] = []
        for way in self._ways(route, arguments, allows):
            if isinstance(way, PassedOver):
                passed.append(way)
            elif away := self._away_because(way.route):
                passed.append(PassedOver(way.route.server_name, away))
                later += [way] if self._may_yet_answer(way.route) else []
            elif outcome := await self._asked(way, ask, passed):
                return outcome
        # Nobody who is there has answered: the first who is about to come is waited for.
        for way in later[:1]:
            if outcome := await self._asked(way, ask, passed):
                return outcome
        listed = "; ".join(f'"{each.server}": {each.why}' for each in passed)
        raise NobodyAnswered(f"nobody answered: {listed}").noting("", tuple(passed))

    def observed(self, server: DesiredServer, observed: Observed) -> None:
        """Tell when a server with back-ups is gone, and when it is there again."""
        phase = observed.state.phase
        if phase is Phase.CONNECTED:
            if server.id in self._away:
                self._away.discard(server.id)
                self._tell("recovered", server)
            return
        self.breakers.forget(server.id)
        coming = phase is Phase.CONNECTING and not observed.state.n
        expected = coming or _sleeps(server, phase)
        if expected or server.id in self._away or not names_backups(server.config):
            return
        self._away.add(server.id)
        cause = observed.state.cause
        reason = cause.message if cause else f"is {phase}"
        self._tell("backup", server, backup=self._first_up(server.config.backup), reason=reason)

    def answered(self, route: Route) -> None:
        """A tool answered."""
        if self.breakers.answered(route) and route.backups:
            self._tell("recovered", self._reach.desired().get(route.server), route.tool.name)

    def failed(self, route: Route, error: YardError) -> None:
        """A call of a tool failed; an error of the protocol is an answer too."""
        if isinstance(error, CallRefused):
            self.answered(route)
        server = self._reach.desired().get(route.server)
        if not isinstance(error, TimedOut) or not error.sent or server is None:
            return
        # With somebody else to ask, one is enough: the next caller need not wait as long.
        enough = 1 if route.backups else server.config.health.failures
        if self.breakers.timed_out(route, enough) and route.backups:
            stand_in = self._first_up(each.server for each in route.backups)
            reason = error.message
            self._tell("backup", server, route.tool.name, backup=stand_in, reason=reason)

    async def _asked(self, way: Way, ask: Ask, passed: list[PassedOver]) -> Outcome | None:
        """What a way answers; None when another may be asked."""
        route = way.route
        try:
            outcome = await ask(route, way.arguments)
        except YardError as error:
            # The tool's own schema was satisfied: it is a back-up that wants other arguments.
            misfit = isinstance(error, ArgumentsRefused)
            if not misfit and not may_move_on(error, repeatable=route.repeatable):
                name_server(error, route.server_name)
                raise error.noting(_NOT_ASKED if _lost(error) else "", tuple(passed)) from None
            passed.append(PassedOver(route.server_name, error.message))
            return None
        return msgspec.structs.replace(outcome, passed_over=tuple(passed)) if passed else outcome

    def _ways(
        self, route: Route, arguments: Mapping[str, object], allows: Allows | None
    ) -> Iterator[Way | PassedOver]:
        """The tool, its back-ups, theirs, and so on: each server once."""
        waiting = deque([Way(route, arguments)])
        seen = {route.server_name}
        while waiting:
            way = waiting.popleft()
            yield way
            for backup in way.route.backups:
                if backup.server in seen:
                    continue
                seen.add(backup.server)
                found = self._find(backup, allows)
                if isinstance(found, PassedOver):
                    yield found
                elif found is not None:
                    waiting.append(Way(found, backup.translate(way.arguments)))

    def _find(self, backup: Backup, allows: Allows | None) -> Route | PassedOver | None:
        """The way to a back-up, or why there is none; None where the caller may not know of it."""
        server = self._by_name(backup.server)
        if server is None:
            return None if allows else PassedOver(backup.server, "there is no such server")
        route = self._reach.book.find(server.id, backup.tool)
        if route is not None and allows and not allows(server, route):
            return None
        if route is None or not route.policy.enabled:
            return None if allows else PassedOver(backup.server, f'it has no tool "{backup.tool}"')
        return route

    def _by_name(self, name: str) -> DesiredServer | None:
        servers = self._reach.desired().values()
        return next((each for each in servers if each.name == name), None)

    def _first_up(self, names: Iterable[str]) -> str | None:
        return next(filter(self._is_connected, names), None)

    def _is_connected(self, name: str) -> bool:
        server = self._by_name(name)
        found = self._reach.servers.observed().get(server.id) if server else None
        return found is not None and found.state.phase is Phase.CONNECTED

    def _away_because(self, route: Route) -> str | None:
        """Why a server had better not be asked just now."""
        found = self._reach.servers.observed().get(route.server)
        state = (found or Observed(route.server)).state
        if state.phase is Phase.CONNECTED:
            rests = self.breakers.rests(route)
            return "did not answer in time a moment ago" if rests else None
        server = self._reach.desired().get(route.server)
        if server and state.phase is Phase.STOPPED and _sleeps(server, state.phase):
            return None
        how = "does not respond" if state.phase is Phase.DEGRADED else "not connected"
        return f"{how}: {state.cause.message}" if state.cause else f"is {state.phase}"

    def _may_yet_answer(self, route: Route) -> bool:
        found = self._reach.servers.observed().get(route.server)
        return found is not None and found.state.phase in UP

    def _tell(
        self, kind: str, server: DesiredServer | None, tool: str | None = None, **more: str | None
    ) -> None:
        if server:
            told = {"id": str(server.id), "name": server.name, "tool": tool}
            self._reach.publish(kind, told | more)


def _sleeps(server: DesiredServer, phase: Phase) -> bool:
    """Whether a server is only at rest: a call wakes it."""
    return server.wanted is Wanted.ON_DEMAND and phase in ASLEEP


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
