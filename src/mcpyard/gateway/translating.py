"""Results between the eras: what one era adds to a result and the other does not know.

Within one era a result is never touched. Across them members are added or taken away at the outer
object; everything inside stays the bytes that came.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Raw

from mcpyard.wire.jsonrpc import ABSENT, quoted

_MODERN_ONLY: Final = ("resultType", "ttlMs", "cacheScope")
_CACHEABLE: Final = frozenset({"resources/read"})
_PLAIN_START: Final = b'{"'
_COMPLETE: Final = b'"resultType":"complete"'
_NOT_CACHEABLE: Final = b',"ttlMs":0,"cacheScope":"private"'

_members = msgspec.json.Decoder(dict[str, Raw])


class InputRequired(msgspec.Struct, rename="camel"):
    """A result that asks the client for something before there can be another."""

    result_type: str = "complete"
    input_requests: dict[str, Raw] = {}
    request_state: Raw = ABSENT


class Question(msgspec.Struct):
    """One thing that is asked."""

    method: str = ""
    params: Raw = Raw(b"{}")


_input_required = msgspec.json.Decoder(InputRequired)
_question = msgspec.json.Decoder(Question)


def to_modern(raw: bytes, method: str) -> bytes:
    """A result of the handshake era as the modern era has it."""
    if b'"resultType"' in raw:
        raw = without(raw, _MODERN_ONLY)
    hints = _NOT_CACHEABLE if method in _CACHEABLE else b""
    if not raw.startswith(_PLAIN_START):
        raw = b"{" + raw.lstrip()[1:].lstrip()
    comma = b"" if raw.startswith(b"{}") else b","
    # One copy, as a result may be long.
    return b"".join((b"{", _COMPLETE, hints, comma, memoryview(raw)[1:]))


def to_handshake(raw: bytes) -> bytes:
    """A result of the modern era as the handshake era has it."""
    return without(raw, _MODERN_ONLY) if b'"resultType"' in raw else raw


def without(raw: bytes, keys: tuple[str, ...]) -> bytes:
    """An object without some of its members."""
    members = _members.decode(raw)
    if members.keys().isdisjoint(keys):
        return raw
    others = [(key, value) for key, value in members.items() if key not in keys]
    return b"{%b}" % b",".join(b"%b:%b" % (quoted(key), bytes(value)) for key, value in others)


def without_task(params: bytes) -> bytes:
    """The parameters of a question without the request that a client answers with a task.

    The gateway could not carry the server's requests about that task to the client.
    """
    if b'"task"' not in params:
        return params
    try:
        return without(params, ("task",))
    except ValueError:
        return params


def input_required(raw: bytes) -> InputRequired | None:
    """What a result of the modern era asks for; None when it is the last word."""
    if b'"input_required"' not in raw:
        return None
    result = _input_required.decode(raw)
    return result if result.result_type == "input_required" else None


def questions(required: InputRequired) -> Mapping[str, Question]:
    """What is asked, by the names the answers must have."""
    return {key: _question.decode(raw) for key, raw in required.input_requests.items()}


def asking_result(open_questions: Mapping[str, tuple[str, bytes]], state: str) -> bytes:
    """A result of the modern era that asks for something."""
    requests = b",".join(
        b'%b:{"method":%b,"params":%b}' % (quoted(key), quoted(method), params)
        for key, (method, params) in open_questions.items()
    )
    return b'{"resultType":"input_required","inputRequests":{%b},"requestState":%b}' % (
        requests,
        quoted(state),
    )
