"""Which questions of a server a client can answer; the others are refused in its name."""

from typing import Final, cast

from mcpyard.gateway.requests import Client, decoded
from mcpyard.gateway.words import MISSING_CAPABILITY
from mcpyard.wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError

ELICIT: Final = "elicitation/create"
_BY_URL: Final = "elicitation/create by url"
_MODES: Final = frozenset({ELICIT, _BY_URL})
_CAPABILITIES: Final = {"sampling": "sampling/createMessage", "roots": "roots/list"}


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


def check(client: Client, method: str, params: bytes) -> None:
    """Refuse a server's question that a client cannot answer, as the client itself would."""
    wanted = _wanted(method, params)
    if wanted not in client.abilities:
        # A client that elicits otherwise knows the method; what it does not know is the mode.
        in_another_mode = wanted in _MODES and not client.abilities.isdisjoint(_MODES)
        code = INVALID_PARAMS if in_another_mode else METHOD_NOT_FOUND
        raise RpcError(code, f"the client does not offer {wanted}")


def require(client: Client, method: str, params: bytes) -> None:
    """Refuse a client's request whose server asks what the client cannot answer."""
    wanted = _wanted(method, params)
    if wanted not in client.abilities:
        needed = {"requiredCapabilities": _capability(wanted)}
        text = f"the server asks for {wanted}, which the client does not offer"
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
