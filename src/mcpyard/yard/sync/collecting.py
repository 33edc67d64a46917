"""The source of a sync, built from what programs have: an operation on texts.

What a sync wrote itself comes from the source and is not taken in again, nor is the gateway. An
entry that then says what the source says is ours from then on: whoever adopts it wants it kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import InputError, NameTaken
from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import CellState, EntryKey
from mcpyard.formats.copying.mapping import convert
from mcpyard.yard.clients.connecting import is_gateway
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.clients.operations import HasPaths
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope_store import ScopeStore
from mcpyard.yard.sync.adopting import Adopting
from mcpyard.yard.sync.assignments import Assigning, Assignment
from mcpyard.yard.sync.fingerprints import meaning_of
from mcpyard.yard.sync.layers import OURS, selects
from mcpyard.yard.sync.syncing import PlannedEntry, Syncing, claim_of
from mcpyard.yard.views.base import FileDiff, view_of
from mcpyard.yard.views.clients import WarningView
from mcpyard.yard.views.sync import AdoptedView, AdoptionView

_ALIKE = frozenset({CellState.SAME, CellState.OFF})


@dataclass(slots=True)
class Collecting:
    """A request to take the entries of programs into the source.

    Attributes:
        syncing: The targets to look at.
        chosen: The target whose entry counts, by the names that are defined differently.
        identity: What an entry that is the gateway is known by.
        assigning: Lets the lists of targets name what is taken in; None where they decide.
        outcomes: What became of each name, once it was done.
    """

    syncing: Syncing
    chosen: Mapping[str, str]
    identity: Callable[[], SelfIdentity]
    assigning: Assigning | None = None
    outcomes: dict[str, AdoptedView] = field(default_factory=dict[str, AdoptedView], init=False)

    @property
    def stores(self) -> Sequence[HasPaths]:
        """Where something is read or changes."""
        return (*self.syncing.stores, *(self.assigning.stores if self.assigning else ()))

    @property
    def written(self) -> Sequence[ScopeStore]:
        """Nothing of programs is written."""
        return ()

    def do(self, workspace: Workspace) -> None:
        """Take in what is defined alike, or was chosen; then claim all that is as the source."""
        self.outcomes.clear()
        adopted = Adopting(self.syncing.source)
        self.syncing.look(workspace, adopted)
        for name, entries in self._by_name().items():
            self._take(workspace, adopted, name, entries)
        self.syncing.look(workspace, adopted)
        workspace.claims.clear()
        for key, cell in self.syncing.cells.items():
            entry = self.syncing.entries[key]
            if entry.present is not None and entry.copied and cell.state in _ALIKE:
                workspace.claims[key] = claim_of(entry)
        if self.assigning:
            self.assigning.add(workspace, self._claimed(workspace))

    def _claimed(self, workspace: Workspace) -> list[Assignment]:
        entries = [self.syncing.entries[key] for key in workspace.claims]
        return [
            Assignment(each.name, each.column.target.words, wanted=True)
            for each in entries
            if each.column.layer.scope is Scope.USER and not each.column.target.gateway
        ]

    def view(self, done: Done) -> AdoptionView:
        """The view of what was taken in."""
        servers = [each for _, each in sorted(self.outcomes.items())]
        return AdoptionView(
            servers=servers,
            files=[FileDiff(path=path, diff=diff) for path, diff in done.files],
            edit=done.edit,
            conflicts=sum(each.outcome == "conflict" for each in servers),
            warnings=view_of(list[WarningView], done.warnings),
        )

    def _by_name(self) -> dict[str, dict[str, PlannedEntry]]:
        """The entries of each name that are no sync's own, by the words of a target."""
        entries: dict[str, dict[str, PlannedEntry]] = {}
        keys: set[EntryKey] = set()
        for words, row in self.syncing.rows.items():
            for name, key in row.items():
                entry = self.syncing.entries[key]
                # A file that several programs share is one place.
                if key in keys or not entry.seen or key in self.syncing.owned:
                    continue
                keys.add(key)
                if not entry.column.target.gateway and selects(entry.column.target, name):
                    entries.setdefault(name, {})[words] = entry
        return entries

    def _take(
        self,
        workspace: Workspace,
        adopted: Adopting,
        name: str,
        entries: Mapping[str, PlannedEntry],
    ) -> None:
        usable = {words: it for words, it in entries.items() if it.present is not None}
        if not usable:
            self._note(name, entries, "skipped", "its entry cannot be used")
            return
        if any(is_gateway(it.present, self.identity()) for it in usable.values() if it.present):
            self._note(name, entries, "skipped", "is the gateway of mcpyard")
            return
        if all(self.syncing.cells[it.key].state in _ALIKE for it in usable.values()):
            self._note(name, entries, "present", "")
            return
        choice = self.chosen.get(name)
        meanings = {_meaning(it) for it in usable.values()}
        in_source = any(it.copied for it in usable.values())
        if choice not in usable and (in_source or len(meanings) > 1):
            other = " and in the source" if in_source else ""
            self._note(name, entries, "conflict", f"defined differently{other}")
            return
        entry = usable[choice] if choice in usable else next(iter(usable.values()))
        self._adopt(workspace, adopted, name, entries, entry)

    def _adopt(
        self,
        workspace: Workspace,
        adopted: Adopting,
        name: str,
        entries: Mapping[str, PlannedEntry],
        entry: PlannedEntry,
    ) -> None:
        if entry.present is None:
            return
        try:
            adopted.adopt(workspace, entry.column.layer, name, entry.present, entry.ref)
        except (InputError, NameTaken) as error:
            self._note(name, entries, "skipped", str(error))
        else:
            self._note(name, entries, "adopted", "")

    def _note(
        self, name: str, entries: Mapping[str, PlannedEntry], outcome: str, reason: str
    ) -> None:
        view = AdoptedView(name=name, outcome=outcome, targets=[*entries], reason=reason)
        self.outcomes[name] = view


def _meaning(entry: PlannedEntry) -> str:
    """What an entry means in the words of mcpyard, and whether it is on."""
    if entry.present is None:
        return ""
    taken = convert(entry.present, entry.ref, OURS).entry
    return f"{meaning_of(taken, OURS)}{taken.enabled is not False}"
