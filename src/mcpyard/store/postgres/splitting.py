"""What a node keeps of shared servers, and of those that its own files pin to it.

The cluster shares the servers of the user scope. A server of a project file, the environment or a
program belongs to one machine: so do its id, its policy and the names of its tools.
"""

import asyncio
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

from mcpyard.domain.desired import Owner, PolicyEdit, PolicyPatch
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Capabilities
from mcpyard.domain.ports import KnownConnection
from mcpyard.store.postgres.memory import SharedMemory
from mcpyard.store.postgres.schema import ADDRESSES
from mcpyard.store.sql.memory import NameKey, SqlMemory
from mcpyard.store.sql.policies import SqlPolicies

_ADDRESSES: Final = UUID(ADDRESSES)

IsShared = Callable[[UUID], bool]


class SplitMemory:
    """The memory of a node (see the `Memory` port)."""

    def __init__(self, shared: SharedMemory, local: SqlMemory, is_shared: IsShared) -> None:
        self._on_names_lost: Callable[[Collection[UUID]], None] = lambda _: None
        self._shared = shared
        self._local = local
        self._is_shared = is_shared
        shared.on_names = self._names_arrived

    def identity(self, owner: Owner, name: str) -> UUID:
        """The id of a definition, made at its first sight."""
        return self._of_owner(owner).identity(owner, name)

    async def rename(self, owner: Owner, name: str, new: str) -> UUID:
        """Give the id of one definition to another name of the same owner, durably."""
        return await self._of_owner(owner).rename(owner, name, new)

    async def intend_rename(self, owner: Owner, name: str, new: str) -> None:
        """Note durably that a definition is about to get another name; `rename` settles that."""
        await self._local.intend_rename(owner, name, new)

    async def give_up_rename(self, owner: Owner, name: str) -> None:
        """Forget that a definition was about to get another name."""
        await self._local.give_up_rename(owner, name)

    def intended_renames(self) -> Sequence[tuple[Owner, str, str]]:
        """What was about to get another name, and which, when a yard was killed."""
        return self._local.intended_renames()

    def exposed_names(self) -> Mapping[NameKey, str]:
        """The exposed name of each (server, tool) that ever had one."""
        return ChainMap(self._shared.names(), self._local.names())

    def keep_names(self, names: Mapping[NameKey, str]) -> None:
        """Keep these names for ever."""
        shared = {key: name for key, name in names.items() if self._shares_name(key[0], name)}
        self._shared.keep_names(shared)
        self._local.keep_names({key: names[key] for key in names.keys() - shared.keys()})

    def watch_names(self, lost: Callable[[Collection[UUID]], None]) -> None:
        """Call back with the servers whose tools lost a name that was kept here."""
        self._on_names_lost = lost

    def tools(self, server: UUID) -> Sequence[Mapping[str, object]]:
        """The tools a server listed last."""
        return self._of(server).tools(server)

    def keep_tools(self, server: UUID, tools: Sequence[Mapping[str, object]]) -> None:
        """Keep what a server listed."""
        self._of(server).keep_tools(server, tools)

    def offer(self, server: UUID) -> Capabilities:
        """What else a server offered last."""
        return self._of(server).offer(server)

    def keep_offer(self, server: UUID, offer: Capabilities) -> None:
        """Keep what else a server offers."""
        self._of(server).keep_offer(server, offer)

    def reached(self, launch_digest: str) -> KnownConnection | None:
        """How this launch was reached the last time, from this machine."""
        return self._local.reached(launch_digest)

    def keep_reached(self, launch_digest: str, reached: KnownConnection | None) -> None:
        """Keep how a launch was reached; None to find out anew."""
        self._local.keep_reached(launch_digest, reached)

    async def flush(self) -> None:
        """Return when all that was kept so far is there to stay."""
        await asyncio.gather(self._shared.flush(), self._local.flush())

    async def close(self) -> None:
        """Write what is not written yet."""
        await self._local.close()
        await self._shared.close()

    def _of_owner(self, owner: Owner) -> SqlMemory:
        return self._shared if owner.scope is Scope.USER else self._local

    def _of(self, server: UUID) -> SqlMemory:
        return self._shared if self._is_shared(server) else self._local

    def _shares_name(self, server: UUID, name: str) -> bool:
        return self._is_shared(UUID(name) if server == _ADDRESSES else server)

    def _names_arrived(self, names: Collection[str], lost: Collection[UUID]) -> None:
        """A name of a shared tool holds on every node: a pinned one that has it gives it up."""
        taken = {*names}
        pinned = [
            key
            for key, name in self._local.exposed_names().items()
            if name in taken and key[0] != _ADDRESSES
        ]
        self._local.drop_names(pinned)
        if lost or pinned:
            self._on_names_lost({*lost, *(server for server, _ in pinned)})


class SplitPolicies:
    """The policies of all servers that a node knows (see the `Policies` port)."""

    def __init__(self, shared: SqlPolicies, local: SqlPolicies, is_shared: IsShared) -> None:
        self._shared = shared
        self._local = local
        self._is_shared = is_shared

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """The policy of each server that has one."""
        return {**self._local.all(), **self._shared.all()}

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was; an empty one is as good as none."""
        await self._of(server).set(server, policy)

    async def set_all(self, policies: Mapping[UUID, PolicyPatch]) -> None:
        """Put policies in place of those there were, in one write for those that are shared."""
        shared = {key: each for key, each in policies.items() if self._is_shared(key)}
        local = {key: each for key, each in policies.items() if key not in shared}
        for repository, part in ((self._shared, shared), (self._local, local)):
            if part:
                await repository.set_all(part)

    async def change(self, server: UUID, edit: PolicyEdit) -> PolicyPatch:
        """Make a policy out of the one there is; of two changes at once none is lost."""
        return await self._of(server).change(server, edit)

    def _of(self, server: UUID) -> SqlPolicies:
        return self._shared if self._is_shared(server) else self._local
