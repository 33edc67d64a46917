"""Gathering the tools of a conversation from a yard and the application."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from mcpyard.catalog.routes import is_repeatable
from mcpyard.domain.errors import NameTaken, Problem, YardError
from mcpyard.domain.narrowing import object_of
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.fallback import may_move_on
from mcpyard.yard.calls.outcome import Outcome, PassedOver
from mcpyard.yard.event_loop import YardLoop
from mcpyard.yard.name_patterns import fits
from mcpyard.yard.readiness import unavailable
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.failures import failure
from mcpyard.yard.toolbox.own_schema import Function
from mcpyard.yard.toolbox.own_tools import own_tool
from mcpyard.yard.views.servers import ServerView, ToolView

log = logging.getLogger(__name__)

Own: TypeAlias = Iterable[Function | Tool]
"""The application's own: functions, or tools made of them."""

Local: TypeAlias = Mapping[str, Function | Tool]
"""Functions that answer for tools of servers which cannot, by the tools' names."""

Select: TypeAlias = Callable[[Tool], bool] | Sequence[str]
"""Which tools of the servers to take: a test, or patterns of their names."""


Extension: TypeAlias = Callable[[tuple[Tool, ...]], tuple[Tool, ...]]
"""Changes the tools of a toolbox, or adds some; applied again to a refreshed one."""


class Offering(Protocol):
    """A yard, in this process or another, as far as a toolbox needs one."""

    @property
    def version(self) -> int:
        """The id of the last event; nothing changes while it stays the same."""
        ...

    def tools(self) -> list[ToolView]:
        """The tools that can be called."""
        ...

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """The records of all servers."""
        ...

    def problems(self) -> Sequence[Problem]:
        """The definitions that were ignored because they are invalid."""
        ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call a tool by its exposed name."""
        ...


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a toolbox is made of; its tools know the loop that blocking calls run on."""

    tools: tuple[Tool, ...]
    warnings: tuple[Problem, ...]
    status: Callable[[], Mapping[str, str]]
    loop: YardLoop | None
    again: Callable[[], "Gathered | None"]


def gather(
    yard: Offering,
    own: Own = (),
    select: Select | None = None,
    local: Local | None = None,
    *,
    loop: YardLoop | None = None,
) -> Gathered:
    """The tools of a yard's servers that are selected, and the application's own before them.

    Raises:
        NameTaken: Two of the application's own have one name.
    """
    stand_ins = {name: _own_tool(each, name) for name, each in (local or {}).items()}
    everything = [_server_tool(yard, each, stand_ins, loop) for each in yard.tools()]
    there = {tool.name for tool in everything}
    functions = [_own_tool(each) for each in own]
    mine = _own([*functions, *(tool for name, tool in stand_ins.items() if name not in there)])
    theirs, unmatched = _selected(everything, select)
    warnings = [*_unavailable(yard), *unmatched]
    for tool in theirs:
        if tool.name in mine:
            note = f'is a tool of the application and one of the server "{tool.origin}"'
            warnings.append(Problem(tool.name, f"{note}; the application's tool is used"))
    for each in warnings:
        log.warning("%s", each)
    version = yard.version
    others = (tool for tool in theirs if tool.name not in mine)
    tools = (*(replace(tool, loop=loop) for tool in mine.values()), *others)

    def again() -> Gathered | None:
        # Nothing that a toolbox shows changes without an event.
        if yard.version == version:
            return None
        return gather(yard, functions, select, stand_ins, loop=loop)

    return Gathered(tools, tuple(warnings), lambda: server_words(yard), loop, again)


def extended(gathered: Gathered, extensions: Sequence[Extension]) -> Gathered:
    """What a toolbox is made of, with extensions of its tools.

    Raises:
        NameTaken: A tool that is added has the name of another.
    """
    tools = gathered.tools
    for extend in extensions:
        tools = extend(tools)
    _own(tools)

    def again() -> Gathered | None:
        fresh = gathered.again()
        return None if fresh is None else extended(fresh, extensions)

    tools = tuple(replace(tool, loop=gathered.loop) for tool in tools)
    return replace(gathered, tools=tools, again=again)


def _unavailable(yard: Offering) -> list[Problem]:
    """What an agent does without: servers that are not connected, definitions that are invalid."""
    servers = [each for each in map(unavailable, yard.servers(tools=False)) if each]
    return [*(Problem("", str(each)) for each in servers), *yard.problems()]


def server_words(yard: Offering) -> dict[str, str]:
    """How each server of a yard is just now, in words for an agent."""
    return {each.name: words_of(each) for each in yard.servers(tools=False)}


class _ServerCall(NamedTuple):
    """The way from a tool in a toolbox to its server; a tuple because there are thousands."""

    yard: Offering
    name: str
    server: str
    native: str
    local: Tool | None
    repeatable: bool

    async def call(
        self,
        arguments: Mapping[str, object] | None,
        seconds: float | None,
        progress: Progress | None,
    ) -> Outcome:
        began = perf_counter()
        try:
            return await self.yard.call(self.name, arguments, timeout=seconds, progress=progress)
        except YardError as error:
            ms = (perf_counter() - began) * 1000
            failed = failure(error, self.server, self.native, ms)
            if self.local is None or not may_move_on(error, repeatable=self.repeatable):
                return failed
        passed = failed.passed_over or (PassedOver(self.server, failed.text),)
        outcome = await self.local.calling(arguments, seconds, progress)
        return msgspec.structs.replace(outcome, passed_over=passed)


def _own(own: Iterable[Tool]) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    for tool in own:
        if tool.name in tools:
            raise NameTaken(f'two of the application\'s own tools are called "{tool.name}"')
        tools[tool.name] = tool
    return tools


def _own_tool(source: Function | Tool, name: str | None = None) -> Tool:
    return source if isinstance(source, Tool) else own_tool(source, name=name)


def _server_tool(
    yard: Offering, view: ToolView, stand_ins: Mapping[str, Tool], loop: YardLoop | None
) -> Tool:
    name, server, native = view.exposed_name, view.server, view.name
    hints = object_of(view.annotations)
    way = _ServerCall(yard, name, server, native, stand_ins.get(name), is_repeatable(hints))
    return Tool(
        name=name,
        title=view.title,
        description=view.description,
        input_schema=object_of(view.input_schema),
        output_schema=object_of(view.output_schema) or None,
        annotations=hints,
        origin=server,
        native=native,
        stale=view.stale,
        calling=way.call,
        loop=loop,
    )


def _selected(tools: list[Tool], select: Select | None) -> tuple[list[Tool], list[Problem]]:
    if select is None:
        return tools, []
    if callable(select):
        return [tool for tool in tools if select(tool)], []
    patterns = [select] if isinstance(select, str) else [*select]
    unused = [each for each in patterns if not any(_fits(tool, each) for tool in tools)]
    warnings = [Problem("select", f'"{each}" matches no tool') for each in unused]
    return [tool for tool in tools if any(_fits(tool, each) for each in patterns)], warnings


def _fits(tool: Tool, pattern: str) -> bool:
    """Whether a pattern fits a tool's name, or its server's name and its own: `files/read_*`."""
    return fits(tool.name, pattern) or fits(f"{tool.origin}/{tool.native}", pattern)


_PHASES: Mapping[str, str] = {
    "connected": "connected",
    "connecting": "connecting; its tools are cached, calls wait until it is connected",
    "degraded": "not responding; one call at a time is tried, others fail immediately",
    "backoff": "reconnecting; its tools are cached, calls wait until it is connected",
    "probed": "reconnecting; its tools are cached, a call tries to connect, at most once a second",
    "failed": "failed; its tools cannot be called",
    "needs_auth": "needs sign-in; its tools cannot be called",
    "needs_approval": "needs approval; its tools cannot be called",
    "stopping": "stopping; its tools cannot be called",
    "stopped": "stopped; its tools cannot be called",
}


def words_of(server: ServerView) -> str:
    """How a server is just now, in words for an agent."""
    phase, error = str(server.phase), server.error
    if not server.enabled:
        return "disabled; its tools cannot be called"
    if phase == "stopped" and server.wanted == "on_demand":
        return "idle; the first call starts it"
    if phase == "failed" and server.next_retry_at:
        phase = "probed"
    fallbacks = ", ".join(server.fallback) if phase != "connected" else ""
    fallback_note = f"; fallback: {fallbacks}" if fallbacks else ""
    return _PHASES[phase] + (f" ({error.message})" if error else "") + fallback_note
