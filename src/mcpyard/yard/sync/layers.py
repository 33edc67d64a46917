"""What the sources of a sync want in each program, and what a program can hold of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mcpyard.domain.definition.approval import ApprovedEntry, Entries
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.this_yard import are_same_bridge
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.sync.plan import DesiredEntry
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.naming import name_fault
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.connecting import NAME
from mcpyard.yard.clients.yard_scope import YARD
from mcpyard.yard.clients.yard_scope_documents import entry_of
from mcpyard.yard.name_patterns import fits
from mcpyard.yard.sync.fingerprints import can_say_off, meaning_of, read_back, unresolved
from mcpyard.yard.sync.source_file import SyncTarget, is_of_project

ProfileServers = Callable[[str, Mapping[str, Config]], set[str]]
"""The names that a profile shows, of some servers."""

GATEWAY_COMMAND: Final = ("mcpyard", "stdio")
"""What starts the gateway where nothing else is known, and what an approval of it shows."""

OURS = scope_ref_of(f"{YARD}:{Scope.USER}")
"""The scope whose words the entries of a source are in."""


@dataclass(frozen=True, slots=True)
class SourceServer:
    """A server of a source: its entry in the words of mcpyard, and whether it may be written."""

    entry: Entry
    approved: bool = True


@dataclass(frozen=True, slots=True)
class SourceLayer:
    """A source with its targets: a repository's file, or the servers of the user.

    Attributes:
        scope: Whose it is.
        path: Its file; of the user's servers, the document that stands for them.
        configs: Its servers by name; None for those that mcpyard has when a plan is made.
        targets: The programs that are to have them.
        command: The command of the gateway.
        approved: What was approved of it, by target and name.
        strict: Whether its own files need that as well: nobody is there to see the plan.
        source: What its entries are owned for: the real file of a repository, nothing for the user.
        outside: Where the targets lead, by their words, whose files only seem to be of its folder.
    """

    scope: Scope
    path: str
    configs: Mapping[str, Config] | None
    targets: tuple[SyncTarget, ...]
    command: tuple[str, ...] = GATEWAY_COMMAND
    approved: Entries = field(default_factory=dict[str, ApprovedEntry])
    strict: bool = False
    source: str = ""
    outside: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def for_adoption(self) -> "SourceLayer":
        """The same, where a target of the user has whatever it does not exclude."""
        if self.scope is not Scope.USER:
            return self
        return replace(self, targets=tuple(replace(each, only=None) for each in self.targets))

    def servers(
        self, target: SyncTarget, own: Mapping[str, Config], shows: ProfileServers
    ) -> dict[str, SourceServer]:
        """What a target is to have, by name."""
        return {
            name: SourceServer(entry_of(config, OURS), self._is_approved(target, name, config))
            for name, config in self.configs_for(target, own, shows).items()
        }

    def configs_for(
        self, target: SyncTarget, own: Mapping[str, Config], shows: ProfileServers
    ) -> dict[str, Config]:
        """The definitions of what a target is to have, by name."""
        configs = own if self.configs is None else self.configs
        if target.gateway:
            return {NAME: _gateway(self.command, target.profile)}
        names = shows(target.profile, configs) if target.profile else {*configs}
        return {
            name: config
            for name, config in configs.items()
            if name in names and selects(target, name)
        }

    def _is_approved(self, target: SyncTarget, name: str, config: Config) -> bool:
        own_file = is_of_project(target.ref) and target.words not in self.outside
        own_file = own_file and not self.strict
        if self.scope is Scope.USER or own_file:
            return True
        entry = self.approved.get(approval_name(target, name))
        # A repository wants the gateway, and which command starts it is of the machine.
        definition = _gateway(GATEWAY_COMMAND, target.profile) if target.gateway else config
        return entry is not None and entry.covers(definition)


@dataclass(frozen=True, slots=True)
class ConvertedServer:
    """A server as a program is to have it, and what is lost on the way."""

    desired: DesiredEntry
    entry: Entry
    warnings: tuple[Warned, ...] = ()


def _gateway(command: tuple[str, ...], profile: str | None) -> Config:
    program, *args = command
    more = ["--profile", profile] if profile else []
    return read_definition({"command": program, "args": [*args, *more]}).config


def as_here(gateway: Entry, ours: Entry) -> Entry:
    """An entry with the command of this machine, if it starts the same bridge."""
    commands = [(each.command or "", *(each.args or ())) for each in (gateway, ours)]
    if not are_same_bridge(*commands):
        return gateway
    return replace(gateway, command=ours.command, args=ours.args)


def selects(target: SyncTarget, name: str) -> bool:
    """Whether a target is to have a server by its lists."""
    chosen = target.only is None or any(fits(name, each) for each in target.only)
    return chosen and not any(fits(name, each) for each in target.excluded)


def approval_name(target: SyncTarget, name: str) -> str:
    """What an approval of a server for a target is kept under."""
    return f"{target.words} {name}"


def copied(name: str, server: SourceServer, ref: ClientScopeRef) -> ConvertedServer:
    """A server in the means of a program; `ref` has the schema of its file."""
    on = server.entry.enabled is not False
    plain = replace(server.entry, enabled=None)
    try:
        converted = convert(plain, OURS, ref)
    except DefinitionError as error:
        return ConvertedServer(
            DesiredEntry("", on, can_say_off(ref), str(error), server.approved), plain
        )
    unusable = [each for each in converted.warnings if each.kind is WarningKind.UNUSABLE]
    way = plain.way
    silent = way not in {None, EntryTransport.REMOTE} and way not in ref.client.speaks
    why = (
        name_fault(ref.client, name)
        or (f"{ref.client.title} does not support {way}" if silent else "")
        or next((each.message for each in unusable), "")
        or unresolved(plain, OURS, converted.entry, ref)
    )
    meaning = meaning_of(read_back(converted.entry, ref), ref)
    desired = DesiredEntry(meaning, on, can_say_off(ref), why, server.approved)
    return ConvertedServer(desired, converted.entry, converted.warnings)
