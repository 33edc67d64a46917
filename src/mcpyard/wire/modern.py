"""The modern era, 2026-07-28: no handshake, every request says who asks and in which version."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import orjson

from mcpyard.domain.narrowing import is_array
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import (
    ClientFace,
    InitializeResult,
    members,
    reply_members,
    text_or_none,
    ttl_of,
)
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.pending import RequestExtras
from mcpyard.wire.remote.request_headers import routing_headers

VERSION: Final = "2026-07-28"

_PREFIX: Final = "io.modelcontextprotocol/"
_SERVER_INFO: Final = _PREFIX + "serverInfo"
_MOST_CACHED: Final = 4096
"""Bytes of capabilities that are remembered: larger ones count for nobody's quota here."""


class Modern:
    """The era codec: the `_meta` of each request, and the headers that repeat parts of it."""

    def __init__(self, face: ClientFace) -> None:
        self._face = {"name": face.name, "version": face.version}
        self._cached_meta = lru_cache(maxsize=64)(self._make_meta)
        self._meta = self._make_meta(orjson.dumps(dict(face.capabilities)))

    def extras(self, method: str, name: str | None, terms: CallTerms) -> RequestExtras:
        """Who asks, in which version, and what the headers repeat."""
        meta = self._meta
        if terms.capabilities is not None:
            small = len(terms.capabilities) <= _MOST_CACHED
            meta = (self._cached_meta if small else self._make_meta)(terms.capabilities)
        if terms.log_level is not None:
            meta += b"," + _inner({_PREFIX + "logLevel": terms.log_level})
        return RequestExtras(meta, routing_headers(VERSION, method, name))

    def _make_meta(self, capabilities: bytes) -> bytes:
        return _inner(
            {
                _PREFIX + "protocolVersion": VERSION,
                _PREFIX + "clientCapabilities": orjson.Fragment(capabilities),
                _PREFIX + "clientInfo": self._face,
            }
        )


def read_discover(reply: Reply) -> InitializeResult | None:
    """The result of `server/discover`; None when it is not one of this era.

    A server may answer and list old versions only: that is a server of the handshake era.
    """
    result = reply_members(reply)
    versions = result.get("supportedVersions")
    if not is_array(versions) or VERSION not in versions:
        return None
    return InitializeResult(
        era="modern",
        version=VERSION,
        server_info=members(members(result.get("_meta")).get(_SERVER_INFO)),
        capabilities=members(result.get("capabilities")),
        instructions=text_or_none(result.get("instructions")),
        ttl_ms=ttl_of(result),
    )


def listen_filter(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """Which changes of lists can be listened for, by the capabilities of the server."""
    return {
        f"{kind}ListChanged": True
        for kind in ("tools", "prompts", "resources")
        if members(capabilities.get(kind)).get("listChanged") is True
    }


def _inner(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value)[1:-1]
