"""Approval of calls inside a graph of LangGraph: the run is interrupted until a person decides.

Requests and decisions have the format of LangChain's `HumanInTheLoopMiddleware`, so that one
application code handles both.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from mcpyard.domain.narrowing import list_of, object_of
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.call_approval import refused


class Decision(NamedTuple):
    """What becomes of a call: the tool to call with these arguments, or a refusal."""

    tool: Tool
    arguments: Mapping[str, object]
    outcome: Outcome | None = None


def decide(tool: Tool, name: str, arguments: Mapping[str, object]) -> Decision:
    """Have a person decide about a call that needs approval.

    Outside of a graph there is nobody to ask: the tool itself refuses then.
    """
    if not tool.needs_approval:
        return Decision(tool, arguments)
    interrupt = _interrupt()
    if interrupt is None:
        return Decision(tool, arguments)
    request = {
        "action_requests": [{"name": name, "args": dict(arguments), "description": ""}],
        "review_configs": [
            {"action_name": name, "allowed_decisions": ["approve", "edit", "reject"]}
        ],
    }
    return _read(tool, arguments, interrupt(request))


def _interrupt() -> Callable[[object], object] | None:
    """The function that interrupts the graph that is running; None where there is none."""
    try:
        module: Any = import_module("langgraph.types")
        config = import_module("langgraph.config").get_config()
    except (ImportError, RuntimeError):
        return None
    # Only a node of a graph has one; a tool that is invoked by itself has a bare configuration.
    inside = "__pregel_scratchpad" in object_of(object_of(config).get("configurable"))
    return cast("Callable[[object], object]", module.interrupt) if inside else None


def _read(tool: Tool, arguments: Mapping[str, object], reply: object) -> Decision:
    if reply is True or reply == "approve":
        return Decision(tool.approved, arguments)
    listed = list_of(object_of(reply).get("decisions"))
    decision = object_of(listed[0] if listed else reply)
    if decision.get("type") == "approve":
        return Decision(tool.approved, arguments)
    if decision.get("type") == "edit":
        edited = object_of(object_of(decision.get("edited_action")).get("args"))
        return Decision(tool.approved, edited)
    message = decision.get("message")
    if isinstance(message, str):
        return Decision(tool, arguments, refused(tool, f"refused: {message}"))
    return Decision(tool, arguments, refused(tool))
