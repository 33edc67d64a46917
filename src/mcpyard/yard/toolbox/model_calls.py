"""Calls as agents make them: the arguments come as an object, as JSON text, or not at all."""

import orjson

from mcpyard.catalog.showing import shorten
from mcpyard.domain.narrowing import is_mapping, is_sequence
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.agent_tool import Tool


async def call_asked(tool: Tool, arguments: object) -> Outcome:
    """Call a tool with whatever a model gave as arguments; what is not an object is refused."""
    members = read_arguments(arguments)
    if members is None or is_mapping(members):
        return await tool.call(members)
    why = f"the arguments are not a JSON object: {shorten(repr(members))}"
    return Outcome.failed(
        ErrorKind.VALIDATION, why, server=tool.origin, tool=tool.native or tool.name
    )


def read_arguments(arguments: object) -> object:
    """The arguments out of their JSON text; what is not JSON stays text."""
    if not isinstance(arguments, str | bytes):
        return arguments
    try:
        return orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return arguments


def items_of(response: object, name: str) -> list[object] | None:
    """A list that is a member of a response; None where there is none."""
    member = member_of(response, name)
    return [*member] if is_sequence(member) else None


def member_of(call: object, name: str) -> object:
    """A member of a call, be it an object of an agent's library or a dictionary."""
    if is_mapping(call):
        return call.get(name)
    return getattr(call, name, None)
