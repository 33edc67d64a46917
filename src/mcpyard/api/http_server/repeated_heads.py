"""Requests whose head is, byte for byte, that of the request before on the same connection.

A program that calls tools sends one head over and over. What the parser made of it once holds for
the same bytes again, so they are compared instead of parsed: that is half of what a small request
costs. It is done only where nothing can be in doubt: the first such request came in one piece with
its whole body, said the length of that, and left nothing behind.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcpyard.api.security.known_heads import Head
from mcpyard.asgi_scope import KNOWN_HEAD, SEND_WHOLE

if TYPE_CHECKING:
    from mcpyard.api.http_server.uvicorn_internals import ASGI3Application

_END: Final = b"\r\n\r\n"
_NOT_PLAIN: Final = frozenset({b"transfer-encoding", b"upgrade", b"expect"})
_STAYS: Final = b"keep-alive"


class Repeated(NamedTuple):
    """A head that may come again.

    Attributes:
        head: Its bytes.
        size: Of the whole request.
        scope: What the parser made of it.
        app: Who answers.
    """

    head: bytes
    size: int
    scope: Mapping[str, Any]
    app: "ASGI3Application"

    def fits(self, data: bytes) -> bool:
        """Whether these bytes are a whole request with this head."""
        return len(data) == self.size and data.startswith(self.head)


def repeatable(data: bytes, scope: Mapping[str, Any], app: "ASGI3Application") -> Repeated | None:
    """What to compare the next request with.

    Args:
        data: Bytes that were one request, neither more nor less.
        scope: What the parser made of them.
        app: Who answers.
    """
    headers: dict[bytes, bytes] = dict(scope["headers"])
    end = data.find(_END) + len(_END)
    if headers.get(b"content-length") != b"%d" % (len(data) - end):
        return None
    stays = scope["http_version"] == "1.1" and headers.get(b"connection", _STAYS).lower() == _STAYS
    if not stays or not _NOT_PLAIN.isdisjoint(headers):
        return None
    # The answer that the scope leads to is over, and need not be kept.
    template = {**scope, SEND_WHOLE: None, KNOWN_HEAD: Head(scope)}
    return Repeated(data[:end], len(data), template, app)
