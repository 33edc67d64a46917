"""What the page is told of where it is served, since it does not reach the outside by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from mcpyard.domain.stored import CallToken


class CallTokens(Protocol):
    """The tokens that open the gateway."""

    def all(self) -> Sequence[CallToken]:
        """Every token, also the revoked ones."""
        ...

    async def create(
        self, name: str, profile: str | None, expires: datetime | None = None
    ) -> tuple[CallToken, str]:
        """Make a token; with its secret, which nobody is told again."""
        ...

    async def revoke(self, token: UUID) -> Sequence[str]:
        """Make a token worthless; the nodes of a cluster that did not confirm it in time."""
        ...


@dataclass(frozen=True, slots=True)
class PageContext:
    """Where the page is served: the home, the command of the bridge, what opens the gateway."""

    home: str
    bridge: tuple[str, ...]
    tokens: CallTokens
