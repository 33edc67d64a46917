"""What an error is called on the gateway's side of the wire."""

from collections.abc import Mapping
from math import ceil
from typing import Final

from mcpyard.domain.edges import edge
from mcpyard.domain.errors import CallRefused, ServerFault, YardError
from mcpyard.gateway.protocol import HEADER_MISMATCH, MISSING_CAPABILITY, PARSE_ERROR, SUPPORTED
from mcpyard.wire.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    RpcError,
)

OK: Final = 200
BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404

OUR_MISTAKE: Final = RpcError(INTERNAL_ERROR, "internal error in mcpyard; see its log")

_STATUS: Final[Mapping[int, int]] = {
    PARSE_ERROR: BAD_REQUEST,
    INVALID_REQUEST: BAD_REQUEST,
    INVALID_PARAMS: BAD_REQUEST,
    HEADER_MISMATCH: BAD_REQUEST,
    MISSING_CAPABILITY: BAD_REQUEST,
    UNSUPPORTED_VERSION: BAD_REQUEST,
    METHOD_NOT_FOUND: NOT_FOUND,
}


def modern_status(error: RpcError) -> int:
    """The HTTP status that goes with an error in the modern era."""
    return _STATUS.get(error.code, OK)


def rpc_error(error: RpcError | YardError) -> RpcError:
    """An error as JSON-RPC; one that a server answered goes on as it came."""
    if isinstance(error, RpcError):
        return error
    if isinstance(error, CallRefused):
        return RpcError(error.code, error.message, error.data)
    mapped = edge(error)
    data: dict[str, object] = {"problem": mapped.problem}
    if isinstance(error, ServerFault) and error.cause:
        data["cause"] = error.cause.code
        if error.cause.retry_after:
            data["retryAfter"] = ceil(error.cause.retry_after)
        if error.cause.stderr:
            data["stderr"] = [*error.cause.stderr]
    return RpcError(mapped.rpc_code, error.message, data)


def mismatch(why: str) -> RpcError:
    """Headers and body say two things."""
    return RpcError(HEADER_MISMATCH, f"Header mismatch: {why}")


def unsupported(version: str) -> RpcError:
    """A revision that is not spoken here."""
    data = {"supported": [*SUPPORTED], "requested": version}
    return RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
