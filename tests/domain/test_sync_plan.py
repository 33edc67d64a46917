"""The plan of a sync: what is ours changes, what is somebody else's does not."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mcpyard.domain.sync.plan import (
    Action,
    CellState,
    Choice,
    DesiredEntry,
    EntryDigest,
    EntryKey,
    OwnedEntry,
    SyncCell,
    SyncPlan,
    SyncState,
    cell_of,
    plan,
)

A = EntryDigest("a", "a")
B = EntryDigest("b", "b")
OFF_A = EntryDigest("a", "a", on=False)
OURS = OwnedEntry(A)


def judged(
    desired: DesiredEntry | None, present: EntryDigest | None, owned: OwnedEntry | None
) -> str:
    cell = cell_of(desired, present, owned)
    return f"{cell.state} {cell.action}" if cell else "none"


@pytest.mark.parametrize(
    ("desired", "present", "owned", "expected"),
    [
        (DesiredEntry("a"), None, None, "missing write"),
        (DesiredEntry("a", on=False), None, None, "missing write"),
        (DesiredEntry("a", on=False, can_be_off=False), None, None, "off nothing"),
        (DesiredEntry("a", on=False, can_be_off=False), A, OURS, "off remove"),
        (DesiredEntry("a", on=False, can_be_off=False), A, None, "foreign nothing"),
        (DesiredEntry("a", on=False, can_be_off=False), B, OURS, "conflict nothing"),
        (DesiredEntry("a", unsupported="why"), None, None, "unsupported nothing"),
        (DesiredEntry("b", unsupported="why"), A, OURS, "unsupported nothing"),
        (DesiredEntry("a", approved=False), None, None, "waiting nothing"),
        (DesiredEntry("b", approved=False), A, OURS, "waiting nothing"),
        (DesiredEntry("a", approved=False), A, None, "same nothing"),
        (DesiredEntry("a"), None, OURS, "deleted-outside nothing"),
        (DesiredEntry("a"), None, OwnedEntry(A, settled=False), "missing write"),
        (DesiredEntry("a"), A, None, "same nothing"),
        (DesiredEntry("a"), A, OURS, "same nothing"),
        (DesiredEntry("a"), A, OwnedEntry(B), "same claim"),
        (DesiredEntry("a"), A, OwnedEntry(A, settled=False), "same claim"),
        (DesiredEntry("a"), OFF_A, OURS, "off nothing"),
        (DesiredEntry("a"), OFF_A, None, "off nothing"),
        (DesiredEntry("a", on=False), A, OURS, "differs write"),
        (DesiredEntry("a", on=False), A, None, "foreign nothing"),
        (DesiredEntry("a", on=False), A, OwnedEntry(OFF_A), "conflict nothing"),
        (DesiredEntry("a", on=False), A, OwnedEntry(B), "conflict nothing"),
        (DesiredEntry("a", on=False), A, OwnedEntry(OFF_A, A, settled=False), "differs write"),
        (DesiredEntry("a", on=False), A, OwnedEntry(OFF_A, settled=False), "differs write"),
        (DesiredEntry("a", on=False), A, OwnedEntry(A, OFF_A, settled=False), "differs write"),
        (DesiredEntry("b"), A, None, "foreign nothing"),
        (DesiredEntry("b"), A, OURS, "differs write"),
        (DesiredEntry("b"), A, OwnedEntry(B), "conflict nothing"),
        (DesiredEntry("b"), A, OwnedEntry(B, A, settled=False), "differs write"),
        (DesiredEntry("c"), A, OwnedEntry(B, A), "conflict nothing"),
        (None, A, None, "foreign nothing"),
        (None, A, OURS, "prune remove"),
        (None, OFF_A, OURS, "conflict nothing"),
        (None, A, OwnedEntry(OFF_A, OFF_A, settled=False), "prune remove"),
        (None, B, OwnedEntry(OFF_A, OFF_A, settled=False), "conflict nothing"),
        (None, EntryDigest("a", "more"), OURS, "conflict nothing"),
        (None, B, OURS, "conflict nothing"),
        (None, None, OURS, "none"),
        (None, None, None, "none"),
    ],
)
def test_each_case_has_its_cell(
    desired: DesiredEntry | None,
    present: EntryDigest | None,
    owned: OwnedEntry | None,
    expected: str,
) -> None:
    assert judged(desired, present, owned) == expected


@pytest.mark.parametrize(
    ("desired", "present", "owned", "choice", "action"),
    [
        (DesiredEntry("c"), B, OURS, Choice.THEIRS, Action.RELEASE),
        (DesiredEntry("c"), B, OURS, Choice.OURS, Action.WRITE),
        (DesiredEntry("c"), B, OURS, Choice.ADOPT, Action.ADOPT),
        (DesiredEntry("c"), B, None, Choice.THEIRS, Action.NOTHING),
        (DesiredEntry("c"), B, None, Choice.OURS, Action.WRITE),
        (DesiredEntry("c", approved=False), B, None, Choice.OURS, Action.NOTHING),
        (DesiredEntry("a"), None, OURS, Choice.THEIRS, Action.NOTHING),
        (DesiredEntry("a"), None, OURS, Choice.OURS, Action.WRITE),
        (DesiredEntry("a", unsupported="why"), None, OURS, Choice.OURS, Action.NOTHING),
        (DesiredEntry("a"), None, OURS, Choice.ADOPT, Action.NOTHING),
        (None, B, OURS, Choice.OURS, Action.REMOVE),
        (None, B, OURS, Choice.THEIRS, Action.RELEASE),
        (DesiredEntry("a", on=False, can_be_off=False), B, OURS, Choice.OURS, Action.REMOVE),
        (None, A, None, Choice.OURS, Action.NOTHING),
        (DesiredEntry("a"), A, OURS, Choice.OURS, Action.NOTHING),
    ],
)
def test_a_choice_decides_only_what_is_open(
    desired: DesiredEntry | None,
    present: EntryDigest | None,
    owned: OwnedEntry | None,
    choice: Choice,
    action: Action,
) -> None:
    cell = cell_of(desired, present, owned, choice)
    assert cell
    assert cell.action is action


def test_a_plan_forgets_what_was_ours_and_is_wanted_no_more() -> None:
    key, other = EntryKey("f", ("k",), "a"), EntryKey("f", ("k",), "b")
    state = SyncState({key: DesiredEntry("a")}, {}, {other: OURS})
    assert plan(state) == SyncPlan({key: SyncCell(CellState.MISSING, Action.WRITE)}, (other,))


NAMES = ("s1", "s2", "s3")
KEYS = [EntryKey(path, ("k",), name) for path in ("f", "g") for name in NAMES]
meanings = st.sampled_from(["a", "b", "c"])
digests = st.builds(EntryDigest, meanings, st.sampled_from(["w", "x"]), st.booleans())
desired = st.builds(
    DesiredEntry,
    meanings,
    on=st.booleans(),
    can_be_off=st.booleans(),
    unsupported=st.sampled_from(["", "", "", "why"]),
    approved=st.sampled_from([True, True, True, False]),
)


@dataclass
class World:
    """Files and ownership, to which plans are applied."""

    present: dict[EntryKey, EntryDigest]
    owned: dict[EntryKey, OwnedEntry] = field(default_factory=dict[EntryKey, OwnedEntry])

    def plan(self, source: dict[EntryKey, DesiredEntry]) -> SyncPlan:
        return plan(SyncState(source, self.present, self.owned))

    def apply(self, source: dict[EntryKey, DesiredEntry]) -> SyncPlan:
        """Do what the plan says, in the way that the operation on files does."""
        planned = self.plan(source)
        for key, cell in planned.cells.items():
            if cell.action is Action.WRITE:
                old, desired = self.present.get(key), source[key]
                on = desired.on and (old is None or old.on)
                self.present[key] = EntryDigest(desired.meaning, old.whole if old else "w", on)
                self.owned[key] = OwnedEntry(self.present[key])
            elif cell.action is Action.REMOVE:
                del self.present[key], self.owned[key]
            elif cell.action is Action.CLAIM:
                self.owned[key] = OwnedEntry(self.present[key])
        for key in planned.forgotten:
            del self.owned[key]
        return planned


worlds = st.builds(World, st.dictionaries(st.sampled_from(KEYS), digests))
sources = st.dictionaries(st.sampled_from(KEYS), desired)
changes = st.lists(st.tuples(st.sampled_from(KEYS), st.none() | digests), max_size=4)


@given(worlds, sources, sources, changes)
def test_a_plan_after_its_apply_has_nothing_to_do(
    world: World,
    first: dict[EntryKey, DesiredEntry],
    second: dict[EntryKey, DesiredEntry],
    outside: list[tuple[EntryKey, EntryDigest | None]],
) -> None:
    world.apply(first)
    edit(world, outside)
    written = [
        key for key, cell in world.apply(second).cells.items() if cell.action is Action.WRITE
    ]
    after = world.plan(second)
    assert all(cell.action is Action.NOTHING for cell in after.cells.values())
    assert not after.forgotten
    assert all(after.cells[key].state in {CellState.SAME, CellState.OFF} for key in written)


@pytest.mark.spec("F7.2")
@given(worlds, st.lists(sources, max_size=3))
def test_an_entry_of_somebody_else_is_never_touched(
    world: World, rounds: list[dict[EntryKey, DesiredEntry]]
) -> None:
    foreign = dict(world.present)
    for source in rounds:
        world.apply(source)
    assert {key: world.present[key] for key in foreign} == foreign


@given(worlds, sources, sources, changes)
def test_nothing_that_is_off_in_its_program_is_switched_on(
    world: World,
    first: dict[EntryKey, DesiredEntry],
    second: dict[EntryKey, DesiredEntry],
    outside: list[tuple[EntryKey, EntryDigest | None]],
) -> None:
    world.apply(first)
    edit(world, outside)
    off = {key for key, entry in world.present.items() if not entry.on}
    world.apply(second)
    assert not any(world.present[key].on for key in off & world.present.keys())


@given(worlds, sources, st.sets(st.sampled_from(KEYS)), st.integers(1, 3))
def test_what_was_deleted_outside_is_not_resurrected(
    world: World, source: dict[EntryKey, DesiredEntry], deleted: set[EntryKey], times: int
) -> None:
    world.apply(source)
    gone = deleted & world.owned.keys()
    for key in gone:
        world.present.pop(key, None)
    for _ in range(times):
        world.apply(source)
    assert not gone & world.present.keys()


@given(worlds, sources, changes)
def test_what_was_edited_outside_is_neither_changed_nor_removed(
    world: World,
    source: dict[EntryKey, DesiredEntry],
    outside: list[tuple[EntryKey, EntryDigest | None]],
) -> None:
    world.apply(source)
    before = dict(world.present)
    edit(world, outside)
    edited = {
        key: entry
        for key, entry in world.present.items()
        if key in before and replace(entry, on=True) != replace(before[key], on=True)
    }
    world.apply({})
    assert {key: world.present[key] for key in edited} == edited


def edit(world: World, outside: list[tuple[EntryKey, EntryDigest | None]]) -> None:
    """Change entries as their programs or their users do."""
    for key, entry in outside:
        if entry is None:
            world.present.pop(key, None)
        else:
            world.present[key] = entry
