"""Why a server is not connected.

A cause is what the page, the CLI and the API show on a red card: a stable code, a sentence, what to
do about it, and the last lines the server said. The code alone decides whether trying again can
help.
"""

from dataclasses import dataclass
from enum import StrEnum


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


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a server is not connected, in words for a person.

    Attributes:
        code: A stable name.
        message: What happened.
        hint: What to do about it.
        stderr: The last lines the server wrote.
        untaken: Whether the server certainly never took the request that failed with this cause,
            so that repeating it can do no harm.
    """

    code: Code
    message: str
    hint: str = ""
    stderr: tuple[str, ...] = ()
    untaken: bool = False

    @property
    def fatal(self) -> bool:
        """Whether trying again is pointless."""
        return self.code in FATAL
