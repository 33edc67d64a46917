"""Calls and log lines as the faces show them."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mcpyard.cluster.call_pages import CallPosition
from mcpyard.domain.call_contents import CallContents, RecordedText, RecordingMode
from mcpyard.domain.ports import LogLine
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.calls.call_commands import CallCommands
from mcpyard.yard.calls.recording import NotRecording, RecordingState
from mcpyard.yard.views.base import Count, Moment, Uuid, View, moment
from mcpyard.yard.views.problems import PassedOverView


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
    node: (
        Annotated[
            str, Meta(description="In a cluster, the node that it was made at, which gave the id.")
        ]
        | UnsetType
    ) = UNSET
    recorded: Annotated[
        bool, Meta(description="Whether its arguments and its result are recorded.")
    ] = False


class RecordedTextView(View, frozen=True, kw_only=True):
    """A text that was recorded, without secrets."""

    text: str
    size: Annotated[Count, Meta(description="How many bytes it had before it was cut.")]
    tokens: Annotated[Count, Meta(description="An estimate.")]
    cut: Annotated[bool, Meta(description="Whether its end is missing.")]
    masked: Annotated[bool, Meta(description="Whether secrets were replaced by `***`.")]


class CallCommandsView(View, frozen=True, kw_only=True):
    """The same call as a command; the token stays a variable."""

    curl: str
    cli: str
    python: str


class CallDetailsView(CallView, frozen=True, kw_only=True):
    """A call, with all that is recorded of it."""

    queue_ms: Annotated[
        float | None,
        Meta(description="How long it waited for its turn, or for the server to start."),
    ] = None
    server_ms: Annotated[float | None, Meta(description="How long the server took.")] = None
    server_version: str = ""
    protocol: str = ""
    passed_over: list[PassedOverView]
    arguments: Annotated[
        RecordedTextView | None, Meta(description="A JSON object; null where nothing is recorded.")
    ]
    result: Annotated[
        RecordedTextView | None, Meta(description="A JSON object; null where there was none.")
    ]
    error: RecordedTextView | None
    commands: Annotated[
        CallCommandsView | None,
        Meta(description="Null where the arguments are not known in full."),
    ]


class RecordingView(View, frozen=True, kw_only=True):
    """Whether the arguments and results of calls are recorded."""

    mode: RecordingMode
    recording: bool
    reason: Annotated[
        NotRecording | None, Meta(description="Why calls are not recorded; null where they are.")
    ]
    calls: Annotated[Count, Meta(description="Calls whose contents are recorded.")]
    bytes: Annotated[Count, Meta(description="What these take on the disk.")]
    dropped: Annotated[
        Count,
        Meta(description="Calls that were not recorded since the start: there were too many."),
    ]


class ClearedView(View, frozen=True, kw_only=True):
    """What was deleted."""

    calls: Annotated[Count, Meta(description="Calls whose contents were deleted.")]


class CallPage(View, frozen=True, kw_only=True):
    """A page of the journal."""

    calls: list[CallView]
    next: Annotated[
        int | str | None,
        Meta(
            description="What `before` of the next page is: a number, or a text in a cluster; in "
            "another order than by time, latest first, what `offset` is. Null on the last page."
        ),
    ]
    missing: Annotated[
        list[str], Meta(description="In a cluster, the nodes whose calls are not included.")
    ] = msgspec.field(default_factory=list[str])
    dropped: Annotated[
        Count, Meta(description="Calls that were not recorded since mcpyard started.")
    ] = 0
    trimmed: Annotated[
        Count,
        Meta(description="Calls removed because the journal was full, since mcpyard started."),
    ] = 0


class LogLineView(View, frozen=True, kw_only=True):
    """A line that a server wrote to its standard error, or a log message that it sent."""

    number: int
    at: Moment
    text: str
    level: Annotated[
        str | None, Meta(description="Of a log message of MCP; null for standard error.")
    ]
    logger: str | None


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
        node=call.node or UNSET,
        recorded=call.recorded,
    )


def call_details_view(
    call: CallRecord, contents: CallContents | None, commands: CallCommands | None
) -> CallDetailsView:
    """The view of a call with all that is recorded of it."""
    queue_ms = contents.queue_ms if contents else None
    return CallDetailsView(
        **msgspec.structs.asdict(call_view(call)),
        queue_ms=None if queue_ms is None else round(queue_ms, 3),
        server_ms=None if queue_ms is None else round(max(0.0, call.ms - queue_ms), 3),
        server_version=contents.server_version if contents else "",
        protocol=contents.protocol if contents else "",
        passed_over=[
            PassedOverView(server=server, why=why)
            for server, why in (contents.passed_over if contents else ())
        ],
        arguments=_text_view(contents.arguments if contents else None),
        result=_text_view(contents.result if contents else None),
        error=_text_view(contents.error if contents else None),
        commands=CallCommandsView(**msgspec.structs.asdict(commands)) if commands else None,
    )


def _text_view(text: RecordedText | None) -> RecordedTextView | None:
    return RecordedTextView(**msgspec.structs.asdict(text)) if text else None


def recording_view(state: RecordingState) -> RecordingView:
    """The view of whether calls are recorded."""
    return RecordingView(
        mode=state.mode,
        recording=state.reason is None,
        reason=state.reason,
        calls=state.usage.calls,
        bytes=state.usage.bytes,
        dropped=state.dropped,
    )


def next_page(position: CallPosition | None) -> int | str | None:
    """Where the next page begins: a number where there is one journal."""
    if position is None:
        return None
    text = str(position)
    return int(text) if text.isdecimal() else text


def log_line_view(line: LogLine) -> LogLineView:
    """The view of a log line."""
    return LogLineView(
        number=line.number,
        at=moment(line.at),
        text=line.text,
        level=line.level,
        logger=line.logger,
    )
