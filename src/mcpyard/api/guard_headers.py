"""The headers that every answer carries; a route that sets one of them itself knows better."""

from functools import lru_cache
from typing import Final

from starlette.types import Message, Send

STRICT: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


BRIEF: Final = (STRICT[0], STRICT[4])
"""For answers that are for programs and never pages; each header costs time on every call."""


def strictly(send: Send, wanted: tuple[tuple[bytes, bytes], ...] = STRICT) -> Send:
    """Add headers to an answer on its way out."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given: list[tuple[bytes, bytes]] = [*message.get("headers", ())]
            more = _missing(wanted, tuple([name for name, _ in given]))
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sending


@lru_cache(maxsize=256)
def _missing(
    wanted: tuple[tuple[bytes, bytes], ...], given: tuple[bytes, ...]
) -> tuple[tuple[bytes, bytes], ...]:
    names = {name.lower() for name in given}
    return tuple(each for each in wanted if each[0] not in names)
