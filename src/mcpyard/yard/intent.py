"""What people asked for, besides what the documents say.

Policies, wanted states, new turns, and what may run at all.
"""

from collections.abc import Callable, Mapping
from uuid import UUID

from mcpyard.domain.desired import DesiredServer, PolicyPatch
from mcpyard.domain.model import Wanted
from mcpyard.domain.repositories import Policies
from mcpyard.yard.trust import Trusting


class Intent:
    """The words of the users, by server; every change asks the yard to look again.

    Attributes:
        trust: Knows which servers may run.
        changed: Called when something was said.
    """

    def __init__(self, policies: Policies, trust: Trusting) -> None:
        self._policies = policies
        self.trust = trust
        self._turns: dict[UUID, int] = {}
        self.changed: Callable[[], None] = lambda: None

    @property
    def policies(self) -> Mapping[UUID, PolicyPatch]:
        """What was changed about each server."""
        return self._policies.all()

    @property
    def turns(self) -> Mapping[UUID, int]:
        """How often each server was asked to begin anew."""
        return self._turns

    def wanted(self, server: DesiredServer) -> Wanted:
        """What a server should be by the last word, which may be newer than what is desired."""
        said = self.policies.get(server.id, {}).get("wanted")
        return server.wanted if said is None else Wanted(str(said))

    async def change(self, server: UUID, patch: PolicyPatch) -> None:
        """Change something about a server; a value of None goes back to the document's own."""

        def edit(policy: PolicyPatch) -> PolicyPatch:
            changed = {**policy, **patch}
            return {name: value for name, value in changed.items() if value is not None}

        if edit(self.policies.get(server, {})) != self.policies.get(server, {}):
            await self._policies.change(server, edit)
            self.changed()

    async def want(self, server: UUID, wanted: Wanted) -> None:
        """Say what a server should be."""
        await self.change(server, {"wanted": wanted.value})

    def turn(self, server: UUID) -> None:
        """Ask a server to begin anew."""
        self._turns[server] = self._turns.get(server, 0) + 1
        self.changed()

    async def forget(self, server: UUID) -> None:
        """Drop everything that was said about a server that is gone."""
        self._turns.pop(server, None)
        if server in self.policies:
            await self._policies.set(server, {})
