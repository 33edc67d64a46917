"""The loop that moves what is toward what should be.

Level-triggered: a saved file, an edit, an ended child only wake it. It compares the whole picture,
plans for the servers that are not as they were or are not done yet, carries out what the plan says,
and rests. What it desired last is what readers see.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Protocol
from uuid import UUID, uuid4

from msgspec import structs

from mcpyard.domain.definition.approval import admit
from mcpyard.domain.desired import Definition, Desired, DesiredServer, DesireInputs, Document, Owner
from mcpyard.domain.desired_changes import DesiredChanges, changes
from mcpyard.domain.desiring import desire
from mcpyard.domain.lifecycle import OPEN, UP, Phase
from mcpyard.domain.model import Config, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import Action, Replace, StartServer, plan
from mcpyard.domain.ports import Memory, Servers
from mcpyard.domain.source import Source
from mcpyard.yard.intent import Intent

log = logging.getLogger(__name__)

OnDesired = Callable[[Desired, DesiredChanges], None]
"""Takes over another desired state, with what is different in it."""

_DONE = {
    Wanted.RUNNING: OPEN | {Phase.FAILED, Phase.NEEDS_AUTH, Phase.NEEDS_APPROVAL},
    Wanted.STOPPED: {Phase.STOPPED},
    Wanted.ON_DEMAND: {*Phase} - {Phase.CONNECTING, Phase.STOPPING},
}


class SecretLookup(Protocol):
    """The variables whose values are slow to come by, and are not waited for to look.

    Attributes:
        changed: Called when a value is another one than it was, or is known at last.
    """

    changed: Callable[[], None]

    @property
    def awaited(self) -> Collection[str]:
        """The names whose values may be others in a moment."""
        ...

    async def answered(self) -> None:
        """Return when no value is awaited any more."""
        ...


class NoSecrets:
    """For variables whose values are all at hand."""

    def __init__(self) -> None:
        self.changed: Callable[[], None] = lambda: None
        self.awaited: Collection[str] = ()

    async def answered(self) -> None:
        """Return at once."""


class Reconciler:
    """Keeps the servers as they should be."""

    def __init__(
        self,
        sources: Sequence[Source],
        memory: Memory,
        servers: Servers,
        intent: Intent,
        inputs: DesireInputs,
    ) -> None:
        self._sources = sources
        self._memory = memory
        self._servers = servers
        self._intent = intent
        self._inputs = inputs
        self._desired = Desired({})
        self._due: set[UUID] = set()
        self._stale = True
        self._held = 0
        self._awake = asyncio.Event()
        self._rounds = asyncio.Condition()
        self._on_desired: OnDesired = lambda _, __: None
        self._secrets: SecretLookup = NoSecrets()
        intent.changed = self.documents_changed

    def follow(self, secrets: "SecretLookup") -> None:
        """Look again whenever a secret is known at last, or is another one."""
        self._secrets = secrets
        secrets.changed = self.documents_changed

    @property
    def desired(self) -> Desired:
        """What should be, by all that was said so far."""
        if self._stale:
            self.refresh()
        return self._desired

    def servers(self) -> Mapping[UUID, DesiredServer]:
        """The servers of that. A method of its own, since every call asks."""
        if self._stale:
            self.refresh()
        return self._desired.servers

    async def open(self, on_desired: OnDesired) -> None:
        """Open the sources and look for the first time."""
        self._on_desired = on_desired
        for source in self._sources:
            await source.open(self.documents_changed)
        await self._settle_renames()
        await self._intent.trust.begin([source.document() for source in self._sources])
        self._desire()
        if self._secrets.awaited:
            # Now that they were asked for: what is begun with has all its values.
            await self._secrets.answered()
        self.look()

    def documents_changed(self) -> None:
        """A source or an intent may say something else now."""
        self._stale = True
        self._awake.set()

    def server_changed(self, server: UUID) -> None:
        """What is observed of a server changed."""
        self._due.add(server)
        self._awake.set()

    async def run(self) -> None:
        """Look whenever something wakes the loop; ends by being cancelled."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            try:
                self.look()
                await self._intent.trust.keep()
            except Exception:
                # One look that fails must not end the watch over every other server.
                log.exception("updating the servers failed")
            async with self._rounds:
                self._rounds.notify_all()

    def look(self) -> None:
        """Compare what should be with what is, and do what is missing."""
        if self._held:
            return
        self.refresh()
        due, self._due = self._due, set()
        try:
            self._carry_out(self._in_order(due))
        except BaseException:
            self._due |= due
            raise

    def _carry_out(self, due: Collection[UUID]) -> None:
        observed = self._servers.held()
        share = self._servers.share(self._desired).servers
        desired = {id_: share[id_] for id_ in due if id_ in share}
        actual = {id_: observed[id_] for id_ in due if id_ in observed}
        actions_due = plan(Desired(desired), actual)
        actions = tuple(each for each in actions_due if not self._is_early(each))
        # Whatever is under way is looked at again until nothing is left to do about it.
        self._due.update(each.id for each in actions_due)
        if actions:
            self._servers.apply(actions, share)

    def _in_order(self, due: Collection[UUID]) -> Collection[UUID]:
        """In the order of what is desired, with those that are gone behind."""
        if len(due) <= 1:
            return due
        servers = self._desired.servers
        return [
            *(each for each in servers if each in due),
            *(it for it in due if it not in servers),
        ]

    async def settled(self, server: UUID) -> None:
        """Return when a server is what it should be, or can't be without somebody's help."""
        async with self._rounds:
            while not self._is_settled(server):
                await self._rounds.wait()

    async def all_settled(self) -> None:
        """Return when every server that should run does, or can't without somebody's help."""
        async with self._rounds:
            while not all(self._is_settled(each) for each in self._wanted_running()):
                await self._rounds.wait()

    def _wanted_running(self) -> list[UUID]:
        servers = self.desired.servers.values()
        return [each.id for each in servers if each.wanted is Wanted.RUNNING]

    async def gone(self, servers: Collection[UUID]) -> None:
        """Return when nothing is held of any of the servers any more."""
        async with self._rounds:
            while not self._servers.observed().keys().isdisjoint(servers):
                await self._rounds.wait()

    async def close(self) -> None:
        """Close the sources."""
        for source in self._sources:
            await source.close()

    @contextmanager
    def hold(self) -> Generator[None]:
        """Look at nothing until the block is left: an edit in several steps is seen whole."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._awake.set()

    def is_up(self, server: DesiredServer) -> bool:
        """Whether a server runs or is about to."""
        observed = self._servers.observed().get(server.id)
        return observed is not None and observed.state.phase in UP

    def refresh(self) -> None:
        """Take over what the sources and the users say by now."""
        if self._stale and not self._held:
            # What changes while it is looked at is looked at again.
            self._stale, before = False, self._desired
            try:
                self._desired = self._desire()
                different = changes(before, self._desired)
                self._due.update(each.id for each in different.changed)
                self._due.update(different.gone)
                self._on_desired(self._desired, different)
            except BaseException:
                # All that is different is published the next time.
                self._stale, self._desired = True, before
                raise

    async def on_trial(self, config: Config) -> DesiredServer:
        """What would be desired of a definition that nobody registered."""
        owner = Owner(Scope.USER, "trial")
        document = Document(owner, (Definition(owner.place, config),))
        inputs = structs.replace(self._inputs, identities={(owner, owner.place): uuid4()})
        (server,) = desire([document], inputs).servers.values()
        if self._lacks(server):
            await self._secrets.answered()
            (server,) = desire([document], inputs).servers.values()
        return server

    async def _settle_renames(self) -> None:
        """Finish, or give up, the renames in whose middle a yard was killed."""
        documents = {source.owner: source.document() for source in self._sources}
        for owner, name, new in self._memory.intended_renames():
            document = documents.get(owner)
            if document is None or document.problems:
                # What cannot be read now may show the next time which of the two it was.
                continue
            names = {each.name for each in document.definitions}
            if new in names and name not in names:
                await self._intent.trust.rename(owner, name, new)
                await self._memory.rename(owner, name, new)
            else:
                await self._memory.give_up_rename(owner, name)

    def _is_settled(self, identity: UUID) -> bool:
        server = self.desired.servers.get(identity)
        observed = self._servers.observed().get(identity)
        # While an edit is held back, what is desired may be older than what was said.
        if self._awake.is_set() or self._stale:
            return False
        if server is None or observed is None:
            return server is None or server.wanted is not Wanted.RUNNING
        return _is_done(server, observed)

    def _is_early(self, action: Action) -> bool:
        """Whether an action would launch what may be another launch in a moment."""
        server = self._desired.servers.get(action.id)
        launches = isinstance(action, StartServer | Replace)
        return launches and server is not None and self._lacks(server)

    def _lacks(self, server: DesiredServer) -> bool:
        return not server.values.keys().isdisjoint(self._secrets.awaited)

    def _desire(self) -> Desired:
        documents = [source.document() for source in self._sources]
        identities = _Identities(self._memory)
        intent = self._intent
        admission = admit(documents, intent.trust.approved(documents))
        inputs = structs.replace(
            self._inputs,
            identities=identities,
            policies=intent.policies,
            turns=intent.turns,
            waiting=admission.waiting,
        )
        return self._noting(desire(admission.documents, inputs, self._desired))

    def _noting(self, desired: Desired) -> Desired:
        """What should be, with a word on each server of which that could not be stored."""
        notes = {id_: note for id_, note in self._intent.unkept.items() if id_ in desired.servers}
        noted = {
            id_: replace(desired.servers[id_], warnings=(*desired.servers[id_].warnings, note))
            for id_, note in notes.items()
        }
        return replace(desired, servers={**desired.servers, **noted}) if noted else desired


class _Identities(dict[tuple[Owner, str], UUID]):
    """The ids of definitions; each is asked for where it is needed."""

    def __init__(self, memory: Memory) -> None:
        super().__init__()
        self._memory = memory

    def __missing__(self, key: tuple[Owner, str]) -> UUID:
        """The id that memory has, or gives."""
        return self._memory.identity(*key)


def _is_done(server: DesiredServer, observed: Observed) -> bool:
    if observed.state.phase not in _DONE[server.wanted]:
        return False
    if server.wanted is not Wanted.RUNNING:
        return True
    return (observed.launch_digest, observed.turn) == (server.launch_digest, server.turn)


def by_ref(servers: Mapping[UUID, DesiredServer], ref: str) -> DesiredServer | None:
    """The server an id or a name means."""
    with suppress(ValueError):
        server = servers.get(UUID(ref))
        if server is not None and str(server.id) == ref:
            return server
    return next((server for server in servers.values() if server.name == ref), None)
