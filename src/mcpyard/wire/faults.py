"""A cause as an exception: what a caller gets when its call cannot be answered."""

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, NeedsAuth, ProtocolBroken, ServerFault


def fault(cause: Cause) -> ServerFault:
    """The exception that tells this cause to a caller; its class tells the edges."""
    if cause.code is Code.NEEDS_AUTH:
        return NeedsAuth(cause.message).because(cause)
    if cause.code is Code.GARBAGE:
        return ProtocolBroken(cause.message).because(cause)
    return Disconnected(cause.message).because(cause)
