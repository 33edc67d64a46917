"""Heads of requests to the gateway that came before, and were let through.

A program sends the same head with every call, but for the length of the body, so what is right
about it need not be found out again. Who it is from is none of that: a key can be taken away, and
is looked at every time. Nor is the length, which is held against the limit every time.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcpyard.api.security.incoming import Incoming
from mcpyard.asgi_scope import PRINCIPAL
from mcpyard.domain.definition.numbers import whole_number

if TYPE_CHECKING:
    from mcpyard.asgi_scope import OpenRequest, Principal, Scope

LENGTH: Final = b"content-length"

_MOST: Final = 1024
_LONGEST: Final = 2048


class Head:
    """The head of one request, or of several that differ in nothing but their lengths.

    Attributes:
        key: Everything in it that decides about entry, but for the length.
        size: The length that it says, if it says one; of several requests that of the first.
        incoming: The request that it makes, once it is known to be let through; its headers lack
            the length.
        admits: Whether the guard still lets it through, once it did.
        scope: As much of a scope as matters to the connection from then on.
        answer: Answers another request with it (see `KnownHead`).
    """

    __slots__ = ("admits", "answer", "incoming", "key", "scope", "size")

    def __init__(self, scope: Mapping[str, Any]) -> None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        lengths = [value for name, value in headers if name == LENGTH]
        self.key: tuple[object, ...] = (
            scope["method"],
            scope["raw_path"],
            scope["query_string"],
            scope["scheme"],
            *(scope.get("server") or ()),
            len(lengths),
            *[each for each in headers if each[0] != LENGTH],
        )
        self.size = whole_number(lengths[0].decode("latin-1")) if len(lengths) == 1 else None
        self.incoming: Incoming | None = None
        self.admits: Callable[[], bool] | None = None
        self.scope: Scope = {"method": scope["method"]}
        self.answer: Callable[[OpenRequest, bytes], bool] | None = None

    def admit(self, who: "Principal", still: Callable[[], bool]) -> None:
        """The guard let it through; `still` tells whether it does so again."""
        self.admits = still
        self.scope[PRINCIPAL] = who


class Heads:
    """The heads of late, of requests whose bodies are not longer than a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._all: dict[tuple[object, ...], Incoming] = {}

    def find(self, head: Head) -> Incoming | None:
        """The request that a head makes, if it was let through before."""
        if head.incoming is None and head.size is not None and head.size <= self._limit:
            head.incoming = self._all.get(head.key)
        return head.incoming

    def add(self, head: Head, incoming: Incoming) -> None:
        """Remember the head of a request that was let through, if it is one of a program's."""
        if not _is_plain(incoming):
            return
        if len(self._all) >= _MOST:
            self._all.clear()
        headers = {name: value for name, value in incoming.headers.items() if name != LENGTH}
        self._all[head.key] = msgspec.structs.replace(incoming, headers=headers)


def _is_plain(incoming: Incoming) -> bool:
    """Whether nothing but the key has to be looked at again, and the length of the body is said."""
    headers = incoming.headers
    return (
        incoming.is_gateway
        and not incoming.query
        and b"authorization" in headers
        and LENGTH in headers
        and b"transfer-encoding" not in headers
        and sum(len(name) + len(value) for name, value in headers.items()) <= _LONGEST
    )
