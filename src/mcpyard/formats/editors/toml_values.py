"""TOML values in Python, and what an edit is meant to give: the yardstick of the guard."""

import datetime as dt
from typing import Final, TypeAlias, cast

from mcpyard.formats.editors import jsonc_values
from mcpyard.formats.editors.jsonc_scan import Json, Moment, Path
from mcpyard.formats.editors.jsonc_values import copied, refuse, value_at, without

Toml: TypeAlias = Json
Table: TypeAlias = dict[str, Toml]

_INTEGERS: Final = range(-(2**63), 2**63)
_MOMENTS: Final = frozenset({dt.datetime, dt.date, dt.time})


def plain(value: object, path: Path) -> Toml:
    """A copy of a value as TOML has it, to stand at a path.

    Raises:
        EditRefused: TOML has no such value, or it would be nested too deeply.
    """
    return copied(value, path, _scalar, name_fault)


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


def pruned(root: Toml, path: Path) -> Toml:
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
    if isinstance(name, str) and not _encodable(name):
        return f"the name {name!r} cannot be written as UTF-8"
    return jsonc_values.name_fault(name)


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
