"""Which questions of a server a client can answer; the others are refused in its name."""

from typing import Final, cast

from mcpyard.gateway.requests import Client, decoded
from mcpyard.wire.messages import METHOD_NOT_FOUND, RpcError

ELICIT: Final = "elicitation/create"
_BY_URL: Final = "elicitation/create by url"
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
    """Refuse a question that a client cannot answer."""
    wanted = method
    if method == ELICIT:
        asked = decoded(params)
        by_url = isinstance(asked, dict) and cast("dict[str, object]", asked).get("mode") == "url"
        wanted = _BY_URL if by_url else ELICIT
    if wanted not in client.abilities:
        raise RpcError(METHOD_NOT_FOUND, f"the client does not offer {wanted}")
