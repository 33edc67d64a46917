"""TOML values in Python, and what an edit is meant to give: the yardstick of the guard."""

import datetime as dt
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

from mcpyard.domain.errors import EditRefused, Problem, SourceLocation
from mcpyard.formats.editors import jsonc_values
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.toml_scan import Names

Moment: TypeAlias = dt.datetime | dt.date | dt.time
Toml: TypeAlias = "bool | int | float | str | Moment | list[Toml] | dict[str, Toml]"
Table: TypeAlias = dict[str, Toml]

_INTEGERS: Final = range(-(2**63), 2**63)
_MOMENTS: Final = frozenset({dt.datetime, dt.date, dt.time})


def refuse(path: Path, message: str, place: SourceLocation | None = None) -> EditRefused:
    """The refusal of an edit, naming the path it concerns."""
    return EditRefused.of(Problem(jsonc_values.path_text(path), message, place))


def plain(value: object, path: Path) -> Toml:
    """A copy of a value as TOML has it, to stand at a path.

    Raises:
        EditRefused: TOML has no such value, or it would be nested too deeply.
    """
    return _plain(value, path, MAX_DEPTH - len(path))


def same(left: Toml, right: Toml) -> bool:
    """Whether two values are equal as TOML has it.

    1, 1.0 and true differ, as do 0.0 and -0.0 and two moments of different offsets; `nan` equals
    itself, and the order of keys does not matter.
    """
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, (float, dt.datetime)):
        return str(left) == str(right)
    return left == right


def too_deep(value: Table) -> bool:
    """Whether a value has more levels than any file of use has, and than recursion can bear."""
    return jsonc_values.too_deep(cast("Json", value))


def value_at(root: Table, path: Path) -> Toml:
    """The value at a path.

    Raises:
        LookupError: there is none.
    """
    return cast("Toml", jsonc_values.value_at(cast("Json", root), path))


def with_value(root: Table, path: Names, value: Toml) -> Table:
    """The root with the value at the path, sharing all that is beside the path."""
    changed = jsonc_values.with_value(cast("Json", root), path, cast("Json", value))
    return cast("Table", changed)


def without(root: Table, path: Names) -> Table:
    """The root without the value at the path."""
    return cast("Table", jsonc_values.without(cast("Json", root), path))


def renamed(root: Table, path: Names, new_name: str) -> Table:
    """The root with the value at the path under its new name."""
    return cast("Table", jsonc_values.renamed(cast("Json", root), path, new_name))


def pruned(root: Table, path: Names) -> Table:
    """The root without the tables on a path that are empty.

    A table that no header and no braces stand for is there only as long as it holds something.
    """
    for end in range(len(path), 0, -1):
        try:
            empty = value_at(root, path[:end]) == {}
        except LookupError:
            continue
        if not empty:
            break
        root = without(root, path[:end])
    return root


def name_fault(name: object) -> str | None:
    """Why something cannot be a name, or nothing."""
    if not isinstance(name, str):
        return f"the name {name!r} is not a string"
    return None if _encodable(name) else f"the name {name!r} cannot be written as UTF-8"


def _plain(value: object, path: Path, levels: int) -> Toml:
    if not isinstance(value, (Mapping, list, tuple)):
        return _scalar(value, path)
    if levels <= 0:
        raise refuse(path, f"the value would be nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return {_name(key, path): _plain(item, path, levels - 1) for key, item in members.items()}
    return [_plain(item, path, levels - 1) for item in cast("list[object]", value)]


def _name(key: object, path: Path) -> str:
    fault = name_fault(key)
    if fault is not None:
        raise refuse(path, fault)
    return cast("str", key)


def _scalar(value: object, path: Path) -> Toml:
    if value is None:
        raise refuse(path, "TOML has no null")
    if type(value) in {bool, float}:
        return cast("Toml", value)
    fault = _scalar_fault(value)
    if fault is not None:
        raise refuse(path, fault)
    return cast("Toml", value)


def _scalar_fault(value: object) -> str | None:
    if type(value) is int:
        return None if value in _INTEGERS else "the number does not fit into 64 bits"
    if type(value) is str:
        return None if _encodable(value) else "the string cannot be written as UTF-8"
    if type(value) in _MOMENTS:
        return None if _has_toml_offset(cast("Moment", value)) else "TOML has no such time zone"
    return f"{value!r} is not a TOML value"


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _has_toml_offset(moment: Moment) -> bool:
    if isinstance(moment, dt.datetime):
        offset = moment.utcoffset() or dt.timedelta()
        return not offset % dt.timedelta(minutes=1)
    return not isinstance(moment, dt.time) or moment.tzinfo is None
