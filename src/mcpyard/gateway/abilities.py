"""Which questions of a server a client can answer; the others are refused in its name."""

from collections.abc import Mapping
from typing import Final, cast

import orjson

from mcpyard.gateway.protocol import MISSING_CAPABILITY
from mcpyard.gateway.requests import GatewayClient, decoded
from mcpyard.wire.eras import ANSWERABLE
from mcpyard.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError

ELICIT: Final = "elicitation/create"
_BY_URL: Final = "elicitation/create by url"
_MODES: Final = frozenset({ELICIT, _BY_URL})
_CAPABILITIES: Final = {"sampling": "sampling/createMessage", "roots": "roots/list"}

_CARRIED: Final[Mapping[str, frozenset[str]]] = {
    **{key: frozenset(members) for key, members in ANSWERABLE.items()},
    # MCP Apps needs no messages of its own: its pages are resources, which the tools name.
    "extensions": frozenset({"io.modelcontextprotocol/ui"}),
}
"""The capabilities of a client that the gateway can serve, with their members."""


def carried(capabilities: object) -> bytes:
    """The capabilities of a client that are forwarded to a server, as JSON.

    A server relies on them: it would answer a client that supports tasks with a task, and the
    gateway has no way to follow it.
    """
    if not isinstance(capabilities, dict):
        return b"{}"
    offered = cast("dict[str, object]", capabilities)
    kept = {
        key: {name: value for name, value in members.items() if name in names}
        for key, names in _CARRIED.items()
        if (members := _members(offered.get(key))) is not None
    }
    if not kept.get("extensions"):
        kept.pop("extensions", None)
    return orjson.dumps(kept)


def _members(value: object) -> dict[str, object] | None:
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def abilities_of(capabilities: object) -> frozenset[str]:
    """The questions that somebody with these capabilities can answer."""
    if not isinstance(capabilities, dict):
        return frozenset()
    known = cast("dict[str, object]", capabilities)
    able = {method for key, method in _CAPABILITIES.items() if known.get(key) is not None}
    elicits = known.get("elicitation")
    if isinstance(elicits, dict):
        modes = cast("dict[str, object]", elicits)
        able |= {ELICIT} if "form" in modes or "url" not in modes else set()
        able |= {_BY_URL} if "url" in modes else set()
    return frozenset(able)


def check(client: GatewayClient, method: str, params: bytes) -> None:
    """Refuse a server's question that a client cannot answer, as the client itself would."""
    wanted = _wanted(method, params)
    if wanted not in client.abilities:
        # A client that elicits otherwise knows the method; what it does not know is the mode.
        in_another_mode = wanted in _MODES and not client.abilities.isdisjoint(_MODES)
        code = INVALID_PARAMS if in_another_mode else METHOD_NOT_FOUND
        raise RpcError(code, f"the client does not support {wanted}")


def require(client: GatewayClient, method: str, params: bytes) -> None:
    """Refuse a client's request whose server asks what the client cannot answer."""
    wanted = _wanted(method, params)
    if wanted not in client.abilities:
        needed = {"requiredCapabilities": _capability(wanted)}
        text = f"the server requests {wanted}, which the client does not support"
        raise RpcError(MISSING_CAPABILITY, text, needed)


def _wanted(method: str, params: bytes) -> str:
    if method != ELICIT:
        return method
    asked = decoded(params)
    by_url = isinstance(asked, dict) and cast("dict[str, object]", asked).get("mode") == "url"
    return _BY_URL if by_url else ELICIT


def _capability(wanted: str) -> dict[str, object]:
    if wanted in _MODES:
        return {"elicitation": {"url" if wanted == _BY_URL else "form": {}}}
    return {key: {} for key, method in _CAPABILITIES.items() if method == wanted}
