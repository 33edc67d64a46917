"""Any request to any server in the name of a client: the gateway's use case.

A tool call goes the way of every other one: validator, policy, accounts. What it carries and what
comes back stay the bytes that came.
"""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import orjson

from mcpyard.catalog.routes import Route
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, Problem, ServerUnknown, YardError, edge
from mcpyard.domain.lifecycle import UP
from mcpyard.domain.model import Config, Wanted
from mcpyard.domain.observed import Era, Observed
from mcpyard.domain.ports import Asking, CallTerms, OnNotice, Telling, Tuning
from mcpyard.domain.this_yard import NAME as OWN_NAME
from mcpyard.yard.accounts import OK, TOOL_ERROR, Accounts
from mcpyard.yard.backups import Allows, Backups, Reach
from mcpyard.yard.call import (
    CANCELLED,
    LONGEST_CALL,
    TASK_TYPE,
    Progress,
    refuse_tasks,
    says_error,
)
from mcpyard.yard.outcome import Outcome

HOPS: Final = "mcpyard/hops"
"""The member of `_meta` that counts the yards a request went through."""

MOST_HOPS: Final = 4

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The log levels, the most verbose first."""

_NOTHING: Final = Tuning()

Parameters = Callable[[Route, bytes], bytes | None]
"""All parameters for the server of a route; None where they are its name and these arguments."""

Note = Callable[[UUID], None]
"""Told which server answered a call."""


class Errand(NamedTuple):
    """In whose name a request is made; a tuple because one is made for every call.

    Attributes:
        who: The caller, in words, for the journal.
        asked: Answers what the server asks meanwhile.
        told: Hears what the server tells about the call.
        progress: Hears how far it is.
        capabilities: What the client can do, as JSON.
        log_level: The log messages it wants.
        lane: Names the client to servers that run a process for each.
        allows: What it may use; None for everything.
    """

    who: str
    asked: Asking | None = None
    told: Telling | None = None
    progress: Progress | None = None
    capabilities: bytes | None = None
    log_level: str | None = None
    lane: str | None = None
    allows: Allows | None = None


class Relay:
    """Carries the requests of clients to servers, and what servers tell to whoever listens."""

    def __init__(self, reach: Reach, backups: Backups, accounts: Accounts) -> None:
        self._backups = backups
        self._book = reach.book
        self._servers = reach.servers
        self._desired = reach.desired
        self._clock = reach.clock
        self._accounts = accounts
        self._wishes: dict[UUID, dict[object, Tuning]] = {}
        self._tuned: dict[UUID, Tuning] = {}
        self._listeners: set[OnNotice] = set()
        self._servers.hear(self._notice)

    def servers(self) -> list[tuple[DesiredServer, Observed]]:
        """The servers that can be used now, or are started by a call; by name."""
        found = [(server, self.observed(server.id)) for server in self._desired().values()]
        usable = [
            (server, seen)
            for server, seen in found
            if server.wanted is Wanted.ON_DEMAND or seen.state.phase in UP
        ]
        return sorted(usable, key=lambda pair: pair[0].name)

    def routes(self, server: UUID) -> Iterator[Route]:
        """The tools of a server, in its order."""
        yield from self._book.routes(server)

    def observed(self, server: UUID) -> Observed:
        """How a server is."""
        return self._servers.observed().get(server) or Observed(server)

    def holder(self, address: str) -> UUID | None:
        """The server that an address belongs to, as far as one listed it."""
        return self._book.addresses.holder(address, self._desired())

    def era(self, server: UUID) -> Era | None:
        """The era of a server; None while it is not connected."""
        session = self.observed(server).session
        return session.era if session else None

    def is_yard(self, server: UUID) -> bool:
        """Whether a server is a yard itself, so that hops must be counted."""
        return is_a_yard(self.observed(server))

    def call(
        self, route: Route, arguments: bytes, errand: Errand, params: bytes | None = None
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool; the result object as it came.

        Args:
            route: The way to it.
            arguments: Its arguments, as JSON.
            errand: In whose name.
            params: All parameters, where there are more than name and arguments.

        Raises:
            ArgumentsRefused: The arguments break its schema; the server was not called.
            TimedOut: The time ran out; the server was told.
            ServerFault: The server cannot be reached, or answered with an error.
        """
        if problems := route.validator.check(_decoded(arguments)):
            raise ArgumentsRefused.of(*problems)
        return self._follow(route, arguments, errand, params)

    async def call_with_fallback(
        self, route: Route, arguments: bytes, errand: Errand, params: Parameters, note: Note
    ) -> bytes:
        """Call a tool, else its fallback servers (see `call`, and `Backups.answer`).

        Args:
            route: The way to it.
            arguments: Its arguments, as JSON.
            errand: In whose name.
            params: What is sent to each that is asked.
            note: Told which server answers.
        """
        given = _decoded(arguments)

        async def ask(to: Route, translated: Mapping[str, object]) -> Outcome:
            sent = arguments if translated is given else orjson.dumps(translated)
            began = self._clock.monotonic()
            raw = await self._follow(to, sent, errand, params(to, sent))
            note(to.server)
            ms = (self._clock.monotonic() - began) * 1000
            return Outcome(raw, to.server_name, to.tool.name, ms)

        outcome = await self._backups.answer(route, given, ask, errand.allows)
        return outcome.raw

    async def _follow(
        self, route: Route, arguments: bytes, errand: Errand, params: bytes | None
    ) -> bytes:
        terms = _terms(self._config(route.server), route, errand)
        began, raw, ended = self._clock.monotonic(), b"", CANCELLED
        breakers, tried = self._backups.breakers, None
        try:
            tried = breakers.enter(route) if breakers.known else None
            if params is None:
                raw = await self._servers.call(route.server, route.tool.name, arguments, terms)
            else:
                raw = await self._servers.request(route.server, "tools/call", params, terms)
            if TASK_TYPE in raw:
                refuse_tasks(raw)
            ended = TOOL_ERROR if says_error(raw) else OK
            if breakers.known:
                self._backups.answered(route)
        except YardError as error:
            ended = edge(error).problem
            self._backups.failed(route, error)
            raise
        finally:
            if tried:
                tried.trying = False
            ms = (self._clock.monotonic() - began) * 1000
            self._accounts.note(route, errand.who, ms, ended, (len(arguments), len(raw)))
        return raw

    async def request(self, server: UUID, method: str, params: bytes, errand: Errand) -> bytes:
        """Ask a server anything else; the result object as it came (see `call`)."""
        terms = _terms(self._config(server), None, errand)
        raw = await self._servers.request(server, method, params, terms)
        refuse_tasks(raw)
        return raw

    def listen(self, listener: OnNotice) -> Callable[[], None]:
        """Hear what servers tell outside any call, until the returned function is called."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def wish(self, key: object, server: UUID, wanted: Tuning) -> None:
        """What somebody wants to hear of a server from now on, instead of what it wanted before."""
        wishes = self._wishes.setdefault(server, {})
        before = wishes.pop(key, _NOTHING)
        if wanted != _NOTHING:
            wishes[key] = wanted
        tuned = self._tuned.get(server, _NOTHING)
        # All wishes are looked at only where this one can make a difference: a thousand clients
        # may wish the same of a server that comes up.
        anew = before not in (_NOTHING, wanted) or not _tells(tuned, wanted)
        self._tune(server, self._wanted(server) if anew else tuned)

    def forget(self, key: object) -> None:
        """Somebody wants to hear nothing any more."""
        for server, wishes in self._wishes.items():
            if wishes.pop(key, None) is not None:
                self._tune(server, self._wanted(server))

    def retune(self) -> None:
        """Tell the servers again what is wanted of them: one that was added anew was never told."""
        for server, tuning in self._tuned.items():
            self._servers.tune(server, tuning)

    def release(self, lane: str) -> None:
        """A client went; so do the processes that it had for itself."""
        self._servers.release(lane)

    def _wanted(self, server: UUID) -> Tuning:
        """What all together want to hear of a server."""
        wishes = self._wishes[server].values()
        levels = [LEVELS.index(each.log_level) for each in wishes if each.log_level]
        return Tuning(
            LEVELS[min(levels)] if levels else None,
            frozenset[str]().union(*(each.uris for each in wishes)),
        )

    def _tune(self, server: UUID, tuning: Tuning) -> None:
        if tuning == _NOTHING:
            self._tuned.pop(server, None)
        else:
            self._tuned[server] = tuning
        self._servers.tune(server, tuning)

    def _notice(self, server: UUID, method: str, params: bytes) -> None:
        for listener in [*self._listeners]:
            listener(server, method, params)

    def _config(self, server: UUID) -> Config:
        found = self._desired().get(server)
        if found is None:
            raise ServerUnknown("the server is gone")
        return found.config


def is_a_yard(observed: Observed) -> bool:
    """Whether a server is a yard, by its own word."""
    session = observed.session
    return session is not None and session.server_info.get("name") == OWN_NAME


def _tells(tuned: Tuning, wanted: Tuning) -> bool:
    """Whether a server that is tuned so tells all that is wanted."""
    if wanted.log_level is not None:
        levels = LEVELS[: LEVELS.index(wanted.log_level) + 1]
        if tuned.log_level not in levels:
            return False
    return wanted.uris <= tuned.uris


def _decoded(arguments: bytes) -> dict[str, object]:
    try:
        decoded: object = orjson.loads(arguments)
    except ValueError as error:
        raise ArgumentsRefused.of(Problem("arguments", f"are not JSON: {error}")) from None
    if not isinstance(decoded, dict):
        raise ArgumentsRefused.of(Problem("arguments", "must be an object"))
    return cast("dict[str, object]", decoded)


def _terms(config: Config, route: Route | None, errand: Errand) -> CallTerms:
    timeout, extends = config.timeout, config.progress_extends
    if route is not None:
        policy = route.policy
        timeout = policy.timeout or timeout
        extends = extends if policy.progress_extends is None else policy.progress_extends
    seconds = timeout / 1000
    _, asked, told, progress, capabilities, log_level, lane, _ = errand
    longest = max(seconds, LONGEST_CALL) if extends else None
    return CallTerms(seconds, longest, progress, asked, told, capabilities, log_level, lane)
