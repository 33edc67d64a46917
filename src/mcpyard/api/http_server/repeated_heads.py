"""Requests whose head is that of the request before on the same connection, but for the length.

A program that calls tools sends one head over and over; only the digits of its `Content-Length`
differ. What the parser made of it once holds for the same bytes again, so they are compared instead
of parsed: that is half of what a small request costs. It is done only where nothing can be in
doubt: the first such request came in one piece with its whole body, said the length of that once
and in plain digits, and left nothing behind. Each later one must have the same bytes before and
after the digits, and its digits must say exactly how many bytes follow its head. Anything else is
parsed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpyard.api.security.known_heads import LENGTH, Head
from mcpyard.asgi_scope import KNOWN_HEAD, SEND_WHOLE

if TYPE_CHECKING:
    from mcpyard.api.http_server.uvicorn_internals import ASGI3Application

_END: Final = b"\r\n\r\n"
_LINE: Final = b"\r\n"
_NOT_PLAIN: Final = frozenset({b"transfer-encoding", b"upgrade", b"expect"})
_STAYS: Final = b"keep-alive"

_MOST_DIGITS: Final = 6
"""A longer body does not come in one piece, and this one is within the limit of every body."""


class Repeated(NamedTuple):
    """A head that may come again.

    Attributes:
        before: Its bytes up to the digits of the length.
        after: Its bytes from there to its end.
        digits: The length that it said itself.
        at: Which of its headers says it.
        scope: What the parser made of it.
        app: Who answers.
        head: What is known of it.
    """

    before: bytes
    after: bytes
    digits: bytes
    at: int
    scope: Mapping[str, Any]
    app: "ASGI3Application"
    head: Head

    def body_of(self, data: bytes) -> bytes | None:
        """The body, if these bytes are a whole request with this head and a length of its own."""
        if not data.startswith(self.before):
            return None
        start = len(self.before)
        end = data.find(b"\r", start, start + _MOST_DIGITS + 1)
        if end < 0 or not data.startswith(self.after, end):
            return None
        body = data[end + len(self.after) :]
        return body if data[start:end] == b"%d" % len(body) else None

    def scope_of(self, body: bytes) -> dict[str, Any]:
        """What the parser would have made of the head of a request with this body."""
        scope = dict(self.scope)
        digits = b"%d" % len(body)
        if digits != self.digits:
            headers = scope["headers"] = [*scope["headers"]]
            headers[self.at] = (LENGTH, digits)
        return scope


def repeatable(data: bytes, scope: Mapping[str, Any], app: "ASGI3Application") -> Repeated | None:
    """What to compare the next request with.

    Args:
        data: Bytes that were one request, neither more nor less.
        scope: What the parser made of them.
        app: Who answers.
    """
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    names = [name for name, _ in headers]
    end = data.find(_END) + len(_END)
    hole = _hole(data[:end])
    if hole is None or names.count(LENGTH) != 1 or not _NOT_PLAIN.isdisjoint(names):
        return None
    at, digits = names.index(LENGTH), data[slice(*hole)]
    if not digits == headers[at][1] == b"%d" % (len(data) - end):
        return None
    stays = dict(headers).get(b"connection", _STAYS).lower() == _STAYS
    if not stays or scope["http_version"] != "1.1":
        return None
    # The answer that the scope leads to is over, and need not be kept.
    head = Head(scope)
    template = {**scope, SEND_WHOLE: None, KNOWN_HEAD: head}
    return Repeated(data[: hole[0]], data[hole[1] : end], digits, at, template, app, head)


def _hole(head: bytes) -> tuple[int, int] | None:
    """Where the value of the length stands in a head; None unless that is beyond doubt."""
    lines = head.lower().count(_LINE + LENGTH)
    start = head.lower().find(_LINE + LENGTH + b": ")
    if lines != 1 or start < 0:
        return None
    start += len(_LINE + LENGTH + b": ")
    return start, head.index(_LINE, start)
