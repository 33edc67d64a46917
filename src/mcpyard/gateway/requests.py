"""A request of a client, taken apart as far as the gateway must: no value is decoded on the way."""

from collections.abc import Mapping
from typing import Final, Literal, Protocol

import msgspec
import orjson
from msgspec import Raw, Struct

from mcpyard.domain.observed import Era
from mcpyard.domain.ports import RequestHandler
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.protocol import (
    CLIENT_CAPABILITIES,
    INPUT_RESPONSES,
    META,
    PROGRESS_TOKEN,
    PROTOCOL_VERSION,
    REQUEST_STATE,
)
from mcpyard.wire.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    Id,
    RpcError,
    notification,
    quoted,
)
from mcpyard.yard.calls.call_context import (
    HOPS,
    MAX_HOPS,
    NO_EXTRAS,
    CallExtras,
    forwarded_meta,
    with_hops,
)

_NULL: Final = b"null"
_NO_ARGUMENTS: Final = (b"", _NULL)
_TASK: Final = "task"
"""The parameter that asks for a task; a receiver that does not support tasks ignores it."""

_PLAIN: Final = frozenset({"name", "arguments", META, _TASK})
_NOT_FORWARDED: Final = frozenset({META, _TASK})
_OWN_META: Final = frozenset({PROGRESS_TOKEN, HOPS, PROTOCOL_VERSION, CLIENT_CAPABILITIES})
_ABSENT: Final = Raw(b"")


class ClientEnvelope(msgspec.Struct, gc=False):
    """One JSON-RPC message of a client; empty raw members did not come."""

    jsonrpc: str = ""
    id: Id | None = None
    method: str | None = None
    params: Raw = _ABSENT
    result: Raw = _ABSENT
    error: Raw = _ABSENT

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request of ours."""
        return self.method is None and (bool(bytes(self.result)) or bool(bytes(self.error)))


class PlainParams(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The parameters of a call that brings nothing but arguments."""

    name: str
    arguments: Raw = _ABSENT


class PlainCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The message of such a call."""

    jsonrpc: Literal["2.0"]
    id: Id
    method: Literal["tools/call"]
    params: PlainParams


_plain_call = msgspec.json.Decoder(PlainCall)
_envelope = msgspec.json.Decoder(ClientEnvelope)
_members = msgspec.json.Decoder(dict[str, Raw])
_text = msgspec.json.Decoder(str)


class GatewayClient(Struct, frozen=True):
    """Who asks, as far as it matters to a server.

    Attributes:
        who: For the journal.
        era: The era it speaks.
        version: The revision it speaks.
        capabilities: Those of its capabilities that the gateway supports, as JSON.
        abilities: Which questions of a server it can answer.
        log_level: The log messages it wants; None for none.
        client_key: Names it to servers that run a process for each client.
        name: What it calls itself; empty for nothing.
        release: Its own version, as it gave it.
    """

    who: str
    era: Era
    version: str
    capabilities: bytes = b"{}"
    abilities: frozenset[str] = frozenset()
    log_level: str | None = None
    client_key: str | None = None
    name: str = ""
    release: str = ""


class ReplyChannel(Protocol):
    """The way back to who asked: an exchange over HTTP, or a program in this process."""

    def send(self, message: bytes) -> None:
        """Tell the client something before the answer."""
        ...

    async def answer(self, body: bytes) -> None:
        """Give the answer."""
        ...


class Request(msgspec.Struct):
    """One request, and the way back to who asked. A msgspec struct: one is made for every call.

    Attributes:
        client: Who asks.
        exposure: What the address shows.
        exchange: The way back.
        path: The address.
        id: The request's id.
        method: What is asked.
        params: The members of its parameters, as they came.
        meta: The members of their `_meta`.
        ask: Asks the client something, where its era lets a server ask.
    """

    client: GatewayClient
    exposure: Exposure
    exchange: ReplyChannel | None
    path: str
    id: Id
    method: str
    params: dict[str, Raw]
    meta: dict[str, Raw] = {}
    ask: RequestHandler | None = None

    @property
    def modern(self) -> bool:
        """Whether the client speaks the modern era."""
        return self.client.era is Era.MODERN

    @property
    def progress_token(self) -> bytes | None:
        """The token the client wants to hear of progress by, as it came."""
        raw = self.meta.get(PROGRESS_TOKEN)
        return None if raw is None or bytes(raw) == _NULL else bytes(raw)

    def notify(self, method: str, params: bytes) -> None:
        """Send the client a notification about its request, if it is still there."""
        if self.exchange is not None:
            self.exchange.send(notification(method, params))

    def text(self, key: str) -> str:
        """A parameter that must be a text."""
        try:
            return _text.decode(self.params[key])
        except (KeyError, ValueError):
            raise RpcError(INVALID_PARAMS, f"{key} must be a string") from None

    def forwarded(self, changed: Mapping[str, bytes], *, to_yard: bool) -> bytes:
        """The parameters for a server: as they came, but for these members and our own `_meta`."""
        members = {key: raw for key, raw in self.params.items() if key not in _NOT_FORWARDED}
        parts = [
            b"%b:%b" % (quoted(key), changed.get(key) or bytes(raw)) for key, raw in members.items()
        ]
        parts += [
            b"%b:%b" % (quoted(key), raw) for key, raw in changed.items() if key not in members
        ]
        meta = forwarded_meta(self.meta)
        if to_yard:
            meta = with_hops(meta, hops(self.meta))
        if meta:
            parts.append(b'"_meta":{%b}' % meta)
        return b"{%b}" % b",".join(parts)

    @property
    def answers_a_question(self) -> bool:
        """Whether it goes on with an earlier request, to which the server had a question."""
        return INPUT_RESPONSES in self.params or REQUEST_STATE in self.params

    @property
    def extras(self) -> CallExtras:
        """What a call of a tool holds beside its name and arguments."""
        meta = self.meta
        if self.params.keys() <= _PLAIN and (not meta or _is_own(meta)):
            return NO_EXTRAS
        members = {key: bytes(raw) for key, raw in self.params.items() if key not in _PLAIN}
        return CallExtras(members, forwarded_meta(self.meta), hops(self.meta))


def _is_own(meta: Mapping[str, Raw]) -> bool:
    """Whether nothing of a `_meta` is for the server, and no gateway was on the way."""
    return meta.keys() <= _OWN_META and HOPS not in meta


def read_envelope(body: bytes) -> ClientEnvelope:
    """The message in a body; `ValueError` or `RecursionError` when there is none."""
    # Raw members are skipped over, not looked into, so the encoding is checked here.
    if not body.isascii():
        body.decode()
    return _envelope.decode(body)


def read_plain_call(body: bytes) -> PlainCall | None:
    """The call in a body, if it is a plain one and all of it is read as `read_envelope` does."""
    try:
        return _plain_call.decode(body) if body.isascii() else None
    except (ValueError, RecursionError):
        return None


def arguments_of(raw: Raw) -> bytes:
    """The arguments of a call, as JSON."""
    arguments = bytes(raw)
    return b"{}" if arguments in _NO_ARGUMENTS else arguments


def members_of(raw: Raw | bytes, what: str) -> dict[str, Raw]:
    """The members of a JSON object; none where there is none at all."""
    text = bytes(raw)
    if not text or text == _NULL:
        return {}
    try:
        return _members.decode(text)
    except (ValueError, RecursionError):
        raise RpcError(INVALID_PARAMS, f"{what} must be an object") from None


def text_of(raw: Raw | None) -> str:
    """A text; empty for anything else."""
    try:
        return "" if raw is None else _text.decode(raw)
    except ValueError:
        return ""


def decoded(raw: Raw | bytes) -> object:
    """A value, decoded; for the small ones that the gateway itself looks at."""
    try:
        return orjson.loads(bytes(raw))
    except ValueError:
        raise RpcError(INVALID_PARAMS, "is not JSON") from None


def hops(meta: Mapping[str, Raw]) -> int:
    """How many yards a request went through."""
    raw = meta.get(HOPS)
    if raw is None:
        return 0
    count = decoded(raw)
    return count if isinstance(count, int) and count >= 0 else MAX_HOPS


def refuse_loops(meta: Mapping[str, Raw]) -> None:
    """Refuse a request that went through too many yards: it goes in a circle."""
    if HOPS in meta and hops(meta) >= MAX_HOPS:
        raise RpcError(INVALID_REQUEST, f"the request already passed through {MAX_HOPS} gateways")
