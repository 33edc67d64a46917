"""What the core needs of the world outside, as few seams as possible.

Every one has a public fake in `mcpyard.testing`, and they are wired to the real things in one
place only, `app.py`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol
from uuid import UUID

from mcpyard.domain.desired import Document, Owner
from mcpyard.domain.status import Status


class Clock(Protocol):
    """Time: monotonic for waiting, the wall's for showing."""

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...

    def now(self) -> datetime:
        """The time of day, with its zone."""
        ...


class Source(Protocol):
    """One place that definitions come from."""

    @property
    def owner(self) -> Owner:
        """Who owns what this source says."""
        ...

    async def open(self, wake: Callable[[], None]) -> None:
        """Read for the first time, then call `wake` whenever a look is worth while."""
        ...

    def document(self) -> Document:
        """What the source says now; a broken text keeps the last good one in force."""
        ...

    async def close(self) -> None:
        """Stop watching."""
        ...


class Identities(Protocol):
    """Which id belongs to which definition, for as long as the definition lives."""

    def identity(self, owner: Owner, name: str) -> UUID:
        """The id of a definition, made at its first sight."""
        ...


class StatusPort(Protocol):
    """Where the supervisor writes what it observes, for readers of a registry."""

    def update_status(self, name: str, status: Status, error: str | None = None) -> None:
        """Say how a server is."""
        ...

    def update_tool_count(self, name: str, count: int) -> None:
        """Say how many tools it has."""
        ...
