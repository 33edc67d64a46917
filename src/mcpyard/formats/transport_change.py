"""What an entry must lose when a local server becomes a remote one, or the reverse."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import EntrySchema, EntryTransport
from mcpyard.formats.fields import LOCAL_FIELDS, REMOTE_FIELDS
from mcpyard.formats.warnings import Warned, WarningKind, shape_of_value


def without_other_side(
    old: Entry, new: Entry, shape: EntrySchema
) -> tuple[Entry, tuple[Warned, ...]]:
    """The new entry without what only the old one could use, and a warning for each of it.

    Some programs refuse their whole file over such a field; the others keep it for nothing.
    """
    before, after = _is_remote(old), _is_remote(new)
    if before is None or after is None or before is after:
        return new, ()
    other = LOCAL_FIELDS if after else REMOTE_FIELDS
    names = {name: value for name, value in new.set_fields().items() if name in other}
    words = {word: new.unknown[word] for word in _words_of_other_side(new, shape, remote=after)}
    kind = "local" if after else "remote"
    lost = {shape.field_names.get(name, name.value): value for name, value in names.items()} | words
    cleared: dict[str, Any] = dict.fromkeys(names)
    if new.type is old.type and (new.type is EntryTransport.STDIO) is after:
        # Nobody chose it for the new side, and what is written there follows from the rest.
        cleared["type"] = None
    unknown = {word: value for word, value in new.unknown.items() if word not in words}
    warnings = tuple(
        Warned(
            WarningKind.UNSUPPORTED,
            word,
            shape_of_value(value),
            f"belongs to the {kind} server that the entry was: removed",
        )
        for word, value in lost.items()
        if value not in ((), {})
    )
    return replace(new, **cleared, unknown=unknown), warnings


def _is_remote(entry: Entry) -> bool | None:
    if (entry.command is None) is (entry.url is None):
        return None
    return entry.url is not None


def _words_of_other_side(entry: Entry, shape: EntrySchema, *, remote: bool) -> Iterator[str]:
    """Words without a field that only the other side has, or that this side refuses."""
    if shape.accepts is None:
        return
    own, other = shape.accepts.local, shape.accepts.remote
    if remote:
        own, other = other, own
    for word in entry.unknown:
        head = word.partition(".")[0]
        refused = head in own and not own[head].accepts
        if refused or (head in other and head not in own):
            yield word
