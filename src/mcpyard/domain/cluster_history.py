"""What happened in a cluster, and why each server runs where it runs.

The events are written in the transaction that changes the cluster, so that every node reads the
same ones, each of them once.
"""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct


class EventKind(StrEnum):
    """What happened to a node, or to the placement of a server."""

    JOINED = "joined"
    LOST = "lost"
    LEFT = "left"
    DRAINING = "draining"
    FORGOTTEN = "forgotten"
    MOVING = "moving"
    PLACED = "placed"
    STAYED = "stayed"


class Why(StrEnum):
    """Why a server has its node."""

    CHOSEN = "chosen"
    TAKEN_OVER = "taken-over"
    STOPPED = "stopped"
    MOVED = "moved"
    DRAINED = "drained"
    REBALANCED = "rebalanced"
    CANNOT_RUN = "cannot-run"


class ClusterEvent(Struct, frozen=True):
    """Something that happened; ids only grow.

    Attributes:
        kind: What happened.
        node: The node that it happened to, or that has the server, or gets it; empty for none.
        server: The server whose placement changed; None where a node changed.
        source: The node that had the server before.
        why: Why the server has, or gets, its node.
        by: Who asked for it; of a node that was lost the node that took over.
        id: Its number.
        at: When, by the clock of the database.
    """

    kind: EventKind
    node: str
    server: UUID | None = None
    source: str = ""
    why: Why | None = None
    by: str = ""
    id: int = 0
    at: datetime | None = None


class PlacementReason(Struct, frozen=True):
    """Why a server is on its node.

    Attributes:
        node: The node.
        why: Why it was placed there.
        source: The node that it was on before.
        by: Who asked for it.
        at: Since when.
        kept: Whether the node has restarted since, and kept it.
    """

    node: str
    why: Why
    source: str = ""
    by: str = ""
    at: datetime | None = None
    kept: bool = False
