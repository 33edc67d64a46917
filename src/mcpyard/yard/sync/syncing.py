"""A sync as an operation on texts: it plans on what files say at that moment, and does the plan.

Several programs, and mcpyard's own project scope, may share a file. An entry is planned once, for
the first target that reaches it; the others show the same cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from msgspec import structs

from mcpyard.domain.errors import DefinitionError, DocumentBroken, InputError, NameTaken
from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import (
    Action,
    CellState,
    Choice,
    EntryDigest,
    EntryKey,
    OwnedEntry,
    SyncCell,
    SyncState,
    plan,
)
from mcpyard.formats.entries import Entry
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned
from mcpyard.yard.clients.patching import refuse_unfit
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope_store import ScopeStore, YardScopeStore
from mcpyard.yard.sync.adopting import Adopting
from mcpyard.yard.sync.fingerprints import added_there, digest_of, reads_off
from mcpyard.yard.sync.layers import (
    ConvertedServer,
    ProfileServers,
    SourceLayer,
    SourceServer,
    as_here,
    copied,
)
from mcpyard.yard.sync.source_file import SyncTarget

_UNREADABLE = EntryDigest("unreadable", "unreadable")
"""Stands for an entry that its program cannot use; it is like nothing that could be written."""

_Place = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SyncDecision:
    """What a person chose about an entry, and the hash of what they saw of it."""

    choice: Choice
    seen: str


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """The files of sources, which change when an entry is adopted."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """A target of a layer with its files."""

    layer: SourceLayer
    target: SyncTarget
    store: FileScopeStore


@dataclass(frozen=True, slots=True)
class PlannedEntry:
    """One entry: where it is, what is there, and what is wanted."""

    column: TargetColumn
    key: EntryKey
    ref: ClientScopeRef
    path: str
    present: Entry | None = None
    seen: str = ""
    copied: ConvertedServer | None = None

    @property
    def name(self) -> str:
        """What the server is called."""
        return self.key.name


@dataclass(slots=True)
class Syncing:
    """A request to let entries become what their sources want.

    Attributes:
        columns: The targets, those of the user first: what they want is what counts.
        source: The scope of mcpyard that has the servers of the user.
        real: The file that each path leads to.
        owned: What earlier syncs wrote.
        shows: Which servers a profile shows.
        only: The targets that change, by their words; None for all.
        decisions: What a person chose, by the words of a target and a name.
        check: Whether files are compared alone, as on another machine than the one that wrote them.
        cells: What was decided about each entry, once it was done.
        entries: The entries that were looked at.
        rows: The entries of each target, by name.
        faults: Why the files of a target cannot be read.
        reasons: Why entries were not written after all.
        warnings: What each target loses of a server, by its words and the name: programs that share
            a file read it each in its own way.
        places: The sources that have a target in each place. What was written for others is theirs:
            a repository decides nothing about what the user, or another repository, has there.
    """

    columns: tuple[TargetColumn, ...]
    source: YardScopeStore
    real: Mapping[str, str]
    owned: Mapping[EntryKey, OwnedEntry]
    shows: ProfileServers
    only: frozenset[str] | None = None
    decisions: Mapping[tuple[str, str], SyncDecision] = field(
        default_factory=dict[tuple[str, str], SyncDecision]
    )
    check: bool = False
    cells: dict[EntryKey, SyncCell] = field(default_factory=dict[EntryKey, SyncCell], init=False)
    entries: dict[EntryKey, PlannedEntry] = field(
        default_factory=dict[EntryKey, PlannedEntry], init=False
    )
    rows: dict[str, dict[str, EntryKey]] = field(
        default_factory=dict[str, dict[str, EntryKey]], init=False
    )
    faults: dict[str, DocumentBroken] = field(default_factory=dict[str, DocumentBroken], init=False)
    reasons: dict[EntryKey, str] = field(default_factory=dict[EntryKey, str], init=False)
    warnings: dict[tuple[str, str], tuple[Warned, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[Warned, ...]], init=False
    )
    places: dict[_Place, set[str]] = field(default_factory=dict[_Place, set[str]], init=False)

    @property
    def stores(self) -> tuple["ScopeStore | SourceDocument", ...]:
        """Where something is read or changes."""
        files = {each.layer.path for each in self.columns if each.layer.configs is not None}
        stores = (each.store for each in self.columns)
        return (self.source, *stores, SourceDocument(tuple(files)))

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write of programs."""
        only = self.only
        wanting = [each for each in self.columns if not each.target.is_idle]
        return tuple(it.store for it in wanting if only is None or it.target.words in only)

    def do(self, workspace: Workspace) -> None:
        """Plan, take into the source what is to be adopted, plan anew with that, and do it."""
        adopted = Adopting(self.source)
        self.look(workspace, adopted)
        adopting = [key for key, cell in self.cells.items() if cell.action is Action.ADOPT]
        for key in adopting:
            entry = self.entries[key]
            if entry.present is not None:
                adopted.adopt(workspace, entry.column.layer, entry.name, entry.present, entry.ref)
        if adopting:
            self.look(workspace, adopted)
        for key in self._selected():
            action = Action.CLAIM if key in adopting else self.cells[key].action
            self._carry_out(workspace, key, action)

    def _selected(self) -> list[EntryKey]:
        """The entries of the targets that change."""
        if self.only is None:
            return [*self.cells]
        keys = {key for words in self.only for key in self.rows.get(words, {}).values()}
        return [key for key in self.cells if key in keys]

    def look(self, workspace: Workspace, adopted: Adopting) -> None:
        """Plan on what the texts say, with what was adopted so far."""
        for results in (self.cells, self.entries, self.rows, self.faults, self.reasons):
            results.clear()
        self.places.clear()
        own = workspace.own.servers(Scope.USER)
        for column in self.columns:
            servers = column.layer.servers(column.target, own, self.shows)
            servers |= adopted.servers(column.layer, column.target)
            try:
                self._look_at(workspace, column, servers)
            except DocumentBroken as error:
                self.faults[column.target.words] = error
        state = SyncState(
            {key: it.copied.desired for key, it in self.entries.items() if it.copied},
            {key: self._digest(it) for key, it in self.entries.items() if it.seen},
            self._owned_here(),
            self._choices(),
        )
        planned = plan(state)
        self.cells.update(planned.cells)
        workspace.claims.clear()
        if self.only is None:
            workspace.claims.update(dict.fromkeys(planned.forgotten))

    def _look_at(
        self, workspace: Workspace, column: TargetColumn, servers: Mapping[str, SourceServer]
    ) -> None:
        store, row = column.store, self.rows.setdefault(column.target.words, {})
        for name in dict.fromkeys([*servers, *store.names(workspace)]):
            path, ref = store.place(workspace, name), store.file_ref(workspace, name)
            key = EntryKey(self.real.get(path, path), (*ref.above, *ref.shape.keys), name)
            row[name] = key
            self.places.setdefault((key.path, key.keys), set()).add(column.layer.source)
            server = servers.get(name)
            conversion = copied(name, server, ref) if server else None
            if conversion:
                self.warnings[column.target.words, name] = conversion.warnings
            earlier = self.entries.get(key)
            if earlier is None:
                entry = self._entry(workspace, column, key, path, ref)
                self.entries[key] = replace(entry, copied=conversion)
            elif earlier.copied is None and server:
                conversion = copied(name, server, earlier.ref)
                self.entries[key] = replace(earlier, column=column, copied=conversion)

    def _entry(
        self,
        workspace: Workspace,
        column: TargetColumn,
        key: EntryKey,
        path: str,
        ref: ClientScopeRef,
    ) -> PlannedEntry:
        if not column.store.has(workspace, key.name):
            return PlannedEntry(column, key, ref, path)
        try:
            present, _ = column.store.entry(workspace, key.name)
        except DefinitionError:
            return PlannedEntry(column, key, ref, path, None, _UNREADABLE.whole)
        if not reads_off(ref):
            present = replace(present, enabled=None)
        digest = digest_of(present, ref)
        seen = f"{digest.whole}{'' if digest.on else '-off'}"
        return PlannedEntry(column, key, ref, path, present, seen)

    def _digest(self, entry: PlannedEntry) -> EntryDigest:
        """What an entry says; to a check, every command that starts the bridge is the same."""
        present = entry.present
        if present is None:
            return _UNREADABLE
        if self.check and entry.copied and entry.column.target.gateway:
            present = as_here(present, entry.copied.entry)
        return digest_of(present, entry.ref)

    def is_of_others(self, key: EntryKey) -> bool:
        """Whether a sync wrote an entry for a source that has no target there now."""
        owned = self.owned.get(key)
        return owned is not None and not self._is_here(key, owned)

    def _is_here(self, key: EntryKey, owned: OwnedEntry) -> bool:
        return owned.written.source in self.places.get((key.path, key.keys), ())

    def _owned_here(self) -> dict[EntryKey, OwnedEntry]:
        """What is ours in the places that were looked at; no other counts."""
        return {key: it for key, it in self.owned.items() if self._is_here(key, it)}

    def _choices(self) -> dict[EntryKey, Choice]:
        choices: dict[EntryKey, Choice] = {}
        for (words, name), decision in self.decisions.items():
            key = self.rows.get(words, {}).get(name)
            # What changed since somebody looked at it was not decided about.
            if key is not None and self.entries[key].seen == decision.seen:
                choices[key] = decision.choice
        return choices

    def _carry_out(self, workspace: Workspace, key: EntryKey, action: Action) -> None:
        entry = self.entries[key]
        match action:
            case Action.WRITE:
                self._write(workspace, key, entry)
            case Action.REMOVE:
                entry.column.store.remove(workspace, entry.name)
                workspace.claims[key] = None
            case Action.CLAIM:
                workspace.claims[key] = claim_of(entry)
            case Action.RELEASE:
                workspace.claims[key] = None
            case _:
                pass
        if action is Action.WRITE and entry.column.layer.scope is Scope.PROJECT:
            # Whoever runs a sync of a repository's file has not read what it would have run.
            workspace.unapproved.add(entry.path)

    def _write(self, workspace: Workspace, key: EntryKey, entry: PlannedEntry) -> None:
        store, name, conversion = entry.column.store, entry.name, entry.copied
        if conversion is None:
            return
        there = entry.present
        off = not conversion.desired.on or store.is_off(workspace, name)
        off = off or (there is not None and there.enabled is False)
        fresh = replace(
            conversion.entry,
            enabled=False if off else (there.enabled if there else None),
            **(added_there(there, conversion.entry) if there else {"unknown": {}}),
        )
        before = {path: workspace.text(path) for path in store.paths}
        try:
            refuse_unfit(fresh)
            store.write(workspace, name, fresh)
        except (InputError, NameTaken) as error:
            for path, text in before.items():
                workspace.put(path, text)
            self.cells[key], self.reasons[key] = SyncCell(CellState.UNSUPPORTED), str(error)
            return
        written = self._entry(workspace, entry.column, key, entry.path, entry.ref)
        workspace.claims[key] = claim_of(written)


def claim_of(entry: PlannedEntry) -> EntryDigest:
    """An entry as it is, to be owned for the source that has it there."""
    digest = digest_of(entry.present, entry.ref) if entry.present else _UNREADABLE
    return structs.replace(digest, source=entry.column.layer.source)
