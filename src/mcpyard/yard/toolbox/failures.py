"""A call that failed, as an outcome: what an agent gets instead of an exception."""

from typing import Final

from mcpyard.domain.errors import CallRefused, InputError, ProtocolBroken, TimedOut, YardError
from mcpyard.yard.calls.outcome import ErrorKind, Outcome, PassedOver

_KINDS: Final[tuple[tuple[type[YardError], ErrorKind], ...]] = (
    (InputError, ErrorKind.VALIDATION),
    (TimedOut, ErrorKind.TIMEOUT),
    (CallRefused, ErrorKind.PROTOCOL),
    (ProtocolBroken, ErrorKind.PROTOCOL),
)


def failure(error: YardError, server: str, tool: str, ms: float = 0.0) -> Outcome:
    """The outcome of a call of a server's tool that raised this error, after so long."""
    passed = [PassedOver(*each) for each in error.passed_over]
    kind, message = kind_of(error), error.message
    return Outcome.failed(kind, message, server=server, tool=tool, ms=ms, passed_over=passed)


def kind_of(error: YardError) -> ErrorKind:
    """What kind of thing went wrong; a server that is gone or refuses is simply not there."""
    for type_, kind in _KINDS:
        if isinstance(error, type_):
            return kind
    return ErrorKind.DISCONNECTED
