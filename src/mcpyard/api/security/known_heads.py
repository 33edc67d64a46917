"""Heads of requests to the gateway that came before, and were let through.

A program sends the same head with every call, so what is right about it need not be found out
again. Who it is from is none of that: a key can be taken away, and is looked at every time.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpyard.api.security.incoming import Incoming

_MOST: Final = 1024
_LONGEST: Final = 2048


class Head:
    """The head of one request, or of several that are all the same.

    Attributes:
        key: Everything in it that decides about entry.
        incoming: The request that it makes, once it is known to be let through.
    """

    __slots__ = ("incoming", "key")

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.key: tuple[object, ...] = (
            scope["method"],
            scope["raw_path"],
            scope["query_string"],
            scope["scheme"],
            *(scope.get("server") or ()),
            *scope["headers"],
        )
        self.incoming: Incoming | None = None


class Heads:
    """The heads of late."""

    def __init__(self) -> None:
        self._all: dict[tuple[object, ...], Incoming] = {}

    def find(self, head: Head) -> Incoming | None:
        """The request that a head makes, if it was let through before."""
        if head.incoming is None:
            head.incoming = self._all.get(head.key)
        return head.incoming

    def add(self, head: Head, incoming: Incoming) -> None:
        """Remember the head of a request that was let through, if it is one of a program's."""
        if not _is_plain(incoming):
            return
        if len(self._all) >= _MOST:
            self._all.clear()
        self._all[head.key] = incoming


def _is_plain(incoming: Incoming) -> bool:
    """Whether nothing but the key has to be looked at again, and the length of the body is said."""
    headers = incoming.headers
    return (
        incoming.is_gateway
        and not incoming.query
        and b"authorization" in headers
        and b"content-length" in headers
        and b"transfer-encoding" not in headers
        and sum(len(name) + len(value) for name, value in headers.items()) <= _LONGEST
    )
