"""What must survive, held in memory: all that a private yard needs, and the base of a store's."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final
from uuid import UUID, uuid4

from mcpyard.domain.desired import Owner, PolicyPatch
from mcpyard.domain.observed import Capabilities
from mcpyard.domain.ports import KnownConnection

_NOTHING: Final = Capabilities()


class VolatileMemory:
    """A memory that lasts as long as its program."""

    def __init__(self) -> None:
        self._identities: dict[tuple[Owner, str], UUID] = {}
        self._names: dict[tuple[UUID, str], str] = {}
        self._tools: dict[UUID, Sequence[Mapping[str, object]]] = {}
        self._offers: dict[UUID, Capabilities] = {}
        self._reached: dict[str, KnownConnection] = {}

    def identity(self, owner: Owner, name: str) -> UUID:
        """The id of a definition, made at its first sight."""
        identity = self._identities.get((owner, name))
        if identity is None:
            identity = self._identities[owner, name] = uuid4()
        return identity

    async def rename(self, owner: Owner, name: str, new: str) -> UUID:
        """Give the id of one definition to another name of the same owner."""
        identity = self._identities.pop((owner, name), None) or uuid4()
        self._identities[owner, new] = identity
        return identity

    async def intend_rename(self, owner: Owner, name: str, new: str) -> None:
        """Nothing outlives the program that could be cut off in the middle."""

    async def give_up_rename(self, owner: Owner, name: str) -> None:
        """Nothing was noted."""

    def intended_renames(self) -> Sequence[tuple[Owner, str, str]]:
        """None."""
        return ()

    def exposed_names(self) -> Mapping[tuple[UUID, str], str]:
        """The exposed name of each (server, tool) that ever had one."""
        return self._names

    def keep_names(self, names: Mapping[tuple[UUID, str], str]) -> None:
        """Keep these names for ever."""
        if any(self._names.get(key) != name for key, name in names.items()):
            self._names |= names

    def watch_names(self, lost: Callable[[Collection[UUID]], None]) -> None:
        """No other node takes a name."""

    def tools(self, server: UUID) -> Sequence[Mapping[str, object]]:
        """The tools a server listed last."""
        return self._tools.get(server, ())

    def keep_tools(self, server: UUID, tools: Sequence[Mapping[str, object]]) -> None:
        """Keep what a server listed."""
        if self._tools.get(server) != tools:
            self._tools[server] = tools

    def offer(self, server: UUID) -> Capabilities:
        """What else a server offered last."""
        return self._offers.get(server, _NOTHING)

    def keep_offer(self, server: UUID, offer: Capabilities) -> None:
        """Keep what else a server offers."""
        self._offers[server] = offer.remembered()

    def reached(self, launch_digest: str) -> KnownConnection | None:
        """How this launch was reached the last time."""
        return self._reached.get(launch_digest)

    def keep_reached(self, launch_digest: str, reached: KnownConnection | None) -> None:
        """Keep how a launch was reached; None to find out anew."""
        if self._reached.get(launch_digest) == reached:
            return
        if reached is None:
            del self._reached[launch_digest]
        else:
            self._reached[launch_digest] = reached

    async def flush(self) -> None:
        """There is nothing to write."""

    async def close(self) -> None:
        """Nothing is left to write."""


class VolatilePolicies:
    """What people changed, for as long as the program runs (see the `Policies` port)."""

    def __init__(self) -> None:
        self._patches: dict[UUID, PolicyPatch] = {}

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """Everything that was changed."""
        return self._patches

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was."""
        self._patches.pop(server, None)
        if policy:
            self._patches[server] = policy

    async def set_all(self, policies: Mapping[UUID, PolicyPatch]) -> None:
        """Put policies in place of those there were."""
        for server, policy in policies.items():
            await self.set(server, policy)

    async def change(self, server: UUID, edit: Callable[[PolicyPatch], PolicyPatch]) -> PolicyPatch:
        """Make a policy out of the one there is."""
        policy = edit(self._patches.get(server, {}))
        await self.set(server, policy)
        return policy
