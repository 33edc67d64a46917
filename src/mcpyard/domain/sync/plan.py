"""What a sync does to each entry: a pure function of what is wanted, what is there, what is ours.

An entry is ours if a sync wrote it and nobody changed it since; that is known by hashes. Only such
an entry is changed or removed without a question. One that somebody else wrote is never touched,
one that was edited outside is a conflict, and one that was deleted outside stays deleted. Nothing
is ever switched on that is off in its program.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from msgspec import Struct


class CellState(StrEnum):
    """What is true of one server in one place."""

    SAME = "same"
    MISSING = "missing"
    DIFFERS = "differs"
    FOREIGN = "foreign"
    OFF = "off"
    CONFLICT = "conflict"
    DELETED = "deleted-outside"
    PRUNE = "prune"
    UNSUPPORTED = "unsupported"
    WAITING = "waiting"


class Choice(StrEnum):
    """What a person decides about an entry: keep it, overwrite it, or take it into the source."""

    THEIRS = "theirs"
    OURS = "ours"
    ADOPT = "adopt"


class Action(StrEnum):
    """What is done to an entry; to claim or to release one changes no file."""

    NOTHING = "nothing"
    WRITE = "write"
    REMOVE = "remove"
    CLAIM = "claim"
    RELEASE = "release"
    ADOPT = "adopt"


@dataclass(frozen=True, slots=True, order=True)
class EntryKey:
    """What an entry is known by, whichever programs read it: the real file, the keys, the name."""

    path: str
    keys: tuple[str, ...]
    name: str


class EntryDigest(Struct, frozen=True):
    """An entry as hashes.

    Attributes:
        meaning: Of what a sync writes, however it is spelled, without the switch.
        whole: Of all that the entry says, without the switch.
        on: Whether it is switched on.
        source: The file of the repository that a sync wrote it for; empty for the user's own.
    """

    meaning: str
    whole: str
    on: bool = True
    source: str = ""


class OwnedEntry(Struct, frozen=True):
    """An entry that a sync wrote.

    Attributes:
        written: What it wrote.
        before: What it had written before that, if anything.
        settled: Whether the write is known to have happened; otherwise the file may say either, and
            that it is on or off may still be missing: some programs have that in another file.
    """

    written: EntryDigest
    before: EntryDigest | None = None
    settled: bool = True

    def match(self, present: EntryDigest) -> EntryDigest | None:
        """What was written, if the entry still means it; rather what has it on or off as it is."""
        alike = [it for it in self._possible() if it.meaning == present.meaning]
        return next((it for it in alike if it.on == present.on), alike[0] if alike else None)

    def is_untouched(self, present: EntryDigest) -> bool:
        """Whether nothing at all was changed in the entry since."""
        return any(
            (it.whole, it.meaning) == (present.whole, present.meaning)
            and (it.on == present.on or not self.settled)
            for it in self._possible()
        )

    def _possible(self) -> Iterator[EntryDigest]:
        yield self.written
        if self.before and not self.settled:
            yield self.before


class DesiredEntry(Struct, frozen=True):
    """What the source wants of a server in one place.

    Attributes:
        meaning: The hash of what would be written.
        on: Whether it is on in the source.
        can_be_off: Whether the program has a way to say that it is off.
        unsupported: Why it cannot be written there; empty where it can.
        approved: Whether it may be written; what a repository says may need approval first.
    """

    meaning: str
    on: bool = True
    can_be_off: bool = True
    unsupported: str = ""
    approved: bool = True

    @property
    def left_out(self) -> bool:
        """Whether it is off, and the program cannot say so."""
        return not self.on and not self.can_be_off


class SyncCell(Struct, frozen=True):
    """What is true of a server in a place, what is done about it, and what a person may choose."""

    state: CellState
    action: Action = Action.NOTHING
    choices: tuple[Choice, ...] = ()


_EVERY_CHOICE: Final = (Choice.THEIRS, Choice.OURS, Choice.ADOPT)
_WITHOUT_ADOPTING: Final = (Choice.THEIRS, Choice.OURS)
_CONFLICT: Final = SyncCell(CellState.CONFLICT, choices=_EVERY_CHOICE)
_FOREIGN: Final = SyncCell(CellState.FOREIGN)
_TAKEN: Final = SyncCell(CellState.FOREIGN, choices=_EVERY_CHOICE)


class SyncState(Struct, frozen=True):
    """All that a plan follows from, by entry; `choices` are those of a person."""

    desired: Mapping[EntryKey, DesiredEntry]
    present: Mapping[EntryKey, EntryDigest]
    owned: Mapping[EntryKey, OwnedEntry]
    choices: Mapping[EntryKey, Choice] = {}


class SyncPlan(Struct, frozen=True):
    """The cell of each entry, and what was ours and is wanted no more, nor there."""

    cells: Mapping[EntryKey, SyncCell]
    forgotten: tuple[EntryKey, ...] = ()


def plan(state: SyncState) -> SyncPlan:
    """Decide about every entry that is wanted, there, or ours."""
    cells: dict[EntryKey, SyncCell] = {}
    forgotten: list[EntryKey] = []
    for key in sorted({*state.desired, *state.present, *state.owned}):
        desired, present = state.desired.get(key), state.present.get(key)
        cell = cell_of(desired, present, state.owned.get(key), state.choices.get(key))
        if cell is None:
            forgotten.append(key)
        else:
            cells[key] = cell
    return SyncPlan(cells, tuple(forgotten))


def cell_of(
    desired: DesiredEntry | None,
    present: EntryDigest | None,
    owned: OwnedEntry | None,
    choice: Choice | None = None,
) -> SyncCell | None:
    """Decide about one entry; None if it is neither wanted nor there."""
    if desired is None or desired.left_out:
        cell = _unwanted(desired, present, owned)
    elif present is None:
        cell = _absent(desired, owned)
    elif present.meaning == desired.meaning:
        cell = _alike(desired, present, owned)
    else:
        cell = _different(desired, present, owned)
    if cell is None or choice not in cell.choices:
        return cell
    return SyncCell(cell.state, _chosen(desired, cell, choice), cell.choices)


def _unwanted(
    desired: DesiredEntry | None, present: EntryDigest | None, owned: OwnedEntry | None
) -> SyncCell | None:
    if present is None:
        return SyncCell(CellState.OFF) if desired else None
    if owned is None:
        return _FOREIGN
    if owned.is_untouched(present):
        return SyncCell(CellState.OFF if desired else CellState.PRUNE, Action.REMOVE)
    return _CONFLICT


def _absent(desired: DesiredEntry, owned: OwnedEntry | None) -> SyncCell:
    if owned and owned.settled:
        return SyncCell(CellState.DELETED, choices=_WITHOUT_ADOPTING)
    return _writable(desired, CellState.MISSING)


def _alike(desired: DesiredEntry, present: EntryDigest, owned: OwnedEntry | None) -> SyncCell:
    if present.on == desired.on or desired.on:
        unsure = owned and (not owned.settled or owned.written.meaning != present.meaning)
        state = CellState.SAME if present.on == desired.on else CellState.OFF
        return SyncCell(state, Action.CLAIM if unsure else Action.NOTHING)
    if owned is None:
        return _TAKEN
    match = owned.match(present)
    # Whoever switched it on in its program did so against what was written.
    ours = match and (match.on or (owned and not owned.settled))
    return _writable(desired, CellState.DIFFERS) if ours else _CONFLICT


def _different(desired: DesiredEntry, present: EntryDigest, owned: OwnedEntry | None) -> SyncCell:
    if desired.unsupported:
        return SyncCell(CellState.UNSUPPORTED)
    if owned is None:
        return _TAKEN
    return _writable(desired, CellState.DIFFERS) if owned.match(present) else _CONFLICT


def _writable(desired: DesiredEntry, state: CellState) -> SyncCell:
    if desired.unsupported:
        return SyncCell(CellState.UNSUPPORTED)
    return SyncCell(state, Action.WRITE) if desired.approved else SyncCell(CellState.WAITING)


def _chosen(desired: DesiredEntry | None, cell: SyncCell, choice: Choice | None) -> Action:
    if choice is Choice.ADOPT:
        return Action.ADOPT
    if choice is Choice.OURS:
        if desired is None or desired.left_out:
            return Action.REMOVE
        return _writable(desired, cell.state).action
    return Action.RELEASE if cell.state is CellState.CONFLICT else Action.NOTHING
