"""What an edit is meant to give, on plain values: the yardstick that an edited text is held to.

Nothing here knows about text. The editor writes, this module says what must come out, and the
guard compares the two.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias, cast

from mcpyard.domain.errors import EditRefused, Problem, SourceLocation
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_scan import Json, Path

Same: TypeAlias = Callable[[Json, Json], bool]
"""Whether two values are equal as a format has it."""

# Python writes and reads no longer ones; a file that holds one could not be read again.
_TOO_LONG: Final = 10**4300


def refuse(path: Path, message: str, place: SourceLocation | None = None) -> EditRefused:
    """The refusal of an edit, naming the path it concerns."""
    return EditRefused.of(Problem(path_text(path), message, place))


def path_text(path: Path) -> str:
    """A path as a person reads it, such as `mcpServers.github.args[0]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def plain(value: object, path: Path) -> Json:
    """A copy of a value as JSON has it, to stand at a path.

    Raises:
        EditRefused: JSON has no such value, or it would be nested too deeply.
    """
    return copied(value, path, _scalar, name_fault)


def copied(
    value: object,
    path: Path,
    scalar: Callable[[object, Path], Json],
    name_fault: Callable[[object], str | None],
) -> Json:
    """A copy of a value to stand at a path, with scalars and names as a format has them.

    Raises:
        EditRefused: the format has no such value, or it would be nested too deeply.
    """

    def name(key: object) -> str:
        if fault := name_fault(key):
            raise refuse(path, fault)
        return cast("str", key)

    def copy(value: object, levels: int) -> Json:
        if not isinstance(value, (Mapping, list, tuple)):
            return scalar(value, path)
        if levels <= 0:
            raise refuse(path, f"the value would be nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, Mapping):
            members = cast("Mapping[object, object]", value)
            return {name(key): copy(item, levels - 1) for key, item in members.items()}
        return [copy(item, levels - 1) for item in cast("list[object]", value)]

    return copy(value, MAX_DEPTH - len(path))


def name_fault(name: object) -> str | None:
    """Why something cannot be a name, or nothing."""
    return None if isinstance(name, str) else f"the name {name!r} is not a string"


def same(left: Json, right: Json) -> bool:
    """Whether two values are equal as JSON has it: 1, 1.0 and true differ, key order does not.

    Raises:
        RecursionError: they are nested too deeply.
    """
    return left == right and _alike(left, right)


class ElementsChange(NamedTuple):
    """What the elements of an array between two positions turn into."""

    start: int
    end: int
    new: list[Json]


def left_out(old: list[Json], new: list[Json], same: Same) -> list[int] | None:
    """The positions of the elements that one array lacks of another, if nothing else differs."""
    gone: list[int] = []
    matched = 0
    for index, item in enumerate(old):
        if matched < len(new) and same(item, new[matched]):
            matched += 1
        else:
            gone.append(index)
    return gone if matched == len(new) else None


def changed_elements(old: list[Json], new: list[Json], same: Same) -> ElementsChange:
    """The elements between those at the start and at the end that two arrays have in common."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < shortest - head and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    return ElementsChange(head, len(old) - tail, new[head : len(new) - tail])


def value_at(root: Json, path: Path) -> Json:
    """The value at a path.

    Raises:
        LookupError: there is none.
    """
    for step in path:
        if isinstance(root, dict) and isinstance(step, str):
            root = root[step]
            continue
        if not isinstance(root, list) or not isinstance(step, int) or step < 0:
            raise LookupError(step)
        root = root[step]
    return root


def has_value(root: Json, path: Path) -> bool:
    """Whether there is a value at a path."""
    try:
        value_at(root, path)
    except LookupError:
        return False
    return True


def with_value(root: Json, path: Path, value: Json) -> Json:
    """The root with the value at the path, sharing all that is beside the path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(root, list) and isinstance(step, int):
        return [*root[:step], with_value(root[step], rest, value), *root[step + 1 :]]
    members = root if isinstance(root, dict) else {}
    name = str(step)
    return {**members, name: with_value(members.get(name), rest, value)}


def without(root: Json, path: Path) -> Json:
    """The root without the member or element at the path."""
    parent = value_at(root, path[:-1])
    step = path[-1]
    if isinstance(parent, list) and isinstance(step, int):
        return with_value(root, path[:-1], [*parent[:step], *parent[step + 1 :]])
    members = cast("dict[str, Json]", parent)
    return with_value(root, path[:-1], {k: v for k, v in members.items() if k != step})


def renamed(root: Json, path: Path, new_name: str) -> Json:
    """The root with the member at the path under its new name, in the same position."""
    members = cast("dict[str, Json]", value_at(root, path[:-1]))
    moved = {new_name if k == path[-1] else k: v for k, v in members.items()}
    return with_value(root, path[:-1], moved)


def _scalar(value: object, path: Path) -> Json:
    if isinstance(value, int) and abs(value) >= _TOO_LONG:
        raise refuse(path, "the number has too many digits")
    if value is None or type(value) in {bool, int, str}:
        return cast("Json", value)
    if type(value) is float and math.isfinite(value):
        return value
    raise refuse(path, f"{value!r} is not a JSON value")


def _alike(left: Json, right: Json, levels: int = MAX_DEPTH) -> bool:
    """Whether two values that are equal to Python are of the same types throughout.

    Strings equal nothing but strings, and they are the bulk: they are passed over unlooked.
    """
    if levels < 0:
        raise RecursionError
    if isinstance(left, dict) and isinstance(right, dict):
        for name, item in left.items():
            if type(item) is not str and not _alike(item, right[name], levels - 1):
                return False
        return True
    if isinstance(left, list) and isinstance(right, list):
        for item, other in zip(left, right, strict=True):
            if type(item) is not str and not _alike(item, other, levels - 1):
                return False
        return True
    return type(left) is type(right)
