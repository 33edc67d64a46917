"""Errors from one node to another: the caller gets the one that the owner of the server raised.

An error is sent with the names of its ancestors: a node that does not know a newer kind raises the
nearest one that it knows.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from mcpyard.domain import errors
from mcpyard.domain.cause import Cause
from mcpyard.domain.cluster import Placement
from mcpyard.domain.errors import Disconnected, Problem, ServerBusy, YardError
from mcpyard.wire.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND, RpcError

_TRANSFERRED: Final = -32050
"""The code of a JSON-RPC error that stands for an error of mcpyard."""


def _descendants(kind: type[YardError]) -> Iterator[type[YardError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _descendants(each)


_KINDS: Final[dict[str, type[YardError]]] = {
    each.__name__: each for each in _descendants(YardError) if each.__module__ == errors.__name__
}


class TransferredError(Struct, frozen=True, omit_defaults=True):
    """An error on its way; each field is the attribute of that name, where the kind has it."""

    kinds: tuple[str, ...]
    message: str
    server: str = ""
    advice: str = ""
    passed_over: tuple[tuple[str, str], ...] = ()
    document: Mapping[str, object] | None = None
    problems: tuple[Problem, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    cause: Cause | None = None
    untaken: bool = False
    placement: Placement | None = None
    code: int = 0
    data: object = None
    sent: bool = True


_ATTRIBUTES: Final = TransferredError.__struct_fields__[2:]


def write_error(error: YardError) -> RpcError:
    """An error as one of the protocol between nodes."""
    kinds = tuple(each.__name__ for each in type(error).__mro__ if each.__name__ in _KINDS)
    attributes = {name: getattr(error, name) for name in _ATTRIBUTES if hasattr(error, name)}
    sent = TransferredError(kinds, error.message, **attributes)
    return RpcError(_TRANSFERRED, error.message, msgspec.to_builtins(sent))


def read_error(error: RpcError, node: str) -> YardError:
    """The error that another node sent; also one of the protocol between nodes itself."""
    try:
        sent = msgspec.convert(error.data, TransferredError) if error.code == _TRANSFERRED else None
    except msgspec.ValidationError:
        sent = None
    if sent is None:
        return _protocol_error(error, node)
    kind = next((_KINDS[name] for name in sent.kinds if name in _KINDS), YardError)
    received = kind(sent.message)
    for name in _ATTRIBUTES:
        if hasattr(received, name):
            setattr(received, name, getattr(sent, name))
    return received


def _protocol_error(error: RpcError, node: str) -> YardError:
    if error.code == INVALID_REQUEST:
        return ServerBusy(f'node "{node}" answers too many requests already')
    disconnected = Disconnected(f'node "{node}" did not answer: {error.message}')
    # Another version, or a node that is not ready: nothing was done about it.
    disconnected.untaken = error.code == METHOD_NOT_FOUND
    return disconnected
