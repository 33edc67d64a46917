"""The JSON-RPC envelope: read with its members left raw, written by putting bytes together.

A result is never decoded on its way through, so whatever a server says reaches the caller as the
bytes that came: fields and content blocks that nobody here has heard of included.
"""

import asyncio
import re
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

import msgspec
import orjson
from msgspec import Raw

Id = int | str
"""What may name a request. Ours are integers; a server's may be strings."""

Params = bytes | Raw | Mapping[str, Any] | None
"""Parameters as a caller has them: JSON already, a mapping, or none."""

INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
UNSUPPORTED_VERSION: Final = -32022

_TURN_BYTES: Final = 1024 * 1024
"""Copied before the event loop serves somebody else."""

ABSENT: Final = Raw(b"")
"""Stands for a member that did not come; compared by identity."""
_NULL: Final = b"null"


class Envelope(msgspec.Struct, gc=False):
    """One JSON-RPC message; `ABSENT` stands for what did not come."""

    id: Id | None = None
    method: str | None = None
    params: Raw = ABSENT
    result: Raw = ABSENT
    error: Raw = ABSENT

    @property
    def failed(self) -> bool:
        """Whether this is an error answer; some servers send `"error": null` beside a result."""
        return self.error is not ABSENT and bytes(self.error) != _NULL


class RpcError(Exception):
    """A JSON-RPC error, from a server or for one."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class _ErrorBody(msgspec.Struct):
    code: int = INTERNAL_ERROR
    message: str = ""
    data: Raw = ABSENT


class Reply(msgspec.Struct, eq=False):
    """A result as it came: copied out of its message, or decoded, only when somebody looks."""

    _raw: bytes | Raw
    _value: Any = msgspec.UNSET

    @property
    def result(self) -> bytes:
        """The result as the bytes that came."""
        return bytes(self._raw)

    @property
    def is_short(self) -> bool:
        """Whether `result` costs next to nothing."""
        return memoryview(self._raw).nbytes <= _TURN_BYTES

    async def copy_result(self) -> bytes:
        """The result as the bytes that came; a large one in turns, so that others get theirs."""
        view = memoryview(self._raw)
        copy = BytesIO()
        for start in range(0, view.nbytes, _TURN_BYTES):
            copy.write(view[start : start + _TURN_BYTES])
            await asyncio.sleep(0)
        return copy.getvalue()

    @property
    def value(self) -> object:
        """The result decoded; the same object each time."""
        if self._value is msgspec.UNSET:
            # orjson, which makes no whole numbers that it could not write again.
            self._value = orjson.loads(bytes(self._raw))
        return self._value


_envelope = msgspec.json.Decoder(Envelope)
_batch = msgspec.json.Decoder(list[Raw])
_members = msgspec.json.Decoder(dict[str, Raw])
_error_body = msgspec.json.Decoder(_ErrorBody)


def read(frame: bytes) -> Envelope:
    """The message in a frame; `ValueError` or `RecursionError` when there is none."""
    # Raw members are skipped over, not looked into, so the encoding is checked here.
    if not frame.isascii():
        frame.decode()
    return _envelope.decode(frame)


def read_batch(frame: bytes) -> list[bytes]:
    """The elements of a batch (revision 2025-03-26 has them); raises as `read` does."""
    return [bytes(element) for element in _batch.decode(frame)]


def read_error(raw: Raw) -> RpcError:
    """The error a server answered with, as far as it can be read."""
    try:
        body = _error_body.decode(raw)
        data = None if body.data is ABSENT else orjson.loads(bytes(body.data))
    except (ValueError, RecursionError):
        return RpcError(INTERNAL_ERROR, "the server returned a malformed error")
    return RpcError(body.code, body.message, data)


def encode(params: Params) -> bytes:
    """Parameters as JSON."""
    if isinstance(params, bytes):
        return params
    if isinstance(params, Mapping):
        return orjson.dumps(params)
    return b"{}" if params is None else bytes(params)


@lru_cache(maxsize=1024)
def quoted(text: str) -> bytes:
    """A text as JSON; remembered, because methods and tool names come again and again."""
    return orjson.dumps(text)


def request(number: int, method: str, params: bytes) -> bytes:
    """A request of ours."""
    return b'{"jsonrpc":"2.0","id":%d,"method":%b,"params":%b}' % (number, quoted(method), params)


def notification(method: str, params: bytes) -> bytes:
    """A notification."""
    return b'{"jsonrpc":"2.0","method":%b,"params":%b}' % (quoted(method), params)


def success(number: Id, result: bytes) -> bytes:
    """The answer to a server's request."""
    if type(number) is int:
        return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (number, result)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (_number(number), result)


def failure(number: Id, error: RpcError) -> bytes:
    """The error answer to a server's request."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (_number(number), orjson.dumps(body))


def _number(number: Id) -> bytes:
    # Not orjson for numbers: it knows none beyond 64 bits, and others do.
    return b"%d" % number if isinstance(number, int) else orjson.dumps(number)


def with_meta(params: bytes, members: bytes) -> bytes:
    """Parameters with members (JSON without its braces) put into their `_meta`; ours win.

    Spliced without decoding unless the text `"_meta"` stands somewhere in them.
    """
    if b'"_meta"' in params:
        return _merge_meta(params, members)
    body = params[1:].lstrip()
    comma = b"" if body.startswith(b"}") else b","
    return b'{"_meta":{%b}%b%b' % (members, comma, body)


def _merge_meta(params: bytes, members: bytes) -> bytes:
    outer = _members.decode(params)
    meta: dict[str, Raw] = {}
    if bytes(outer.get("_meta", ABSENT)).startswith(b"{"):
        meta = _members.decode(outer["_meta"])
    meta.update(_members.decode(b"{%b}" % members))
    outer["_meta"] = Raw(msgspec.json.encode(meta))
    return msgspec.json.encode(outer)


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]|-?\d+', re.DOTALL)
_PLAIN_NUMBER = re.compile(rb"\d{1,18}")
_LAST_ID = re.compile(rb',\s*"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')


def find_id(head: bytes, tail: bytes) -> int | None:
    """The call that a damaged or cut-out answer belongs to, judged by its two ends.

    Only a member `id` of the outermost object counts: an `id` inside a result may name anything.
    None when the message is a server's own request.
    """
    depth = 0
    key = b""
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
        elif depth == 1:
            if token == b'"method"':
                return None
            if key == b'"id"':
                return int(token) if _PLAIN_NUMBER.fullmatch(token) else None
            key = token
    match = _LAST_ID.search(tail)
    return int(match[1]) if match else None
