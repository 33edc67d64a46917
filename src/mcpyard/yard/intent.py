"""What people asked for, besides what the documents say.

Policies, wanted states, new turns, and what may run at all.
"""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from mcpyard.domain.desired import DesiredServer, PolicyEdit, PolicyPatch
from mcpyard.domain.errors import Problem, YardError
from mcpyard.domain.model import Wanted
from mcpyard.domain.repositories import Policies, Turns
from mcpyard.yard.trust import Trusting

NOT_STORED: Final = "not stored"
"""The field of a note on what was asked for and could not be stored."""

_FORGOTTEN: Final = {
    Wanted.STOPPED: "starts it again",
    Wanted.RUNNING: "restores its previous state",
}


class VolatileTurns:
    """Turns for as long as the program runs (see the `Turns` port)."""

    def __init__(self) -> None:
        self._all: dict[UUID, int] = {}

    def all(self) -> Mapping[UUID, int]:
        """The turn of each server that was ever asked to begin anew."""
        return self._all

    async def raise_(self, server: UUID) -> int:
        """Ask a server to begin anew."""
        self._all[server] = turn = self._all.get(server, 0) + 1
        return turn


class Intent:
    """The words of the users, by server; every change asks the yard to look again.

    Attributes:
        trust: Knows what was approved of project files.
        changed: Called when something was said.
    """

    def __init__(self, policies: Policies, trust: Trusting, turns: Turns) -> None:
        self._policies = policies
        self.trust = trust
        self._turns = turns
        self._unkept: dict[UUID, tuple[Wanted, Problem]] = {}
        self.changed: Callable[[], None] = lambda: None

    @property
    def policies(self) -> Mapping[UUID, PolicyPatch]:
        """What was changed about each server."""
        stored = self._policies.all()
        if not self._unkept:
            return stored
        patches = {server: {"wanted": goal.value} for server, (goal, _) in self._unkept.items()}
        return {**stored, **{each: {**stored.get(each, {}), **patches[each]} for each in patches}}

    @property
    def unkept(self) -> Mapping[UUID, Problem]:
        """A note for each server of which nobody will know after a restart what it should be."""
        return {server: note for server, (_, note) in self._unkept.items()}

    @property
    def turns(self) -> Mapping[UUID, int]:
        """How often each server was asked to begin anew."""
        return self._turns.all()

    def wanted(self, server: DesiredServer) -> Wanted:
        """What a server should be by the last word, which may be newer than what is desired."""
        stored = self.policies.get(server.id, {}).get("wanted")
        return server.wanted if stored is None else Wanted(str(stored))

    async def change(self, server: UUID, patch: PolicyPatch) -> None:
        """Change something about a server; a value of None goes back to the document's own."""
        again = server in self._unkept and "wanted" in patch
        if again or self.differs(server, patch):
            whole = {**self._pending_patch(server), **patch}
            await self._policies.change(server, laying(whole))
            self.stored(server, whole)

    def stored(self, server: UUID, patch: PolicyPatch) -> None:
        """Know of a patch that is there to stay."""
        if "wanted" in patch:
            self._unkept.pop(server, None)
        self.changed()

    def differs(self, server: UUID, patch: PolicyPatch) -> bool:
        """Whether a patch says anything about a server that was not said."""
        policy = self.policies.get(server, {})
        return laying(patch)(policy) != policy

    async def want(self, server: UUID, goal: Wanted) -> None:
        """Say what a server should be; that holds until the end also where it cannot be stored."""
        try:
            await self.change(server, {"wanted": goal.value})
        except YardError as error:
            # A server that must be stopped must not run on because a disk is full.
            forgotten = f"{goal} ({error.message}); a restart of mcpyard {_FORGOTTEN[goal]}"
            self._unkept[server] = goal, Problem(NOT_STORED, forgotten)
            self.changed()

    async def turn(self, server: UUID) -> None:
        """Ask a server to begin anew."""
        await self._turns.raise_(server)
        self.changed()

    async def replace(self, policies: Mapping[UUID, PolicyPatch]) -> None:
        """Say this and nothing else about servers that come, or nothing of those that are gone."""
        for server in policies:
            self._unkept.pop(server, None)
        stored = self._policies.all()
        whole = {server: laying(patch)({}) for server, patch in policies.items()}
        different = {
            each: policy for each, policy in whole.items() if policy != stored.get(each, {})
        }
        if different:
            await self._policies.set_all(different)

    def _pending_patch(self, server: UUID) -> PolicyPatch:
        pending = self._unkept.get(server)
        return {"wanted": pending[0].value} if pending else {}


def laying(patch: PolicyPatch) -> PolicyEdit:
    """Lays a patch over a policy; a value of None takes out what was said."""

    def edit(policy: PolicyPatch) -> PolicyPatch:
        changed = {**policy, **patch}
        return {name: value for name, value in changed.items() if value is not None}

    return edit
