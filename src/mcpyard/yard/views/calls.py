"""Calls and log lines as the faces show them."""

from typing import Annotated

from msgspec import Meta

from mcpyard.domain.ports import LogLine
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.views.base import Count, Moment, Uuid, View, moment


class CallView(View, frozen=True, kw_only=True):
    """A call, as the journal has it."""

    id: int
    at: Moment
    who: str
    server: Annotated[str, Meta(description="What it was called then.")]
    server_id: Uuid
    tool: str
    ms: float
    outcome: Annotated[
        str, Meta(description="`ok`, `tool_error`, `cancelled`, or the problem's last word.")
    ]
    bytes_in: Count
    bytes_out: Count


class CallPage(View, frozen=True, kw_only=True):
    """A page of the journal."""

    calls: list[CallView]
    next: Annotated[
        int | None,
        Meta(description="What `before` of the next page is; null on the last one."),
    ]
    dropped: Annotated[
        Count, Meta(description="Calls that were not recorded since mcpyard started.")
    ] = 0
    trimmed: Annotated[
        Count,
        Meta(description="Calls removed because the journal was full, since mcpyard started."),
    ] = 0


class LogLineView(View, frozen=True, kw_only=True):
    """A line that a server wrote to its standard error."""

    number: int
    at: Moment
    text: str


def call_view(call: CallRecord) -> CallView:
    """The view of a call."""
    return CallView(
        id=call.id,
        at=moment(call.at),
        who=call.who,
        server=call.server_name,
        server_id=str(call.server),
        tool=call.tool,
        ms=round(call.ms, 3),
        outcome=call.outcome,
        bytes_in=call.bytes_in,
        bytes_out=call.bytes_out,
    )


def log_line_view(line: LogLine) -> LogLineView:
    """The view of a log line."""
    return LogLineView(number=line.number, at=moment(line.at), text=line.text)
