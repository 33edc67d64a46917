"""Where servers would go if a node was drained, or a server moved."""

from enum import StrEnum
from uuid import UUID

from msgspec import Struct


class Obstacle(StrEnum):
    """Why a node is not a place for a server."""

    NO_NODE = "no-node"
    LABELS = "labels"
    FULL = "full"
    CANNOT_RUN = "cannot-run"


class PlannedMove(Struct, frozen=True):
    """Where a server would go.

    Attributes:
        server: The server.
        source: The node that runs it.
        target: The node that would get it; empty where it would stay.
        singleton: Whether it ends before it starts elsewhere.
        obstacle: Why no node can take it, or why the one that was named does not fit.
    """

    server: UUID
    source: str
    target: str
    singleton: bool = False
    obstacle: Obstacle | None = None
