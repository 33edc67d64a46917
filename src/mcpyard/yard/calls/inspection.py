"""One call, opened: everything that is recorded of it, and the commands that repeat it."""

from typing import TYPE_CHECKING

import orjson

from mcpyard.domain.call_contents import CallContents
from mcpyard.domain.errors import NotFound
from mcpyard.domain.narrowing import is_object
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.calls.call_commands import CallCommands, call_commands
from mcpyard.yard.views.calls import CallDetailsView, call_details_view

if TYPE_CHECKING:
    from mcpyard.yard.yard import YardCore


async def inspect_call(yard: "YardCore", call: int, address: str) -> CallDetailsView:
    """Everything that is recorded of a call.

    Args:
        yard: Whose call it is.
        call: Its id in the journal.
        address: Where mcpyard is, for the commands.

    Raises:
        CallUnknown: The journal does not have it.
    """
    record, contents = await yard.calls.recording.get(call)
    return call_details_view(record, contents, _commands(yard, record, contents, address))


def recorded_arguments(contents: CallContents | None) -> dict[str, object] | None:
    """The arguments of a call; None where they are not known in full."""
    if contents is None or contents.arguments.cut:
        return None
    try:
        arguments: object = orjson.loads(contents.arguments.text)
    except ValueError:
        return None
    return arguments if is_object(arguments) else None


def _commands(
    yard: "YardCore", record: CallRecord, contents: CallContents | None, address: str
) -> CallCommands | None:
    arguments = recorded_arguments(contents)
    if arguments is None:
        return None
    try:
        route = yard.route(str(record.server), record.tool)
    except NotFound:
        return call_commands(address, record.server_name, record.tool, "", arguments)
    return call_commands(address, route.server_name, record.tool, route.exposed, arguments)
