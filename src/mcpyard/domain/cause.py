"""Why a server is not connected.

A cause is what the page, the CLI and the API show on a red card: a stable code, a sentence, what to
do about it, and the last lines the server said. The code alone decides whether trying again can
help.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import force_setattr

from mcpyard.domain.definition.secret_text import shown_text


class Code(StrEnum):
    """Stable names of what can go wrong with a server."""

    SPAWN_FAILED = "spawn_failed"
    EXITED = "exited"
    CLOSED = "closed"
    UNREACHABLE = "unreachable"
    HTTP_ERROR = "http_error"
    START_TIMEOUT = "start_timeout"
    UNRESPONSIVE = "unresponsive"
    GARBAGE = "garbage"
    REFUSED_HANDSHAKE = "refused_handshake"
    FLAPPING = "flapping"
    LIMIT_EXCEEDED = "limit_exceeded"
    LEASE_EXPIRED = "lease_expired"
    COMMAND_MISSING = "command_missing"
    UNSUPPORTED_VERSION = "unsupported_version"
    FORBIDDEN = "forbidden"
    INVALID_DEFINITION = "invalid_definition"
    THIS_YARD = "this_yard"
    NEEDS_AUTH = "needs_auth"
    NEEDS_APPROVAL = "needs_approval"


FATAL = frozenset(
    {
        Code.COMMAND_MISSING,
        Code.UNSUPPORTED_VERSION,
        Code.FORBIDDEN,
        Code.INVALID_DEFINITION,
        Code.THIS_YARD,
    }
)
"""Trying again cannot help: somebody must change something first."""

HINTS: Final[dict[Code, str]] = {
    Code.SPAWN_FAILED: "Run the command in a terminal to see the system's error.",
    Code.EXITED: "Check the last log lines, or run the command in a terminal.",
    Code.CLOSED: "Check the log, then restart it.",
    Code.UNREACHABLE: "Check the URL and that the server is running.",
    Code.HTTP_ERROR: "Check the URL and the headers, or contact the operator of the server.",
    Code.START_TIMEOUT: (
        "If it is still downloading packages, wait and restart it; otherwise increase startTimeout."
    ),
    Code.UNRESPONSIVE: "Restart it; if this happens again, check the log.",
    Code.GARBAGE: (
        "Check that this is an MCP server and that it writes only MCP messages to stdout."
    ),
    Code.REFUSED_HANDSHAKE: "Check that this is an MCP server, or update it.",
    Code.FLAPPING: "Check the log, fix the cause, start it again.",
    Code.LIMIT_EXCEEDED: "Raise the limit under limits, or check why the server needs more.",
    Code.LEASE_EXPIRED: (
        "No action is needed if another node runs it; otherwise check the cluster's database."
    ),
    Code.COMMAND_MISSING: "Check the spelling, or use the full path.",
    Code.UNSUPPORTED_VERSION: "Update the server, or mcpyard.",
    Code.FORBIDDEN: "Check the token and its permissions.",
    Code.INVALID_DEFINITION: "Fix the configuration.",
    Code.THIS_YARD: "Remove this entry; a gateway cannot connect to itself.",
    Code.NEEDS_AUTH: "Sign in, or set a valid Authorization header.",
    Code.NEEDS_APPROVAL: "Review what it runs, then: mcpyard approve",
}
"""What to do about a cause that does not know better."""


class Cause(Struct, frozen=True):
    """Why a server is not connected, in words for a person, without secrets.

    Attributes:
        code: A stable name.
        message: What happened.
        hint: What to do about it; what its code asks for unless told.
        stderr: The last lines the server wrote.
        untaken: Whether the server certainly never took the request that failed with this cause,
            so that repeating it can do no harm.
        retry_after: Seconds for which the server asked not to be sent anything; 0 when it did not.
    """

    code: Code
    message: str
    hint: str = ""
    stderr: tuple[str, ...] = ()
    untaken: bool = False
    retry_after: float = 0.0

    def __post_init__(self) -> None:
        force_setattr(self, "message", shown_text(self.message))
        force_setattr(self, "hint", shown_text(self.hint) or HINTS[self.code])

    @property
    def fatal(self) -> bool:
        """Whether trying again is pointless."""
        return self.code in FATAL
