"""Changing what should be: every edit goes to the definition's owner and to nobody else.

Edits are taken one at a time: verified first, written durably, then told. Launch fields go to the
owner's document; policy fields to the store, for every scope. A bad edit is refused before anything
moves.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.approval import bound
from mcpyard.domain.definition.merge import Patch, merged
from mcpyard.domain.definition.parsing import ParsedDefinition, read_definition
from mcpyard.domain.definition.secret_text import names_secret, shown_args, shown_url
from mcpyard.domain.desired import DesiredServer, Owner, PolicyPatch, apply_policy
from mcpyard.domain.errors import (
    DefinitionError,
    DocumentMoved,
    NameRefused,
    NameTaken,
    NeedsApproval,
    Problem,
    ReadOnlyOwner,
    StillRunning,
)
from mcpyard.domain.model import (
    POLICY_FIELDS,
    Config,
    LocalConfig,
    Scope,
    Transport,
    Wanted,
)
from mcpyard.domain.ports import EditableSource, Memory, Source, WholeChange, WholeSource
from mcpyard.yard.intent import Intent, laying
from mcpyard.yard.reconcile import Reconciler
from mcpyard.yard.views.servers import definition_digest

_NOT_THE_DEFINITION: Final = frozenset({"name", "scope", "start"})


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a server.

    Attributes:
        patch: The changes as a JSON merge patch; `name` renames the server.
        expected: The expected digest of the record; None to skip the check.
        refuse_running: Refuse a change that would restart a running server.
    """

    patch: Patch
    expected: str | None = None
    refuse_running: bool = False

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

    async def register(self, body: Mapping[str, object]) -> tuple[Owner, str, list[Problem]]:
        """Add a server; where it landed, its name, and what is odd about it.

        Args:
            body: A definition in any spelling, with `name`, and optionally `scope` and `start`.

        Raises:
            NameTaken: The name is in use in some scope.
            DefinitionError: The definition cannot be used.
            ReadOnlyOwner: Nothing can be added to that scope.
        """
        name = _name(body.get("name"))
        start = _start(body.get("start"))
        raw = {key: value for key, value in body.items() if key not in _NOT_THE_DEFINITION}
        reading = read_definition(raw)
        async with self._one_at_a_time:
            source = self._source(_scope(body.get("scope")) or self.default_scope)
            self._free(name)
            await self._add(source, name, reading.config, start)
        return source.owner, name, [*reading.warnings, *_literal_secrets(source.owner, reading)]

    async def change(self, server: DesiredServer, change: Change) -> list[Problem]:
        """Change a server; what is odd about the outcome.

        Raises:
            DocumentMoved: The record is not the one that is meant.
            StillRunning: It runs, and the change was not to restart it.
            ReadOnlyOwner: Its owner cannot be edited from here.
        """
        patch = dict(change.patch)
        new_name = _name(patch.pop("name")) if "name" in patch else server.name
        async with self._one_at_a_time:
            current = self._ground.desired.servers.get(server.id, server)
            if change.expected not in {None, definition_digest(current)}:
                raise DocumentMoved(f'"{server.name}" was changed since you opened it')
            reading = merged(current.config, patch)
            await self._apply(current, reading, new_name, refuse_running=change.refuse_running)
        return [*reading.warnings, *_literal_secrets(server.owner, reading)]

    async def remove(self, server: DesiredServer) -> None:
        """Take a server out of its owner's document, with everything said about it."""
        source = self._source(server.owner.scope, server)
        async with self._one_at_a_time:
            await source.remove(server.name)
            await self._intent.forget(server.id)

    async def let_wait(self, scope: Scope, name: str, policy: PolicyPatch) -> None:
        """Say how to treat a server that is about to appear in a document: it waits, stopped."""
        identity = self._memory.identity(self._source(scope).owner, name)
        await self._memory.flush()
        await self._intent.change(identity, {**policy, "wanted": Wanted.STOPPED.value})

    async def _add(
        self, source: EditableSource, name: str, config: Config, goal: Wanted | None
    ) -> None:
        identity = self._memory.identity(source.owner, name)
        policy = {**_policy(config), **({"wanted": goal.value} if goal else {})}
        with self._ground.hold():
            # An id that was told must be the same after a crash.
            await self._memory.flush()
            await self._intent.forget(identity)
            await self._intent.change(identity, policy)
            try:
                await self._put(source, name, _launch_only(config), None)
            except BaseException:
                await self._intent.forget(identity)
                raise

    async def _apply(
        self,
        server: DesiredServer,
        reading: ParsedDefinition,
        new_name: str,
        *,
        refuse_running: bool,
    ) -> None:
        source = self._source(server.owner.scope, server)
        launch_before, launch_after = _launch_only(server.config), _launch_only(reading.config)
        moves = launch_before != launch_after
        if moves and refuse_running and self._ground.is_up(server):
            raise StillRunning(f'"{server.name}" is running; stop it first')
        if moves and server.waiting and server.waiting.approved:
            where = server.owner.place
            raise NeedsApproval(f'"{server.name}" has a change in {where} that needs approval')
        written = self._written(source, server.name) or launch_before
        change = _Parts(
            new_name,
            launch_after if moves else None,
            written,
            _policy_change(server.config, reading.config),
        )
        with self._ground.hold():
            if isinstance(source, WholeSource):
                await self._change_whole(source, server, change)
            else:
                await self._change_parts(source, server, change)

    async def _change_whole(
        self, source: WholeSource, server: DesiredServer, change: "_Parts"
    ) -> None:
        renamed = change.name != server.name
        if renamed:
            self._free(change.name)
        if renamed or change.launch or self._intent.differs(server.id, change.policy):
            whole = WholeChange(change.name, change.launch, change.written, laying(change.policy))
            await source.change(server.name, whole)
            self._intent.stored(server.id, change.policy)

    async def _change_parts(
        self, source: EditableSource, server: DesiredServer, change: "_Parts"
    ) -> None:
        # A kill between two of these leaves what was written by then: each is whole in itself.
        if change.name != server.name:
            await self._rename(source, server, change.name)
        if change.launch:
            await self._put(source, change.name, change.launch, change.written)
        await self._intent.change(server.id, change.policy)

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

    async def approve_edit(self, scope: Scope, name: str, config: Config) -> None:
        """Approve an entry that was written into a document from here."""
        await self._intent.trust.approve_edit(self._source(scope).owner, name, config)
        self._intent.changed()

    async def _put(
        self, source: EditableSource, name: str, launch: Config, written: Config | None
    ) -> None:
        """Write an entry, which whoever asks for it approves with that."""
        trust = self._intent.trust
        whole = apply_policy(launch, _policy(written) if written else {})
        # Approved first: of the two, a kill in between must not leave the entry that waits.
        await trust.approve_edit(source.owner, name, whole)
        try:
            await source.put(name, launch, written)
        except BaseException:
            await trust.give_up_edit(source.owner, name)
            raise
        now = self._written(source, name)
        if now is not None and now != whole and _meaning(now) == _meaning(whole):
            await trust.approve_edit(source.owner, name, now)

    def _written(self, source: EditableSource, name: str) -> Config | None:
        """The definition as its document has it, with whatever policy stands there."""
        configs = (each.config for each in source.document().definitions if each.name == name)
        return next(configs, None)

    def _free(self, name: str) -> None:
        for server in self._ground.desired.servers.values():
            if server.name == name:
                where = server.owner.place or server.owner.scope
                raise NameTaken(f'the name "{name}" is in use ({where})')

    def _source(self, scope: Scope, server: DesiredServer | None = None) -> EditableSource:
        if source := self._editable.get(scope):
            return source
        if server is None:
            message, advice = _CLOSED[scope]
            raise ReadOnlyOwner(message).advising(advice)
        origin = _ORIGINS.get(scope, f"the {scope} scope, which is not available here")
        raise ReadOnlyOwner(f'"{server.name}" comes from {origin}; change it there')


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is to change about a server: its name, what its document says, what the store says.

    Attributes:
        name: What it is called from now on.
        launch: How it is reached from now on; None for as it is.
        written: What its document says by now.
        policy: What is to be said otherwise of how to treat it.
    """

    name: str
    launch: Config | None
    written: Config
    policy: PolicyPatch


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

_NAMING: Final = f"Choose a readable name of up to {checks.MAX_NAME} characters, not like an id."


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise DefinitionError.of(Problem("name", "must be a string"))
    if fault := checks.name_fault(value):
        raise NameRefused.of(Problem("name", fault)).advising(_NAMING)
    return value


def _scope(value: object) -> Scope | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in {*Scope}:
        expected = ", ".join(Scope)
        raise DefinitionError.of(Problem("scope", f"is not one of {expected}"))
    return Scope(value)


def _start(value: object) -> Wanted | None:
    if value is None:
        return None
    if not isinstance(value, bool):
        raise DefinitionError.of(Problem("start", "must be true or false"))
    return Wanted.RUNNING if value else Wanted.STOPPED


def _policy(config: Config) -> PolicyPatch:
    dumped = config.model_dump(mode="json", exclude_unset=True)
    return {name: value for name, value in dumped.items() if name in POLICY_FIELDS}


def _policy_change(before: Config, after: Config) -> PolicyPatch:
    """What a policy patch must hold for one definition to become the other."""
    old, new = _policy(before), _policy(after)
    changed = {name: value for name, value in new.items() if old.get(name) != value}
    return {**dict.fromkeys(old.keys() - new.keys()), **changed}


def _launch_only(config: Config) -> Config:
    launch = config.model_fields_set - POLICY_FIELDS | {"type"}
    return type(config).model_validate({name: getattr(config, name) for name in launch})


def _meaning(config: Config) -> dict[str, object]:
    """What an approval is bound to; a file may say HTTP where nothing was said."""
    binding = bound(config)
    return binding | {"transport": binding.get("transport") or str(Transport.HTTP)}


def _literal_secrets(owner: Owner, reading: ParsedDefinition) -> list[Problem]:
    return literal_secrets(reading.config) if owner.scope is Scope.PROJECT else []


def literal_secrets(config: Config) -> list[Problem]:
    """A warning for each secret that would lie in a file that is easily shared."""
    local = isinstance(config, LocalConfig)
    field, pairs = ("env", config.environment) if local else ("headers", config.headers)
    advice = "is plain text in a file that is often shared; use ${NAME} and set the variable"
    named = [
        Problem(f"{field}.{name}", advice)
        for name, value in pairs.items()
        if names_secret(name) and "${" not in value
    ]
    advice = "contains a plain-text secret; use ${keyring:NAME} or a variable"
    return [*named, *(Problem(field, advice) for field in _with_secrets(config))]


def _with_secrets(config: Config) -> list[str]:
    """The arguments and the URL that contain secrets."""
    if not isinstance(config, LocalConfig):
        return ["url"] if shown_url(config.url) != config.url else []
    pairs = zip(config.args, shown_args(config.args), strict=True)
    return [f"args[{index}]" for index, (arg, text) in enumerate(pairs) if arg != text]
