"""Taking an edit of a client's file back, after others wrote elsewhere in it.

What the edit changed is found by comparing values, entry by entry: an entry is taken back whole or
not at all, and of a list of names only the names that came or went. As long as nobody else changed
the lines of the edit, these are put back to the byte; otherwise its entries are edited once more.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.documents import Keys, Parsed, TextEditor
from mcpyard.formats.editors.jsonc_document import JsoncDocument
from mcpyard.formats.editors.jsonc_scan import Json
from mcpyard.formats.editors.jsonc_values import has_value, path_text, value_at, with_value, without
from mcpyard.formats.editors.toml_values import same
from mcpyard.formats.facts import PROJECT
from mcpyard.formats.line_merge import merged_back


class _Marker(Enum):
    MISSING = "missing"
    CHANGED = "changed"


_MISSING: Final = _Marker.MISSING
_CHANGED: Final = _Marker.CHANGED
_Value: TypeAlias = "Json | Literal[_Marker.MISSING]"


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text before and after an edit.

    Attributes:
        editor: The editor of its language.
        maps: The paths of the objects that hold entries; `{project}` stands for any one step.
        before: The text before.
        after: The text after.
    """

    editor: TextEditor
    maps: Collection[Keys]
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Reverted:
    """A text without an edit; or no text, and what of the edit others changed since."""

    text: str = ""
    changed: tuple[str, ...] = ()


class _Part(NamedTuple):
    """A value that an edit changed, added or removed."""

    path: Keys
    before: _Value
    after: _Value


class _Step(NamedTuple):
    """A value to be put at a path, or to be removed from it."""

    path: Keys
    value: _Value


def reverted(edit: EditedText, now: str) -> Reverted:
    """Take an edit back out of what its text says now.

    Raises:
        DocumentBroken: One of the texts cannot be read.
        EditRefused: It cannot be taken out.
    """
    parse = edit.editor.parse
    old, left, present = (parse(text).value for text in (edit.before, edit.after, now))
    parts = [*_parts(edit.maps, (), old, left)]
    targets = [_target(each, _at(present, each.path)) for each in parts]
    pairs = [*zip(parts, targets, strict=True)]
    if changed := tuple(path_text(part.path) for part, target in pairs if target is _CHANGED):
        return Reverted(changed=changed)
    steps = [
        _Step(part.path, target)
        for part, target in pairs
        if target is not _CHANGED and not _alike(target, _at(present, part.path))
    ]
    whole, intended = _with_emptied(steps, present, old)
    merged = merged_back(edit.before, edit.after, now)
    if merged is not None and _gives(parse, merged, intended, now):
        return Reverted(merged)
    return Reverted(_renamed(edit.editor, now, steps, present) or _edited(edit.editor, now, whole))


def gone_since(edit: EditedText, now: str) -> tuple[str, ...]:
    """What an edit left that a text does not have any more; elsewhere it may say anything.

    Raises:
        DocumentBroken: One of the texts cannot be read.
    """
    old, left, present = (edit.editor.parse(text).value for text in (edit.before, edit.after, now))
    parts = _parts(edit.maps, (), old, left)
    return tuple(path_text(each.path) for each in parts if not _stands(each, present))


def _stands(part: _Part, present: Json) -> bool:
    """Whether a text still has what an edit left; to a list others may have added names."""
    now = _at(present, part.path)
    if _alike(now, part.after):
        return True
    before, after, names = _elements(part.before), _elements(part.after), _elements(now)
    if before is None or after is None or names is None:
        return False
    came, went = (
        [each for each in after if each not in before],
        [each for each in before if each not in after],
    )
    return all(each in names for each in came) and not any(each in names for each in went)


def _parts(maps: Collection[Keys], path: Keys, old: _Value, new: _Value) -> Iterator[_Part]:
    """What differs between two values: entries as a whole, other values one by one."""
    if _alike(old, new):
        return
    before, after = _members(old), _members(new)
    if before is None or after is None or not (before or after) or _is_entry(maps, path):
        yield _Part(path, old, new)
        return
    for name in dict.fromkeys((*before, *after)):
        yield from _parts(
            maps, (*path, name), before.get(name, _MISSING), after.get(name, _MISSING)
        )


def _members(value: _Value) -> dict[str, Json] | None:
    """The members of an object; none of what is not there; None for any other value."""
    return value if isinstance(value, dict) else {} if _is_nothing(value) else None


def _elements(value: _Value) -> list[Json] | None:
    return value if isinstance(value, list) else [] if _is_nothing(value) else None


def _is_nothing(value: _Value) -> bool:
    return value is None or value is _MISSING


def _is_entry(maps: Collection[Keys], path: Keys) -> bool:
    """Whether a path leads to an entry, and not to an object that holds some."""
    return any(_fits(each, path[:-1]) for each in maps) and not any(
        _fits(each[: len(path)], path) for each in maps
    )


def _fits(keys: Keys, path: Keys) -> bool:
    return len(keys) == len(path) and all(
        key in (step, PROJECT) for key, step in zip(keys, path, strict=True)
    )


def _target(part: _Part, now: _Value) -> "_Value | Literal[_Marker.CHANGED]":
    """What a value is to be without the edit, or that others changed it since."""
    if _alike(now, part.after) or _alike(now, part.before):
        return part.before
    before, after, present = _elements(part.before), _elements(part.after), _elements(now)
    if before is None or after is None or present is None:
        return _CHANGED
    stay = [each for each in present if each in before or each not in after]
    stay += [each for each in before if each not in after and each not in present]
    return stay if stay or not _is_nothing(part.before) else part.before


def _with_emptied(steps: list[_Step], present: Json, old: Json) -> tuple[list[_Step], Json]:
    """The steps, with those for objects that the edit had to make; and what they lead to."""
    whole: list[_Step] = []
    for step in steps:
        above = [step.path[:end] for end in range(len(step.path) - 1, 0, -1)]
        whole.append(step)
        present = _taken(present, step)
        for path in above if step.value is _MISSING else ():
            filler = _at(old, path)
            if value_at(present, path) != {} or not _is_nothing(filler):
                break
            whole.append(_Step(path, filler))
            present = _taken(present, whole[-1])
    return whole, present


def _taken(value: Json, step: _Step) -> Json:
    if step.value is _MISSING:
        return without(value, step.path)
    return with_value(value, step.path, step.value)


def _edited(editor: TextEditor, text: str, steps: list[_Step]) -> str:
    for path, value in steps:
        if value is not _MISSING:
            text = editor.put(text, path, value)
        elif editor.parse(text).has(path):
            # A table of TOML that only its entry implied is gone with that.
            text = editor.remove(text, path)
    return text


def _renamed(editor: TextEditor, text: str, steps: list[_Step], present: Json) -> str | None:
    """The text with an entry under its earlier name, if that is all there is to do."""
    gone = [each for each in steps if each.value is _MISSING]
    come = [each for each in steps if _at(present, each.path) is _MISSING]
    if len(steps) != len(gone) + len(come) or len(gone) != 1 or len(come) != 1:
        return None
    (path, _), (new_path, value) = gone[0], come[0]
    if path[:-1] != new_path[:-1] or not _alike(_at(present, path), value):
        return None
    return editor.rename(text, path, new_path[-1])


def _gives(parse: Callable[[str], Parsed], text: str, intended: Json, now: str) -> bool:
    """Whether lines that were put together give a value, as strictly written as they were."""
    try:
        parsed = parse(text)
    except DocumentBroken:
        return False
    # A comma that is one too many is no fault of JSONC, but of JSON.
    return same(parsed.value, intended) and (_is_strict(parsed) or not _is_strict(parse(now)))


def _is_strict(parsed: Parsed) -> bool:
    return not isinstance(parsed, JsoncDocument) or parsed.strict


def _at(root: Json, path: Keys) -> _Value:
    return value_at(root, path) if has_value(root, path) else _MISSING


def _alike(left: _Value, right: _Value) -> bool:
    if left is _MISSING or right is _MISSING:
        return left is right
    return same(left, right)
