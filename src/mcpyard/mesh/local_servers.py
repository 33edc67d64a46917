"""The servers of this machine, as the mesh needs them."""

from collections.abc import Callable
from typing import Protocol

from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Servers


class LocalServers(Servers, Protocol):
    """The servers of this machine: the supervisor."""

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed."""
        ...
