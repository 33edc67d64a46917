"""Which questions of a server a client can answer; the others are refused in its name."""

from collections.abc import Mapping
from typing import Final

import orjson

from mcpyard.domain.narrowing import is_object
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
    if not is_object(capabilities):
        return b"{}"
    declared = capabilities
    forwarded = {
        key: {name: value for name, value in members.items() if name in names}
        for key, names in _CARRIED.items()
        if (members := _members(declared.get(key))) is not None
    }
    if not forwarded.get("extensions"):
        forwarded.pop("extensions", None)
    return orjson.dumps(forwarded)


def _members(value: object) -> dict[str, object] | None:
    return value if is_object(value) else None


def abilities_of(capabilities: object) -> frozenset[str]:
    """The questions that somebody with these capabilities can answer."""
    if not is_object(capabilities):
        return frozenset()
    declared = capabilities
    able = {method for key, method in _CAPABILITIES.items() if declared.get(key) is not None}
    elicits = declared.get("elicitation")
    if is_object(elicits):
        modes = elicits
        able |= {ELICIT} if "form" in modes or "url" not in modes else set()
        able |= {_BY_URL} if "url" in modes else set()
    return frozenset(able)


def check(client: GatewayClient, method: str, params: bytes) -> None:
    """Refuse a server's question that a client cannot answer, as the client itself would."""
    ability = _ability(method, params)
    if ability not in client.abilities:
        # A client that elicits otherwise knows the method; what it does not know is the mode.
        in_another_mode = ability in _MODES and not client.abilities.isdisjoint(_MODES)
        code = INVALID_PARAMS if in_another_mode else METHOD_NOT_FOUND
        raise RpcError(code, f"the client does not support {ability}")


def require(client: GatewayClient, method: str, params: bytes) -> None:
    """Refuse a client's request whose server asks what the client cannot answer."""
    ability = _ability(method, params)
    if ability not in client.abilities:
        needed = {"requiredCapabilities": _capability(ability)}
        text = f"the server requests {ability}, which the client does not support"
        raise RpcError(MISSING_CAPABILITY, text, needed)


def _ability(method: str, params: bytes) -> str:
    if method != ELICIT:
        return method
    question = decoded(params)
    by_url = is_object(question) and question.get("mode") == "url"
    return _BY_URL if by_url else ELICIT


def _capability(ability: str) -> dict[str, object]:
    if ability in _MODES:
        return {"elicitation": {"url" if ability == _BY_URL else "form": {}}}
    return {key: {} for key, method in _CAPABILITIES.items() if method == ability}
