"""What the two eras of the protocol have in common: the words the rest speaks about either in."""

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

from msgspec import Struct, field

from mcpyard.domain.narrowing import object_of
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.pending import RequestExtras

Era = Literal["handshake", "modern"]

ANSWERABLE: Final[Mapping[str, Any]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"context": {}, "tools": {}},
    # Without `listChanged`: the notification of a client that its roots changed is not forwarded.
    "roots": {},
}
"""What a client may be able to answer, all of it."""


class ClientFace(Struct, frozen=True):
    """How we present ourselves to a server, and what we offer it.

    Attributes:
        name: What we are called.
        version: Which of us it is.
        capabilities: Offered with every request of the modern era, unless its terms say otherwise.
        declared: Offered once to a server of the handshake era, for all who will ever call it:
            what one of them cannot do is refused in its name. The capabilities unless told.
    """

    name: str
    version: str
    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    declared: Mapping[str, Any] | None = None


class InitializeResult(Struct, frozen=True):
    """What a server said of itself when it was met."""

    era: Era
    version: str
    server_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]
    instructions: str | None
    ttl_ms: int | None = None


class Codec(Protocol):
    """What an era adds to each request."""

    def extras(self, method: str, name: str | None, terms: CallTerms) -> RequestExtras:
        """What it adds to one request."""
        ...


def members(value: object) -> dict[str, Any]:
    """A JSON object's members; none for anything else, since servers send anything."""
    return object_of(value)


def text_or_none(value: object) -> str | None:
    """A text, or None for anything else."""
    return value if isinstance(value, str) else None


def ttl_of(result: Mapping[str, Any]) -> int | None:
    """How long a result may be kept, as far as the server said it in a sensible way."""
    ttl = result.get("ttlMs")
    return ttl if isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0 else None


def reply_members(reply: Reply) -> dict[str, Any]:
    """The members of a result."""
    return members(reply.value)
