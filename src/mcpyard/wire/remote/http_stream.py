"""Reading an event stream that carries messages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from enum import Enum, auto
from typing import Final

import httpx2

from mcpyard.wire.link import Receiver
from mcpyard.wire.remote.eventstream import EventParser, OversizeEvent, SseEvent
from mcpyard.wire.remote.message_ids import answers
from mcpyard.wire.remote.post_sender import Answer

EVENT_STREAM: Final = "text/event-stream"

_LINGER_SECONDS: Final = 0.25
"""How long a stream may take to end after the answer: read to its end, its connection is reused."""

_DEFAULT_PAUSE: Final = 1.0
_SHORTEST_PAUSE: Final = 0.02
_LONGEST_PAUSE: Final = 30.0


class Ending(Enum):
    """How the reading of a stream ended."""

    ANSWERED = auto()
    CUT = auto()
    OVERSIZE = auto()
    REFUSED = auto()


async def relay(
    response: Answer, parser: EventParser, receiver: Receiver, request: int | None
) -> Ending:
    """Hand on every message of a stream until it ends or has answered the request."""
    try:
        async with aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                ending = _hand_on(parser.feed(chunk), receiver, request)
                if ending is Ending.ANSWERED:
                    await _read_out(chunks)
                if ending is not None:
                    return ending
                if parser.overflowing and request is not None:
                    return Ending.OVERSIZE
    except httpx2.HTTPError:
        return Ending.CUT
    return Ending.CUT


def pause(retry: int | None, barren: int) -> float:
    """Seconds to wait before a stream is opened anew.

    Args:
        retry: The milliseconds the server asked for.
        barren: How many streams in a row brought nothing; each doubles the wait.
    """
    seconds = _DEFAULT_PAUSE if retry is None else retry / 1000
    grown = max(seconds, _SHORTEST_PAUSE) * 2 ** min(barren, 16)
    return min(grown, _LONGEST_PAUSE)


def _hand_on(
    items: list[SseEvent | OversizeEvent], receiver: Receiver, request: int | None
) -> Ending | None:
    for item in items:
        if isinstance(item, OversizeEvent):
            receiver.noise(f"an event of {item.size} bytes is over the limit", item.head)
            if request is not None:
                return Ending.OVERSIZE
        elif item.event == "message" and item.data:
            receiver.message(item.data, request)
            if request is not None and answers(item.data, request):
                return Ending.ANSWERED
    return None


async def _read_out(chunks: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_LINGER_SECONDS):
            async for _ in chunks:
                pass
