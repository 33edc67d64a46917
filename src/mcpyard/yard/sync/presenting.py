"""The views of a sync, out of the operation that was worked out."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from mcpyard.domain.sync.plan import Action, CellState, EntryKey, SyncCell
from mcpyard.formats.fields import Field
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.sync.fingerprints import compared, read_back
from mcpyard.yard.sync.layers import OURS, SourceLayer
from mcpyard.yard.sync.syncing import PlannedEntry, Syncing, TargetColumn
from mcpyard.yard.views.base import FileDiff, PlacedProblem, view_of
from mcpyard.yard.views.clients import WarningView
from mcpyard.yard.views.sync import (
    SyncCellView,
    SyncDifference,
    SyncSourceView,
    SyncTargetView,
    SyncView,
)

_CHANGING: Final = frozenset({Action.WRITE, Action.REMOVE, Action.ADOPT})
_AS_WANTED: Final = frozenset({CellState.SAME, CellState.OFF, CellState.UNSUPPORTED})
_DIFFERING: Final = frozenset({CellState.CONFLICT, CellState.FOREIGN, CellState.DIFFERS})

_REASONS: Final = {
    CellState.OFF: "switched off in {}; a sync does not switch it on",
    CellState.FOREIGN: "not written by a sync: left alone",
    CellState.CONFLICT: "changed in {} since the last sync",
    CellState.DELETED: "deleted in {} since the last sync: stays deleted",
    CellState.PRUNE: "no longer assigned here",
    CellState.WAITING: "needs approval: mcpyard sync approve",
}
_OF_OTHERS: Final = "written by the sync of another source: left alone"


def sync_view(
    operation: Syncing, layers: tuple[SourceLayer, ...], done: Done, *, check: bool, applied: bool
) -> SyncView:
    """The view of a plan, or of what it did."""
    cells = [*_cells(operation, check=check)]
    once = {
        (each.server, operation.rows[each.target][each.server]): each for each in cells
    }.values()
    open_cells = [it for it in once if it.state not in _AS_WANTED and (it.wanted or it.choices)]
    faults = len(operation.faults)
    return SyncView(
        sources=[SyncSourceView(scope=each.scope, path=each.path) for each in layers],
        targets=[_target(operation, each) for each in _columns(operation)],
        cells=cells,
        files=[FileDiff(path=path, diff=diff) for path, diff in done.files],
        edit=done.edit,
        writes=sum(each.changes for each in once),
        conflicts=sum(it.state is CellState.CONFLICT and not it.changes for it in once),
        waiting=sum(it.state is CellState.WAITING for it in once),
        different=faults + sum(not (applied and it.changes) for it in open_cells),
        warnings=view_of(list[WarningView], done.warnings),
    )


def _columns(operation: Syncing) -> list[TargetColumn]:
    """The targets that are shown; one that two sources name is one."""
    columns = {each.target.words: each for each in reversed(operation.columns)}
    order = dict.fromkeys(each.target.words for each in operation.columns)
    return [columns[it] for it in order if operation.only is None or it in operation.only]


def _target(operation: Syncing, column: TargetColumn) -> SyncTargetView:
    ref, words = column.target.ref, column.target.words
    paths = {operation.entries[key].path for key in operation.rows.get(words, {}).values()}
    fault = operation.faults.get(words)
    return SyncTargetView(
        target=words,
        client=ref.client.id,
        title=ref.client.title,
        scope=ref.scope.name,
        path=min(paths, default=column.store.candidates[0]),
        source=column.layer.scope,
        gateway=column.target.gateway,
        problems=view_of(list[PlacedProblem], fault.problems) if fault else [],
    )


def _cells(operation: Syncing, *, check: bool) -> Iterator[SyncCellView]:
    for column in _columns(operation):
        words = column.target.words
        for name, key in sorted(operation.rows.get(words, {}).items()):
            if key in operation.cells:
                yield _cell(operation, words, name, key, check=check)


def _cell(operation: Syncing, words: str, name: str, key: EntryKey, *, check: bool) -> SyncCellView:
    cell, entry = operation.cells[key], operation.entries[key]
    in_source = entry.copied is not None
    state = cell.state
    if check and in_source and state is CellState.FOREIGN:
        state = CellState.DIFFERS
    changes = cell.action in _CHANGING
    written = in_source and cell.action is Action.WRITE
    warnings = operation.warnings.get((words, name), ()) if written else ()
    return SyncCellView(
        server=name,
        target=words,
        state=state,
        wanted=in_source,
        changes=changes,
        reason=operation.reasons.get(key) or _where(operation, words, name, state),
        choices=[] if check else [*cell.choices],
        seen=entry.seen,
        differences=[*_differences(entry)] if state in _DIFFERING else [],
        warnings=view_of(list[WarningView], warnings),
    )


def _where(operation: Syncing, words: str, name: str, state: CellState) -> str:
    """Why an entry is left as it is, as far as that follows from where it is."""
    key = operation.rows[words][name]
    entry = operation.entries[key]
    if state is CellState.FOREIGN and operation.is_of_others(key):
        return _OF_OTHERS
    outside = entry.column.layer.outside.get(entry.column.target.words)
    if state is CellState.WAITING and outside:
        return f"leads out of the repository, to {outside}: {_REASONS[state]}"
    return _reason(replace(operation.cells[key], state=state), entry)


def _reason(cell: SyncCell, entry: PlannedEntry) -> str:
    desired = entry.copied.desired if entry.copied else None
    if cell.state is CellState.UNSUPPORTED and desired:
        return desired.unsupported
    if cell.state is CellState.OFF and desired and desired.left_out:
        return f"off in the source, which {entry.ref.client.title} cannot say: left out"
    if cell.state is CellState.FOREIGN and desired is None:
        return "not assigned here: left alone"
    return _REASONS.get(cell.state, "").format(entry.ref.client.title)


def _differences(entry: PlannedEntry) -> Iterator[SyncDifference]:
    if entry.copied is None or entry.present is None or entry.copied.desired.unsupported:
        return
    ours = compared(read_back(entry.copied.entry, entry.ref), entry.ref)
    theirs = compared(entry.present, entry.ref)
    for leaf in dict.fromkeys([*ours, *theirs]):
        left, right = ours.get(leaf), theirs.get(leaf)
        if (left and left[0]) != (right and right[0]):
            yield SyncDifference(
                field=_words_of(leaf),
                source=left[1] if left else None,
                entry=right[1] if right else None,
            )
    if (entry.present.enabled is not False) is not entry.copied.desired.on:
        source, there = ("on", "off") if entry.copied.desired.on else ("off", "on")
        yield SyncDifference(field="enabled", source=source, entry=there)


def _words_of(leaf: str) -> str:
    """A part of an entry in the words of the source."""
    name, dot, rest = leaf.partition(".")
    return f"{OURS.shape.field_names.get(Field(name), name)}{dot}{rest}"
