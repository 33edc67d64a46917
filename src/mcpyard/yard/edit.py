"""Changing what should be: every edit goes to the definition's owner and to nobody else.

Edits are taken one at a time: verified first, written durably, then told. Launch fields go to the
owner's document; policy fields to the store, for every scope. A bad edit is refused before anything
moves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mcpyard.domain.definition.approval import bound
from mcpyard.domain.definition.merge import Patch, merged
from mcpyard.domain.definition.parsing import ParsedDefinition
from mcpyard.domain.desired import Definition, DesiredServer, Owner, PolicyPatch
from mcpyard.domain.desiring import apply_policy
from mcpyard.domain.errors import (
    DocumentMoved,
    NameTaken,
    NeedsApproval,
    Problem,
    ReadOnlyOwner,
    StillRunning,
    YardError,
)
from mcpyard.domain.model import Config, Scope, Transport, Wanted
from mcpyard.domain.ports import Memory
from mcpyard.domain.source import EditableSource, Source, WholeChange, WholeSource
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.intent import Intent, laying
from mcpyard.yard.masking import literal_secrets
from mcpyard.yard.reconcile import Reconciler
from mcpyard.yard.registration import (
    Registered,
    Registration,
    launch_only,
    name_of,
    policy_of,
)
from mcpyard.yard.views.servers import definition_digest

Refusals = Mapping[str, YardError]
"""Why servers were not added, by their names."""


class Change(Struct, frozen=True):
    """A change of a server.

    Attributes:
        patch: The changes as a JSON merge patch; `name` renames the server.
        expected: The expected digest of the record; None to skip the check.
        refuse_running: Refuse a change that would restart a running server.
        note: Who makes it, so that it can be undone; None to journal it elsewhere or not at all.
    """

    patch: Patch
    expected: str | None = None
    refuse_running: bool = False
    note: EditNote | None = None

    @classmethod
    def of(cls, change: "Change | Patch") -> "Change":
        """A change, or one made of a bare patch."""
        return change if isinstance(change, Change) else cls(change)


class ServerEditor:
    """Registers, changes and removes servers."""

    def __init__(
        self, sources: Mapping[Scope, Source], memory: Memory, intent: Intent, ground: Reconciler
    ) -> None:
        self._editable = {
            scope: source for scope, source in sources.items() if isinstance(source, EditableSource)
        }
        self._memory = memory
        self._intent = intent
        self._ground = ground
        self._one_at_a_time = asyncio.Lock()

    @property
    def default_scope(self) -> Scope:
        """Where a new server lands when nobody says: the project's file, else the user's own."""
        project = self._editable.get(Scope.PROJECT)
        return Scope.PROJECT if project and self._intent.trust.serves(project.owner) else Scope.USER

    async def register(self, body: Mapping[str, object]) -> Registered:
        """Add a server.

        Args:
            body: A definition in any spelling, with `name`, and optionally `scope` and `start`.

        Raises:
            NameTaken: The name is in use in some scope.
            DefinitionError: The definition cannot be used.
            ReadOnlyOwner: Nothing can be added to that scope.
        """
        (outcome,) = await self.register_all([body])
        if isinstance(outcome, YardError):
            raise outcome
        return outcome

    async def register_all(
        self, bodies: Iterable[Mapping[str, object]]
    ) -> list[Registered | YardError]:
        """Add servers, those of one scope in one edit; what became of each (see `register`).

        What keeps one of them out keeps out no other.
        """
        outcomes: list[Registered | YardError] = []
        batches: dict[Scope, dict[int, Registration]] = {}
        async with self._one_at_a_time:
            taken = {each.name: each.owner for each in self._ground.desired.servers.values()}
            for number, body in enumerate(bodies):
                try:
                    request = Registration.of(body)
                    owner = self._source(request.scope or self.default_scope).owner
                    _check_free(request.name, taken)
                except YardError as error:
                    outcomes.append(error)
                    continue
                taken[request.name] = owner
                batches.setdefault(owner.scope, {})[number] = request
                outcomes.append(self._registered(owner, request))
            for scope, batch in batches.items():
                refused = await self._add(self._source(scope), [*batch.values()])
                for number, request in batch.items():
                    outcomes[number] = refused.get(request.name, outcomes[number])
        return outcomes

    async def change(self, server: DesiredServer, change: Change) -> list[Problem]:
        """Change a server; what is odd about the outcome.

        Raises:
            DocumentMoved: The record is not the one that is meant.
            StillRunning: It runs, and the change was not to restart it.
            ReadOnlyOwner: Its owner cannot be edited from here, and more than policy changes.
        """
        patch = dict(change.patch)
        new_name = name_of(patch.pop("name")) if "name" in patch else server.name
        async with self._one_at_a_time:
            current = self._ground.desired.servers.get(server.id, server)
            if change.expected not in {None, definition_digest(current)}:
                raise DocumentMoved(f'"{server.name}" was changed since you opened it')
            reading = merged(current.config, patch)
            await self._apply(current, reading, new_name, refuse_running=change.refuse_running)
        return [*reading.warnings, *_literal_secrets(server.owner, reading)]

    async def remove(self, server: DesiredServer) -> None:
        """Take a server out of its owner's document, with everything said about it."""
        await self.remove_all([server])

    async def remove_all(self, servers: Collection[DesiredServer]) -> None:
        """Take servers out, those of one owner in one edit."""
        sources = {each.owner.scope: self._source(each.owner.scope, each) for each in servers}
        async with self._one_at_a_time:
            for scope, source in sources.items():
                gone = [each for each in servers if each.owner.scope is scope]
                await source.remove(*(each.name for each in gone))
                await self._intent.replace({each.id: {} for each in gone})

    async def let_wait(self, scope: Scope, policies: Mapping[str, PolicyPatch]) -> None:
        """Say how to treat servers that are about to appear in a document: they wait, stopped."""
        owner, stopped = self._source(scope).owner, {"wanted": Wanted.STOPPED.value}
        patches = {
            self._memory.identity(owner, name): {**policy, **stopped}
            for name, policy in policies.items()
        }
        await self._memory.flush()
        # Those that wait together are one write.
        await asyncio.gather(*(self._intent.change(*each) for each in patches.items()))

    async def _add(self, source: EditableSource, batch: Collection[Registration]) -> Refusals:
        """Add what fits; what does not, or all of it where it cannot be written, is refused."""
        ids = {each.name: self._memory.identity(source.owner, each.name) for each in batch}
        configs = {each.name: launch_only(each.reading.config) for each in batch}
        refused: Collection[str] = configs
        with self._ground.hold():
            try:
                # An id that was told must be the same after a crash.
                await self._memory.flush()
                await self._intent.replace({ids[each.name]: each.policy for each in batch})
                try:
                    refused = taken = await self._write(
                        source, configs, lambda: source.add(configs)
                    )
                finally:
                    await self._intent.replace({ids[name]: {} for name in refused})
            except YardError as error:
                return dict.fromkeys(configs, error)
        return taken

    async def _apply(
        self,
        server: DesiredServer,
        reading: ParsedDefinition,
        new_name: str,
        *,
        refuse_running: bool,
    ) -> None:
        launch_before, launch_after = launch_only(server.config), launch_only(reading.config)
        moves = launch_before != launch_after
        policy = _policy_change(server.config, reading.config)
        if server.owner.scope not in self._editable and not moves and new_name == server.name:
            # How a server is treated is ours to say, whoever says how it is launched.
            await self._intent.change(server.id, policy)
            return
        source = self._source(server.owner.scope, server)
        if moves and refuse_running and self._ground.is_up(server):
            raise StillRunning(f'"{server.name}" is running; stop it first')
        if moves and server.waiting and server.waiting.approved:
            where = server.owner.place
            raise NeedsApproval(f'"{server.name}" has a change in {where} that needs approval')
        written = self._written(source, server.name) or launch_before
        launch = launch_after if moves else None
        change = WholeChange(new_name, launch, written, laying(policy))
        with self._ground.hold():
            if isinstance(source, WholeSource):
                await self._change_whole(source, server, change, policy)
            else:
                await self._change_parts(source, server, change, policy)

    async def _change_whole(
        self, source: WholeSource, server: DesiredServer, change: WholeChange, policy: PolicyPatch
    ) -> None:
        renamed = change.name != server.name
        if renamed:
            self._free(change.name)
        if renamed or change.config or self._intent.differs(server.id, policy):
            await source.change(server.name, change)
            self._intent.stored(server.id, policy)

    async def _change_parts(
        self,
        source: EditableSource,
        server: DesiredServer,
        change: WholeChange,
        policy: PolicyPatch,
    ) -> None:
        # A kill between two of these leaves what was written by then: each is whole in itself.
        if change.name != server.name:
            await self._rename(source, server, change.name)
        if change.config:
            await self._put(source, change.name, change.config, change.instead_of)
        await self._intent.change(server.id, policy)

    async def _rename(self, source: EditableSource, server: DesiredServer, new_name: str) -> None:
        self._free(new_name)
        # A file and the database cannot be written in one step; what is noted here outlives a kill
        # between the two.
        await self._memory.intend_rename(server.owner, server.name, new_name)
        try:
            await source.rename(server.name, new_name)
        except BaseException:
            await self._memory.give_up_rename(server.owner, server.name)
            raise
        await self._intent.trust.rename(server.owner, server.name, new_name)
        await self._memory.rename(server.owner, server.name, new_name)

    async def approve_edits(self, scope: Scope, configs: Mapping[str, Config]) -> None:
        """Approve entries that were written into a document from here."""
        await self._intent.trust.approve_edits(self._source(scope).owner, configs)
        self._intent.changed()

    async def _put(
        self, source: EditableSource, name: str, launch: Config, written: Config
    ) -> None:
        whole = apply_policy(launch, policy_of(written))

        async def write() -> Refusals:
            await source.put(name, launch, written)
            return {}

        await self._write(source, {name: whole}, write)

    async def _write(
        self,
        source: EditableSource,
        entries: Mapping[str, Config],
        write: Callable[[], Awaitable[Refusals]],
    ) -> Refusals:
        """Write entries, which whoever asks for them approves with that."""
        trust, owner = self._intent.trust, source.owner
        # Approved first: of the two, a kill in between must not leave the entry that waits.
        await trust.approve_edits(owner, entries)
        refused: Collection[str] = entries
        try:
            refused = taken = await write()
        finally:
            await trust.give_up_edits(owner, refused)
        written = _written_last(source.document().definitions, entries)
        await trust.approve_edits(
            owner,
            {
                name: written[name]
                for name in written.keys() - taken.keys()
                if _is_respelled(entries[name], written[name])
            },
        )
        return taken

    def _written(self, source: EditableSource, name: str) -> Config | None:
        """The definition as its document has it, with whatever policy stands there."""
        configs = (each.config for each in source.document().definitions if each.name == name)
        return next(configs, None)

    def _registered(self, owner: Owner, request: Registration) -> Registered:
        identity, reading = self._memory.identity(owner, request.name), request.reading
        warnings = (*reading.warnings, *_literal_secrets(owner, reading))
        return Registered(identity, request.name, warnings)

    def _free(self, name: str) -> None:
        servers = self._ground.desired.servers.values()
        _check_free(name, {each.name: each.owner for each in servers})

    def _source(self, scope: Scope, server: DesiredServer | None = None) -> EditableSource:
        if source := self._editable.get(scope):
            return source
        if server is None:
            message, advice = _CLOSED[scope]
            raise ReadOnlyOwner(message).advising(advice)
        origin = _ORIGINS.get(scope, f"the {scope} scope, which is not available here")
        raise ReadOnlyOwner(f'"{server.name}" comes from {origin}; change it there')


_ORIGINS: Final = {
    Scope.ENV: "environment variables",
    Scope.CODE: "the program that embeds mcpyard",
    Scope.PROJECT: "a project's .mcp.json, and no project is open",
}

_IN_PYTHON: Final = "In Python: yard.code.add(name, config)"
_CLOSED: Final = {
    Scope.PROJECT: (
        "no project is open",
        "Open one: mcpyard up --project DIR; or use --scope user, or in Python yard.code.add",
    ),
    Scope.USER: (
        "this mcpyard instance has no home folder, so it stores no user servers",
        f"{_IN_PYTHON}; or give the instance a home folder.",
    ),
    Scope.ENV: (
        "servers from environment variables cannot be added here",
        "Set NAME_MCP_SERVER_URL in the environment of mcpyard.",
    ),
    Scope.CODE: (
        "servers from Python are added by the program that embeds mcpyard",
        _IN_PYTHON,
    ),
}
"""Where nothing can be added, and what to do instead."""


def _check_free(name: str, taken: Mapping[str, Owner]) -> None:
    if owner := taken.get(name):
        raise NameTaken(f'the name "{name}" is in use ({owner.place or owner.scope})')


def _policy_change(before: Config, after: Config) -> PolicyPatch:
    """What a policy patch must hold for one definition to become the other."""
    old, new = policy_of(before), policy_of(after)
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return {**dict.fromkeys(old.keys() - new.keys()), **changed}


def _is_respelled(entry: Config, written: Config) -> bool:
    """Whether a document says the same as an entry, in other words."""
    return written != entry and _meaning(written) == _meaning(entry)


def _written_last(definitions: Sequence[Definition], names: Collection[str]) -> dict[str, Config]:
    """The entries of these names, looked for from the back, where the newest stand."""
    written: dict[str, Config] = {}
    for each in reversed(definitions):
        if len(written) == len(names):
            break
        if each.name in names:
            written.setdefault(each.name, each.config)
    return written


def _meaning(config: Config) -> dict[str, object]:
    """What an approval is bound to; a file may say HTTP where nothing was said."""
    binding = bound(config)
    return binding | {"transport": binding.get("transport") or str(Transport.HTTP)}


def _literal_secrets(owner: Owner, reading: ParsedDefinition) -> list[Problem]:
    return literal_secrets(reading.config) if owner.scope is Scope.PROJECT else []
