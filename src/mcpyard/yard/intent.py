"""What people asked for, besides what the documents say: policies, wanted states, new turns."""

from collections.abc import Callable, Mapping
from uuid import UUID

from mcpyard.domain.desired import PolicyPatch
from mcpyard.domain.model import Wanted


class Intent:
    """The words of the users, by server; every change asks the yard to look again."""

    def __init__(self, policies: Mapping[UUID, PolicyPatch] | None = None) -> None:
        self._policies: dict[UUID, PolicyPatch] = dict(policies or {})
        self._turns: dict[UUID, int] = {}
        self.changed: Callable[[], None] = lambda: None

    @property
    def policies(self) -> Mapping[UUID, PolicyPatch]:
        """What was changed about each server."""
        return self._policies

    @property
    def turns(self) -> Mapping[UUID, int]:
        """How often each server was asked to begin anew."""
        return self._turns

    def want(self, server: UUID, wanted: Wanted) -> None:
        """Say what a server should be."""
        self._policies[server] = {**self._policies.get(server, {}), "wanted": wanted}
        self.changed()

    def turn(self, server: UUID) -> None:
        """Ask a server to begin anew."""
        self._turns[server] = self._turns.get(server, 0) + 1
        self.changed()
