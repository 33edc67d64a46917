"""The stream of what happens, as server-sent events.

An event's id names this run of the yard as well as the event: ids begin anew with every start, and
a reader that comes back with one of an earlier run must look at everything again (`resync`) instead
of hearing this run's events as if they followed.

Calls are too many to be events of their own; what a reader gets instead, once a second at most, is
how the counters of the servers stand that were called meanwhile. These carry no id: they are a
state, not news.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mcpyard.api.responses import encode
from mcpyard.asgi_scope import caller_name
from mcpyard.domain.callers import Caller
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.events import Event, Subscription
from mcpyard.yard.yard import YardCore

STREAM: Final = "text/event-stream"
HEARTBEAT: Final = 15.0
LOOK_EVERY: Final = 1.0

_HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_NEVER: Final = -1
"""The id after no event: whoever asks for what follows it is told to look at everything."""


class EventRoutes:
    """Tells what happens in one yard; its streams end when `closing` is set."""

    def __init__(self, yard: YardCore, closing: asyncio.Event) -> None:
        self._yard = yard
        self._closing = closing

    async def events(self, request: Request) -> Response:
        """Every event from now on, or from just after one."""
        after = self._after(request)
        if request.method == "HEAD":
            return Response(media_type=STREAM, headers=_HEADERS)
        caller = self._yard.calls.callers.of(caller_name(request.scope, STREAM))
        with caller.streaming():
            # Refused here, where an error can still be answered; counted while it is read.
            stream = self._stream(after, caller)
        return StreamingResponse(stream, media_type=STREAM, headers=_HEADERS)

    async def _stream(self, after: int | None, caller: Caller) -> AsyncGenerator[bytes]:
        with caller.streaming(again=True):
            async for frames in self._events(after):
                yield frames

    async def _events(self, after: int | None) -> AsyncGenerator[bytes]:
        reader = self._yard.events(after)
        closing = asyncio.create_task(self._closing.wait())
        closing.add_done_callback(lambda _: reader.finish())
        try:
            if after is None:
                # From here on nothing is missed: what is read after this is no older.
                yield self._frame(Event(self._yard.version, "hello"))
            async for frames in self._frames(reader):
                yield frames
        finally:
            closing.cancel()

    async def _frames(self, reader: Subscription) -> AsyncGenerator[bytes]:
        sent, silence = self._counters(), 0.0
        while True:
            events: list[Event] | None = None
            try:
                async with asyncio.timeout(LOOK_EVERY):
                    events = await reader.batch()
            except TimeoutError:
                silence += LOOK_EVERY
            if events == []:
                return
            counters = self._counters()
            frames = b"".join(map(self._frame, events or ()))
            frames += _calls(
                {key: counters[key] for key in counters if counters[key] != sent.get(key)}
            )
            sent = counters
            if not frames and silence >= HEARTBEAT:
                frames = b":\n\n"
            if frames:
                silence = 0.0
                yield frames

    def _counters(self) -> dict[UUID, tuple[int, int]]:
        accounts = self._yard.accounts.by_server
        return {server: (each.calls, each.errors) for server, each in accounts.items()}

    def _frame(self, event: Event) -> bytes:
        name = f"id: {self._yard.instance}-{event.id}\nevent: {event.kind}\ndata: "
        return b"%b%b\n\n" % (name.encode(), encode(event.data))

    def _after(self, request: Request) -> int | None:
        """The id a reader has seen last; a browser that reconnects says it in a header."""
        seen = request.headers.get("last-event-id")
        event_id = request.query_params.get("after") if seen is None else seen
        if event_id is None:
            return None
        instance, _, digits = event_id.rpartition("-")
        number = whole_number(digits)
        if number is None and seen is None:
            raise ArgumentsRefused.of(Problem("after", "is not the id of an event"))
        is_ours = number is not None and instance in {"", self._yard.instance}
        return number if is_ours else _NEVER


def _calls(changed: Mapping[UUID, tuple[int, int]]) -> bytes:
    if not changed:
        return b""
    servers = [
        {"id": str(server), "calls": calls, "errors": errors}
        for server, (calls, errors) in changed.items()
    ]
    return b"event: calls\ndata: %b\n\n" % encode({"servers": servers})
