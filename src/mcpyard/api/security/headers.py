"""The headers that every answer carries; a route that sets one of them itself knows better."""

from functools import lru_cache
from typing import Final

from starlette.types import Message, Send

from mcpyard.asgi_scope import Headers

STRICT: Final[Headers] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


BRIEF: Final[Headers] = (STRICT[0], STRICT[4])
"""For answers that are for programs and never pages; each header costs time on every call."""


def strictly(send: Send, required: Headers = STRICT) -> Send:
    """Add headers to an answer on its way out."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present: list[tuple[bytes, bytes]] = [*message.get("headers", ())]
            more = missing(required, tuple([name for name, _ in present]))
            message = {**message, "headers": [*present, *more]}
        await send(message)

    return sending


@lru_cache(maxsize=256)
def missing(required: Headers, present: tuple[bytes, ...]) -> Headers:
    """Those of the wanted headers whose names are not among the given."""
    names = {name.lower() for name in present}
    return tuple(each for each in required if each[0] not in names)
