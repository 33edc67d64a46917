"""A POST before its message is looked at: headers, body, and what is wrong with them."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec
from starlette.types import Message, Receive, Scope

from mcpyard.asgi_scope import HEADERS, PRINCIPAL, SEND_WHOLE, Principal, SendWhole
from mcpyard.gateway.protocol import PARSE_ERROR
from mcpyard.gateway.refusing import NOT_FOUND, mismatch
from mcpyard.gateway.requests import ClientEnvelope, read_envelope
from mcpyard.wire.jsonrpc import INVALID_REQUEST, RpcError, read_batch

SESSION: Final = b"mcp-session-id"
VERSION: Final = b"mcp-protocol-version"

NO_BATCHES: Final = "batches are not supported: send one message per request"

_MOST_IN_BATCH: Final = 100
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_NOT_ACCEPTABLE: Final = 406
_UNSUPPORTED_MEDIA: Final = 415


class Refused(Exception):
    """A request that is refused before there is anybody to answer."""

    def __init__(self, status: int, error: RpcError) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


def no_session() -> Refused:
    """The refusal of a session that is over, or was never there: the client begins anew."""
    return Refused(NOT_FOUND, RpcError(-32001, "Session not found: initialize again"))


class Post(msgspec.Struct, frozen=True):
    """One POST. A msgspec struct because one is made for every call.

    Attributes:
        path: The address.
        who: Who sent it, for the journal.
        headers: Its headers; of one that came twice the last.
        raw_headers: Its headers as they came.
        body: Its body.
        whole: Gives a whole answer, where that can be done.
    """

    path: str
    who: str
    headers: Mapping[bytes, bytes]
    raw_headers: list[tuple[bytes, bytes]]
    body: bytes
    whole: SendWhole | None = None

    def header(self, name: bytes) -> str | None:
        """A header's value."""
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1").strip()

    def only_once(self, name: bytes) -> None:
        """Refuse a header that came twice: two readers could take it for two things."""
        if sum(each == name for each, _ in self.raw_headers) > 1:
            raise mismatch(f"{name.decode()} came twice")

    def envelope(self) -> ClientEnvelope:
        """The message in the body.

        Raises:
            Refused: There is none.
        """
        return _read(self.body)

    @property
    def is_batch(self) -> bool:
        """Whether the body is a list of messages."""
        return not self.body.startswith(b"{") and self.body.lstrip()[:1] == b"["

    def batch(self) -> list[ClientEnvelope]:
        """The messages of a batch.

        Raises:
            Refused: It is none, or one of them is none.
        """
        try:
            elements = read_batch(self.body)
        except (ValueError, RecursionError) as error:
            raise _unreadable(self.body, error) from None
        if not 0 < len(elements) <= _MOST_IN_BATCH:
            text = f"a batch has 1 to {_MOST_IN_BATCH} messages"
            raise Refused(400, RpcError(INVALID_REQUEST, text))
        return [_read(each) for each in elements]


def _read(body: bytes) -> ClientEnvelope:
    try:
        message = read_envelope(body)
    except (ValueError, RecursionError) as error:
        raise _unreadable(body, error) from None
    if message.jsonrpc != "2.0":
        raise Refused(400, RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"'))
    return message


def check_types(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a POST that brings, or would take, what the gateway does not speak."""
    if refused := _objection(headers.get(b"content-type", b""), headers.get(b"accept", b"")):
        raise Refused(*refused)


@lru_cache(maxsize=256)
def _objection(content_type: bytes, accept: bytes) -> tuple[int, RpcError] | None:
    media_type = content_type.partition(b";")[0].strip().lower()
    if media_type != _JSON.encode():
        text = f"the content type must be {_JSON}"
        return _UNSUPPORTED_MEDIA, RpcError(INVALID_REQUEST, text)
    if not all(accepts(accept, each) for each in (_JSON, _EVENTS)):
        text = f"{_JSON} and {_EVENTS} must both be accepted"
        return _NOT_ACCEPTABLE, RpcError(INVALID_REQUEST, text)
    return None


@lru_cache(maxsize=256)
def accepts(header: bytes, media_type: str) -> bool:
    """Whether an Accept header takes a type."""
    kind = media_type.partition("/")[0]
    accepted = {
        each.partition(";")[0].strip() for each in header.decode("latin-1").lower().split(",")
    }
    return not accepted.isdisjoint({media_type, f"{kind}/*", "*/*"})


def take(scope: Scope, body: bytes = b"") -> Post:
    """A request with its body, or without one."""
    principal: Principal | None = scope.get(PRINCIPAL)
    name, raw = principal.name if principal else "somebody", scope["headers"]
    headers = scope.get(HEADERS) or dict(raw)
    return Post(scope["path"], name, headers, raw, body, scope.get(SEND_WHOLE))


async def read_body(receive: Receive) -> bytes | None:
    """Read the body of a request; None when its sender went away meanwhile."""
    parts: list[bytes] = []
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _unreadable(body: bytes, error: Exception) -> Refused:
    start = body.lstrip()[:1]
    if start == b"[":
        return Refused(400, RpcError(INVALID_REQUEST, NO_BATCHES))
    if "Expected" in str(error):
        return Refused(400, RpcError(INVALID_REQUEST, f"is not a JSON-RPC message: {error}"))
    return Refused(400, RpcError(PARSE_ERROR, f"is not JSON: {error}"))
