"""The headers that every answer carries; a route that sets one of them itself knows better."""

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


def strictly(send: Send) -> Send:
    """Add the headers to an answer on its way out."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            given: list[tuple[bytes, bytes]] = [*message.get("headers", ())]
            names = {name.lower() for name, _ in given}
            more = [each for each in STRICT if each[0] not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sending
