"""The handshake era, 2024-11-05 to 2025-11-25: meet once, then every request is bare."""

from typing import Any, Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace, InitializeResult, members, reply_members, text_or_none
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.pending import NO_EXTRAS, RequestExtras

LATEST: Final = "2025-11-25"
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", LATEST)


class Handshake:
    """The era codec: nothing to add. An HTTP link repeats the version by itself."""

    def extras(self, method: str, name: str | None, terms: CallTerms) -> RequestExtras:
        """Nothing: capabilities were declared once, log levels have a request of their own."""
        del method, name, terms
        return NO_EXTRAS


def initialize_params(face: ClientFace) -> dict[str, Any]:
    """What `initialize` says of us."""
    return {
        "protocolVersion": LATEST,
        "capabilities": dict(face.capabilities if face.declared is None else face.declared),
        "clientInfo": {"name": face.name, "version": face.version},
    }


def read_initialize(reply: Reply) -> InitializeResult:
    """The result of `initialize`.

    Raises:
        LinkFailed: The server chose a version that is not of this era.
    """
    result = reply_members(reply)
    version = result.get("protocolVersion")
    if version not in VERSIONS:
        text = f"the server requires protocol version {version!r}, which mcpyard does not support"
        hint = f"supported versions: {', '.join(VERSIONS)}"
        raise LinkFailed(Cause(Code.UNSUPPORTED_VERSION, text, hint))
    return InitializeResult(
        era="handshake",
        version=version,
        server_info=members(result.get("serverInfo")),
        capabilities=members(result.get("capabilities")),
        instructions=text_or_none(result.get("instructions")),
    )
