"""Undoing edits of files that others wrote since: what they changed elsewhere stays."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from mcpyard.domain.errors import ChangedSince, DocumentBroken
from mcpyard.domain.files import FileText, FileWrite
from mcpyard.formats.documents import editor_for
from mcpyard.formats.reverting import EditedText, gone_since, reverted
from mcpyard.yard.clients.diffs import diff_of
from mcpyard.yard.clients.yard_scope import MADE_UP
from mcpyard.yard.clients.yard_scope_documents import missing_names, moved, only, rebased

EntryMaps = Callable[[str], frozenset[tuple[str, ...]]]
"""Where the entries are in a file (see `ClientRegistry.entry_maps`)."""


def ways_back(
    backs: Sequence[FileWrite],
    texts: Mapping[str, FileText],
    entry_maps: EntryMaps,
    *,
    intact: bool = False,
) -> list[FileWrite]:
    """What must be written to undo edits, from what files say by now.

    Args:
        backs: The edits the other way round.
        texts: What the files say.
        entry_maps: Where the entries are in a file.
        intact: Whether all that the edits left must still be there, even where undoing them would
            discard nothing.

    Raises:
        ChangedSince: What the edits left was changed since; names it.
    """
    writes: list[FileWrite] = []
    changed: list[tuple[str, FileWrite]] = []
    missing: list[tuple[str, FileWrite]] = []
    for each in backs:
        now = texts[each.path].text
        if each.path in MADE_UP:
            write, names, since = _document_back(each, now)
            gone = _quoted(missing_names(each, now), each.path) if intact else []
        else:
            write, names, since = _file_back(each, now, entry_maps)
            gone = _missing(each, now, entry_maps) if intact and not names else []
        changed += [(name, since) for name in names]
        missing += [(name, since) for name in gone]
        writes += [write] if write.before != write.after else []
    if changed:
        raise _since(changed, "changed since the edit; undoing would discard that")
    if missing:
        raise _since(missing, "changed since the edit")
    return writes


def _since(changes: Sequence[tuple[str, FileWrite]], what: str) -> ChangedSince:
    named = ", ".join(name for name, _ in changes)
    files = {since.path: since for _, since in changes}
    diffs = tuple((path, diff_of(since)) for path, since in files.items())
    return ChangedSince(f"{named} {what}", diffs)


def _missing(back: FileWrite, now: str | None, entry_maps: EntryMaps) -> list[str]:
    """What an edit left in a file that is there no more."""
    if now == back.before:
        return []
    if now is None or back.before is None:
        return [back.path]
    edit = EditedText(editor_for(back.path), entry_maps(back.path), back.after or "", back.before)
    return _quoted(gone_since(edit, now), back.path)


def _quoted(names: Iterable[str], path: str) -> list[str]:
    return [f'"{name}" in {path}' for name in names]


_Way = tuple[FileWrite, list[str], FileWrite]
"""What to write; what cannot be undone, by name; and how it changed since."""


def _document_back(back: FileWrite, now: str | None) -> _Way:
    names = moved(back, now)
    since = FileWrite(back.path, only(back.before, names), only(now, names))
    return rebased(back, now), _quoted(sorted(names), back.path), since


def _file_back(back: FileWrite, now: str | None, entry_maps: EntryMaps) -> _Way:
    since = FileWrite(back.path, back.before, now)
    if now == back.before:
        return back, [], since
    if now is None or back.before is None:
        # A file that the edit made and that is gone needs no undoing.
        names = [back.path] if now is not None or back.after is not None else []
        return FileWrite(back.path, now, now), names, since
    edit = EditedText(editor_for(back.path), entry_maps(back.path), back.after or "", back.before)
    try:
        result = reverted(edit, now)
    except DocumentBroken:
        return since, [back.path], since
    names = _quoted(result.changed, back.path)
    return FileWrite(back.path, now, now if names else result.text), names, since


def repeated(
    writes: Sequence[FileWrite], texts: Mapping[str, FileText], entry_maps: EntryMaps
) -> dict[str, FileWrite]:
    """The writes that nothing is left of, each as it is to be repeated on what is there now."""
    again: dict[str, FileWrite] = {}
    for each in writes:
        now = texts[each.path].text if each.path in texts else None
        if now is None or each.after is None or now == each.after:
            continue
        # To repeat an edit is to take its way back back.
        edit = EditedText(
            editor_for(each.path), entry_maps(each.path), each.after, each.before or ""
        )
        with contextlib.suppress(DocumentBroken):
            result = reverted(edit, now)
            # What others changed of it since stays as they have it.
            if not result.changed and result.text != now:
                again[each.path] = FileWrite(each.path, now, result.text)
    return again
