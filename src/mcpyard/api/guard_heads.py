"""Heads of requests to the gateway that came before, and were let through.

A program sends the same head with every call, so what is right about it need not be found out
again. Who it is from is none of that: a key can be taken away, and is looked at every time.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcpyard.api.guard_incoming import Incoming

HEAD: Final = "mcpyard.head"
"""Where a scope has its `Head`, if that was made before."""

Head = tuple[object, ...]

_MOST: Final = 1024
_LONGEST: Final = 2048


def head_of(scope: Mapping[str, Any]) -> Head:
    """Everything in a scope that decides about entry."""
    return (
        scope["method"],
        scope["raw_path"],
        scope["query_string"],
        scope["scheme"],
        *(scope.get("server") or ()),
        *scope["headers"],
    )


class Heads:
    """The heads of late."""

    def __init__(self) -> None:
        self._all: dict[Head, Incoming] = {}

    def get(self, head: Head) -> Incoming | None:
        """The request that a head makes, if it was let through before."""
        return self._all.get(head)

    def add(self, head: Head, incoming: Incoming) -> None:
        """Remember the head of a request that was let through, if it is one of a program's."""
        if not _is_plain(incoming):
            return
        if len(self._all) >= _MOST:
            self._all.clear()
        self._all[head] = incoming


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
