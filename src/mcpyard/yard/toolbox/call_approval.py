"""Approval of calls: which tools need it, and who gives it.

A function of the application decides by itself, in front of every library. Where only the tools
are named, the person is asked by the library's own mechanism; where a library has none, and nobody
can be asked, the call is refused. A refusal is an error result, so that the model reads it.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, cast

from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.agent_tool import Calling, Tool
from mcpyard.yard.toolbox.gathering import Extension

log = logging.getLogger(__name__)

ApprovalRule: TypeAlias = Literal["destructive", "write", "all"] | Callable[[Tool], bool]
"""Which tools need approval: those that may destroy something, all that are not read-only, all."""

Verdict: TypeAlias = bool | str
"""True allows a call, False refuses it; a text refuses it with this reason."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs approval.

    Attributes:
        tool: The tool.
        arguments: The arguments that the model gave; they are validated after the approval.
    """

    tool: Tool
    arguments: Mapping[str, object]


AskApproval: TypeAlias = Callable[[ApprovalRequest], Verdict | Awaitable[Verdict]]


@dataclass(frozen=True, slots=True)
class ToolApproval:
    """Which tools need approval, and who is asked.

    Attributes:
        when: `destructive`, `write` (everything that is not read-only), `all`, or a predicate.
        ask: Allows or refuses a call; None leaves that to the agent library.
    """

    when: ApprovalRule = "all"
    ask: AskApproval | None = None


Approve: TypeAlias = Literal["destructive", "write", "all"] | AskApproval | ToolApproval

_UNASKED: Final = (
    "refused: this call needs the approval of a person, and nobody could be asked. "
    "Do not try it again; say what you would have done."
)
_REFUSED: Final = "refused: the call was not approved"


def approving(approve: Approve) -> Extension:
    """Puts the question for approval in front of the tools that need it.

    Raises:
        ValueError: There is no such rule.
    """
    if isinstance(approve, ToolApproval):
        policy = approve
    elif callable(approve):
        policy = ToolApproval("all", approve)
    else:
        policy = ToolApproval(approve)
    needs = policy.when if callable(policy.when) else _RULES.get(policy.when)
    if needs is None:
        rules = ", ".join(f'"{rule}"' for rule in _RULES)
        raise ValueError(f'approve: expected {rules} or a function, found "{policy.when}"')

    def extend(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        return tuple(_gated(tool, policy.ask) if needs(tool) else _cleared(tool) for tool in tools)

    return extend


def _is_write(tool: Tool) -> bool:
    return tool.annotations.get("readOnlyHint") is not True


def _is_destructive(tool: Tool) -> bool:
    """Whether a tool may destroy something; one that says nothing may, as MCP has it."""
    return _is_write(tool) and tool.annotations.get("destructiveHint") is not False


def _every(_tool: Tool) -> bool:
    return True


_RULES: Final[Mapping[str, Callable[[Tool], bool]]] = {
    "destructive": _is_destructive,
    "write": _is_write,
    "all": _every,
}


def _cleared(tool: Tool) -> Tool:
    return replace(tool, cleared=True)


def _gated(tool: Tool, ask: AskApproval | None) -> Tool:
    calling = _asking(tool, ask)
    if ask is not None:
        return replace(tool, calling=calling, cleared=True)
    return replace(tool, calling=calling, unasked=tool)


def _asking(tool: Tool, ask: AskApproval | None) -> Calling:
    async def call(
        arguments: Mapping[str, object] | None, seconds: float | None, progress: Progress | None
    ) -> Outcome:
        refusal = await _refusal(ask, ApprovalRequest(tool, dict(arguments or {})))
        return refusal or await tool.calling(arguments, seconds, progress)

    return call


async def _refusal(ask: AskApproval | None, call: ApprovalRequest) -> Outcome | None:
    if ask is None:
        return refused(call.tool, _UNASKED)
    try:
        verdict = await _ask(ask, call)
    except Exception as error:
        log.exception("the approval of %s failed", call.tool.name)
        return refused(call.tool, f"{_REFUSED}: {type(error).__name__}: {error}")
    if verdict is True:
        return None
    return refused(call.tool, f"refused: {verdict}" if isinstance(verdict, str) else _REFUSED)


async def _ask(ask: AskApproval, call: ApprovalRequest) -> object:
    if inspect.iscoroutinefunction(ask):
        return await ask(call)
    verdict: object = await asyncio.to_thread(ask, call)
    return await cast("Awaitable[object]", verdict) if inspect.isawaitable(verdict) else verdict


def refused(tool: Tool, reason: str = _REFUSED) -> Outcome:
    """The outcome of a call that was not approved."""
    return Outcome.failed(
        ErrorKind.REFUSED, reason, server=tool.origin, tool=tool.native or tool.name
    )
