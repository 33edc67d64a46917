"""The node that a server is placed on: the least filled of those that can run it.

Ties go by rendezvous hash, so that every node chooses the same one without asking.
"""

import hashlib
from collections.abc import Iterable, Mapping
from uuid import UUID

from msgspec import Struct


class NodeRoom(Struct, frozen=True):
    """What placement needs to know about a node.

    Attributes:
        name: Its stable name.
        labels: What servers may require of it.
        capacity: How many servers it takes.
        filled: How many it has.
        is_up: Whether it takes servers: up, and not draining.
        cannot: The servers that cannot run there, for want of a variable or a command.
    """

    name: str
    labels: Mapping[str, str]
    capacity: int
    filled: int
    is_up: bool = True
    cannot: frozenset[UUID] = frozenset()


def choose_node(server: UUID, required: Mapping[str, str], nodes: Iterable[NodeRoom]) -> str | None:
    """The node for a server; None when no node can run it."""
    able = [each for each in nodes if _can_run(each, server, required)]
    if not able:
        return None
    return min(able, key=lambda each: (each.filled / each.capacity, _rank(server, each.name))).name


def _can_run(node: NodeRoom, server: UUID, required: Mapping[str, str]) -> bool:
    has_labels = required.items() <= node.labels.items()
    return node.is_up and node.filled < node.capacity and has_labels and server not in node.cannot


def _rank(server: UUID, node: str) -> bytes:
    return hashlib.sha256(server.bytes + node.encode()).digest()
