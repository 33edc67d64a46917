"""The way of a call: route, validate, deadline, call, outcome. No step back."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, cast

import msgspec
import orjson
from msgspec import Raw

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import (
    ArgumentsRefused,
    Problem,
    ProtocolBroken,
    ToolUnknown,
    YardError,
    edge,
    name_server,
)
from mcpyard.domain.model import Config
from mcpyard.domain.ports import CallTerms
from mcpyard.yard.accounts import OK, TOOL_ERROR, Accounts
from mcpyard.yard.backups import Backups, Reach
from mcpyard.yard.outcome import Outcome

LONGEST_CALL: Final = 600.0
"""Seconds past which progress extends no call."""

LIBRARY: Final = "library"
"""Who calls when nobody says."""

_GLANCE: Final = 4096
_LONGEST_TASK: Final = 1 << 20
"""Bytes up to which a result is searched for a task: the search holds the event loop."""

CANCELLED: Final = "cancelled"

_IS_ERROR: Final = re.compile(rb'"isError"\s*:\s*true')

Progress = Callable[[Mapping[str, object]], None]


_ABSENT: Final = Raw(b"")


class _TaskResult(msgspec.Struct, rename="camel"):
    """The members that distinguish a task from a result."""

    result_type: Raw = _ABSENT
    task: Raw = _ABSENT
    content: Raw = _ABSENT


_task_result = msgspec.json.Decoder(_TaskResult)
TASK_TYPE: Final = b'"task"'


class Caller:
    """Calls tools by their exposed names."""

    def __init__(self, reach: Reach, backups: Backups, accounts: Accounts) -> None:
        self._book = reach.book
        self._servers = reach.servers
        self._desired = reach.desired
        self._clock = reach.clock
        self._backups = backups
        self._accounts = accounts

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
        who: str = LIBRARY,
    ) -> Outcome:
        """Call the tool with that exposed name, or a back-up of it (see `Backups`).

        The time limit is that of each server that is asked.

        Raises:
            ToolUnknown: There is no such tool.
            ArgumentsRefused: The arguments break its schema; the server was not called.
            TimedOut: The time ran out; the server was told.
            ServerFault: The server cannot be reached, or answered with an error.
        """
        route = self._book.route(name)
        if route is None:
            raise ToolUnknown(f'there is no tool "{name[:80]}"')
        refuse_switched_off(route)
        if route.backups:
            ask = partial(self.follow, timeout=timeout, progress=progress, who=who)
            return await self._backups.answer(route, _object(arguments), ask)
        return await self.ask(route, arguments, timeout=timeout, progress=progress, who=who)

    async def ask(
        self,
        route: Route,
        arguments: Mapping[str, object] | None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
        who: str = LIBRARY,
    ) -> Outcome:
        """Call the tool a route leads to, and no other; what goes wrong names the server."""
        try:
            return await self.follow(route, arguments, timeout=timeout, progress=progress, who=who)
        except YardError as error:
            name_server(error, route.server_name)
            raise

    async def follow(
        self,
        route: Route,
        arguments: Mapping[str, object] | None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
        who: str = LIBRARY,
    ) -> Outcome:
        """Call the tool a route leads to, as one of several that may be asked."""
        given = dict(_object(arguments))
        if problems := route.validator.check(given):
            raise ArgumentsRefused.of(*problems)
        server = self._desired().get(route.server)
        if server is None:
            raise ToolUnknown(f'the server "{route.server_name}" is gone')
        terms = _terms(server.config, route, timeout, progress)
        sent = _encode(given)
        began, raw, ended = self._clock.monotonic(), b"", CANCELLED
        breakers, tried = self._backups.breakers, None
        try:
            tried = breakers.enter(route) if breakers.known else None
            raw = await self._servers.call(route.server, route.tool.name, sent, terms)
            if not raw.startswith(b"{"):
                raise _no_result(route)
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
            self._accounts.note(route, who, ms, ended, (len(sent), len(raw)))
        return Outcome(raw, route.server_name, route.tool.name, ms)


def refuse_switched_off(route: Route) -> None:
    """Let nobody call a tool that its owner switched off.

    Raises:
        ToolUnknown: It is switched off.
    """
    if not route.policy.enabled:
        what = f'the tool "{route.tool.name}" of the server "{route.server_name}"'
        raise ToolUnknown(f"{what} is switched off")


def _no_result(route: Route) -> ProtocolBroken:
    name = route.server_name
    return ProtocolBroken(f'the server "{name}" answered with something that is no result')


def refuse_tasks(raw: bytes) -> None:
    """Refuse a result that is a task, of either era: nothing here can follow it.

    Raises:
        ProtocolBroken: It is one.
    """
    if len(raw) > _LONGEST_TASK:
        return
    try:
        result = _task_result.decode(raw)
    except ValueError:
        return
    in_handshake = not bytes(result.content) and b'"taskId"' in bytes(result.task)
    if in_handshake or bytes(result.result_type) == TASK_TYPE:
        raise ProtocolBroken(
            "the server answered with a task, which mcpyard does not support: "
            "the result of the call is not available"
        )


def says_error(raw: bytes) -> bool:
    """Whether a result says that the tool failed, at a glance: it is for a statistic."""
    if len(raw) > 2 * _GLANCE:
        raw = raw[:_GLANCE] + raw[-_GLANCE:]
    return b'"isError"' in raw and _IS_ERROR.search(raw) is not None


def _object(arguments: object) -> Mapping[str, object]:
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise ArgumentsRefused.of(Problem("arguments", "must be an object"))
    return cast("Mapping[str, object]", arguments)


def _encode(arguments: dict[str, object]) -> bytes:
    try:
        return orjson.dumps(arguments)
    except TypeError as error:
        raise ArgumentsRefused.of(
            Problem("arguments", f"cannot be sent as JSON: {error}")
        ) from None


def _terms(
    config: Config,
    route: Route,
    timeout: float | None,
    progress: Progress | None,
) -> CallTerms:
    if timeout is None:
        timeout = (route.policy.timeout or config.timeout) / 1000
    extends = route.policy.progress_extends
    extends = config.progress_extends if extends is None else extends
    return CallTerms(timeout, max(timeout, LONGEST_CALL) if extends else None, progress)
