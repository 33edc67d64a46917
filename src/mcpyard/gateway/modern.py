"""The modern era's side of the gateway: every request stands for itself.

Headers repeat what the body says, so that others can route by them; where the two differ the
request is refused. The client takes a request back by closing its connection.
"""

import asyncio
import base64
import binascii
import logging
import re
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Raw
from starlette.types import Receive, Send

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import YardError
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.observed import Era
from mcpyard.gateway.abilities import abilities_of, carried
from mcpyard.gateway.exchange import Exchange, Watch, send_empty
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.introduction import Introduction
from mcpyard.gateway.listening import Listening
from mcpyard.gateway.methods import Methods
from mcpyard.gateway.posts import VERSION, Post, Refused
from mcpyard.gateway.protocol import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    META,
    PROTOCOL_VERSION,
)
from mcpyard.gateway.refusing import OUR_MISTAKE, mismatch, modern_status, rpc_error, unsupported
from mcpyard.gateway.requests import ClientEnvelope, GatewayClient, Request, decoded, members_of
from mcpyard.gateway.selection import Selections
from mcpyard.wire.eras import members
from mcpyard.wire.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    RpcError,
    failure,
)
from mcpyard.wire.modern import VERSION as SPOKEN
from mcpyard.wire.remote.request_headers import NAMED_BY, Path, headers_for, mirrored
from mcpyard.yard.seen_clients import ClientSightings, introduced

log = logging.getLogger(__name__)

_METHOD: Final = b"mcp-method"
_NAME: Final = b"mcp-name"
_ONCE: Final = (VERSION, _METHOD, _NAME)
_ENCODED: Final = re.compile(r"=\?base64\?(.*)\?=")
_SPOKEN: Final = SPOKEN.encode()
_NO_PARAMS: Final = Raw(b"")
_NO_INFO: Final = Raw(b"{}")
_MOST_CACHED: Final = 2048

_NOTED_EVERY: Final = 1.0
"""Seconds between two notes that a client was heard of."""

_MOST_NAMES: Final = 1000


class ModernEra:
    """Answers requests of the modern era."""

    def __init__(
        self,
        selections: Selections,
        methods: Methods,
        introduction: Introduction,
        listening: Listening,
        seen: ClientSightings,
    ) -> None:
        self._selections = selections
        self._methods = methods
        self._introduction = introduction
        self._listening = listening
        self._seen = seen
        self._noted: dict[str, float] = {}
        self._watch = Watch()

    async def post(
        self, post: Post, message: ClientEnvelope, exposure: Exposure, receive: Receive, send: Send
    ) -> None:
        """Answer one POST."""
        if message.is_answer:
            raise Refused(400, RpcError(INVALID_REQUEST, "no pending request for this response"))
        if message.id is None or message.method is None:
            # Nothing in this era is told from client to server over HTTP.
            await send_empty(send, 202)
            return
        with Exchange(self._watch, receive, send, post.whole) as exchange:
            try:
                request = _request(post, message, exposure, exchange)
                self._note(request.client)
                if request.method == "subscriptions/listen":
                    await self._listening.serve(request)
                    return
                result = await self._answer(request)
            except (RpcError, YardError) as error:
                refused = rpc_error(error)
                body, status = failure(message.id, refused), modern_status(refused)
            except Exception:
                log.exception("%s failed in the gateway itself", message.method)
                body, status = failure(message.id, OUR_MISTAKE), 200
            else:
                await exchange.succeed(message.id, result)
                return
            await exchange.answer(body, status)

    def _note(self, client: GatewayClient) -> None:
        """Note that a client was heard of; each of its requests may be the first or the last."""
        now = asyncio.get_running_loop().time()
        if client.name and now - self._noted.get(client.name, -_NOTED_EVERY) >= _NOTED_EVERY:
            if len(self._noted) >= _MOST_NAMES:
                self._noted.clear()
            self._noted[client.name] = now
            self._seen.note(client.name, client.release)

    async def _answer(self, request: Request) -> bytes:
        if request.method == "server/discover":
            one = self._selections.one_server(request.path) is not None
            return self._introduction.discovered(request.exposure, one=one)
        return await self._methods.answer(request)


class _ClientMeta(NamedTuple):
    """The `_meta` of a request, and the client that sent it."""

    meta: dict[str, Raw]
    client: GatewayClient
    version: object


def _request(
    post: Post, message: ClientEnvelope, exposure: Exposure, exchange: Exchange
) -> Request:
    params = members_of(message.params, "params")
    raw = bytes(params.get(META, _NO_PARAMS))
    read = _client_meta if len(raw) <= _MOST_CACHED else _client_meta.__wrapped__
    meta, client, version = read(post.who, raw)
    method = message.method or ""
    _check_headers(post, method, params, version)
    request = Request(client, exposure, exchange, post.path, message.id or 0, method, params, meta)
    if method == "tools/call" and (target := exposure.tools.get(request.text("name"))):
        _check_mirrored(post, target.route, request)
    return request


@lru_cache(maxsize=1024)
def _client_meta(who: str, raw: bytes) -> _ClientMeta:
    """Cached, since a client sends the same with every request; not to be changed."""
    meta = members_of(raw, META)
    if PROTOCOL_VERSION not in meta or CLIENT_CAPABILITIES not in meta:
        text = f"{META} must have {PROTOCOL_VERSION} and {CLIENT_CAPABILITIES}"
        raise RpcError(INVALID_PARAMS, text)
    declared = decoded(meta[CLIENT_CAPABILITIES])
    capabilities, abilities = carried(declared), abilities_of(declared)
    name, release = introduced(decoded(meta.get(CLIENT_INFO, _NO_INFO)))
    client = GatewayClient(
        *(who, Era.MODERN, SPOKEN, capabilities, abilities, _log_level(meta), who, name, release)
    )
    return _ClientMeta(meta, client, decoded(meta[PROTOCOL_VERSION]))


def _check_headers(post: Post, method: str, params: dict[str, Raw], version: object) -> None:
    if len(post.headers) < len(post.raw_headers):
        for name in _ONCE:
            post.only_once(name)
    if version != SPOKEN or post.headers.get(VERSION) != _SPOKEN:
        _check_version(post, version)
    if post.header(_METHOD) != method:
        raise mismatch("Mcp-Method differs from the body")
    key = NAMED_BY.get(method)
    if key is None or key not in params:
        return
    # Most names are the same letters here and there, and need not be decoded.
    same = b'"%b"' % post.headers.get(_NAME, b"") == bytes(params[key])
    if not same and header_text(post.header(_NAME)) != decoded(params[key]):
        raise mismatch("Mcp-Name differs from the body")


def _check_version(post: Post, version: object) -> None:
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, f"{PROTOCOL_VERSION} must be a string")
    if post.header(VERSION) != version:
        raise mismatch("MCP-Protocol-Version differs from the body")
    if version != SPOKEN:
        raise unsupported(version)


def _check_mirrored(post: Post, route: Route, request: Request) -> None:
    """Compare the arguments that a tool wants repeated in headers with those headers."""
    paths = _mirrored(route)
    if not paths:
        return
    arguments = members(decoded(request.params.get("arguments", b"{}")))
    expected = {name.lower().encode(): text for name, text in headers_for(paths, arguments).items()}
    for name in paths.values():
        key = name.lower().encode()
        post.only_once(key)
        if header_text(post.header(key)) != header_text(expected.get(key)):
            raise mismatch(f"{name} differs from the matching argument")


@lru_cache(maxsize=4096)
def _mirrored(route: Route) -> dict[Path, str]:
    try:
        return mirrored(route.tool.input_schema)
    except ValueError:
        return {}


def header_text(value: str | None) -> str | None:
    """The text in a header's value; None when there is none, or it cannot be read."""
    match = _ENCODED.fullmatch(value) if value is not None else None
    if match is None:
        return value
    try:
        decoded_ = base64.b64decode(match[1], validate=True)
        canonical = base64.b64encode(decoded_).decode() == match[1]
        return decoded_.decode() if canonical else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _log_level(meta: dict[str, Raw]) -> str | None:
    if LOG_LEVEL not in meta:
        return None
    level = decoded(meta[LOG_LEVEL])
    if level not in LEVELS:
        raise RpcError(INVALID_PARAMS, f"{LOG_LEVEL} must be one of {', '.join(LEVELS)}")
    return str(level)
