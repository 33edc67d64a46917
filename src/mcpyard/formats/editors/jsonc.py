"""The lossless editor for JSON and JSONC: it changes one member and keeps every other byte.

Comments, order, indentation, line ends, a BOM, trailing commas and the spelling of numbers stay as
they are; what is new takes the style of its neighbours. Strict JSON stays strict JSON.

Every edit passes the guard of `jsonc_guard`: a mistake of this editor is a refused edit, never a
damaged file.
"""

from collections.abc import Collection, Mapping
from typing import cast

from msgspec.structs import replace

from mcpyard.formats.editors.jsonc_document import Extra, JsoncDocument, parse
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_guard import JsoncEdit
from mcpyard.formats.editors.jsonc_rescan import rescan
from mcpyard.formats.editors.jsonc_scan import (
    OUTERMOST,
    Json,
    JsonContainer,
    JsonNode,
    JsonScan,
    Path,
    positions,
)
from mcpyard.formats.editors.jsonc_splice import NewItem, insert, remove, rewrite
from mcpyard.formats.editors.jsonc_style import Style, atom, learn, line_indent, style_of
from mcpyard.formats.editors.jsonc_values import (
    plain,
    refuse,
    renamed,
    value_at,
    with_value,
    without,
)

__all__ = (
    "Extra",
    "Json",
    "JsoncDocument",
    "Path",
    "add_members",
    "parse",
    "remove_member",
    "remove_members",
    "rename_member",
    "set_member",
)


def set_member(text: str, path: Path, value: object) -> str:
    """Give the member at the path a value; an absent one is added, with the objects above it.

    An object takes the place of null above it: programs that write null mean that there is none.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there can be no such member, or JSON has no such value.
    """
    reading = _read(text, path)
    new = plain(value, path)
    nodes = list(reading.root.trail())
    style = _style(text, nodes)
    missing = path[len(nodes) - 1 :]
    if missing and _is_null_member(nodes) and all(isinstance(step, str) for step in missing):
        return set_member(text, path[: len(nodes) - 1], with_value(None, missing, new))
    if missing:
        container = _home(nodes[-1], missing, path)
        nested = with_value(None, missing[1:], new)
        edited = insert(text, container, [NewItem(str(missing[0]), nested)], style)
        span = _tail(container)
    else:
        target = nodes[-1]
        span = target.start, target.end
        style = replace(style, outer=line_indent(text, target.start, style.outer))
        changed = rewrite(text[target.start : target.end], target.value, new, style)
        edited = text[: target.start] + changed + text[target.end :]
    intended = with_value(reading.root.value, path, new)
    return JsoncEdit(reading, text, path, span, edited, intended, (path,)).guarded()


def add_members(
    text: str, path: Path, members: Mapping[str, object], before: JsoncDocument | None = None
) -> str:
    """Add members to the object at the path, all in one edit; an absent object is added with them.

    Args:
        text: the text.
        path: where the object is.
        members: what to add.
        before: what an earlier state of the text gave; what did not change is not read again.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no object, it has one of the members, or JSON has no such value.
    """
    if not members:
        return text
    reading = _read(text, (*path, *OUTERMOST), before)
    nodes = list(reading.root.trail())[: len(path) + 1]
    if len(nodes) <= len(path):
        return set_member(text, path, dict(members))
    present = nodes[-1].value
    if _is_null_member(nodes):
        return set_member(text, path, dict(members))
    container = nodes[-1].container
    if container is None or not isinstance(present, dict):
        raise refuse(path, "is not an object")
    if taken := next((name for name in members if name in present), None):
        raise refuse((*path, taken), "already exists")
    new = {name: plain(value, (*path, name)) for name, value in members.items()}
    entries = [NewItem(name, value) for name, value in new.items()]
    edited = insert(text, container, entries, _style(text, nodes))
    intended = with_value(reading.root.value, path, {**present, **new})
    zones = tuple((*path, name) for name in new)
    return JsoncEdit(reading, text, path, _tail(container), edited, intended, zones).guarded()


def remove_member(text: str, path: Path) -> str:
    """Take out the member or element at the path, with its comma and the comments of its own.

    All members of that name go: an earlier one would come into force otherwise.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such member.
    """
    reading = _read(text, path)
    doomed = positions(_parent(reading, path).items, path[-1])
    return _without(text, reading, path, doomed, without(reading.root.value, path))


def remove_members(text: str, path: Path, names: Collection[str]) -> str:
    """Take members out of the object at the path, all in one edit (see `remove_member`)."""
    if not names:
        return text
    first = (*path, next(iter(names)))
    reading = _read(text, first)
    gone, items = {*names}, _parent(reading, first).items
    if missing := gone - {item.name for item in items}:
        raise refuse((*path, min(missing)), "there is no such member")
    doomed = [index for index, item in enumerate(items) if item.name in gone]
    present = cast("dict[str, Json]", value_at(reading.root.value, path))
    stays = {name: value for name, value in present.items() if name not in gone}
    return _without(text, reading, first, doomed, with_value(reading.root.value, path, stays))


def rename_member(text: str, path: Path, new_name: str) -> str:
    """Rename the member at the path, where it stands.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such member, or one of the new name exists.
    """
    reading = _read(text, path)
    container = _parent(reading, path)
    if not isinstance(path[-1], str):
        raise refuse(path, "an element of an array has no name")
    if new_name == path[-1]:
        return text
    if any(item.name == new_name for item in container.items):
        raise refuse(path, f'a member "{new_name}" already exists')
    keys = [container.items[index] for index in positions(container.items, path[-1])]
    edited = text
    for item in reversed(keys):
        edited = edited[: item.key_start] + atom(new_name) + edited[item.key_end :]
    span = keys[0].key_start, keys[-1].key_end
    intended = renamed(reading.root.value, path, new_name)
    return JsoncEdit(reading, text, path, span, edited, intended, (path[:-1],)).guarded()


def _read(text: str, path: Path, before: JsoncDocument | None = None) -> JsonScan:
    if not path:
        raise refuse(path, "an edit needs the path of a member")
    if any(type(step) not in {str, int} for step in path):
        raise refuse(path, "a path is made of names and positions")
    if len(path) > MAX_DEPTH:
        raise refuse(path[:1], f"the path is longer than {MAX_DEPTH} steps")
    return rescan(text, path, before.reading if before else None).scan


def _style(text: str, nodes: list[JsonNode]) -> Style:
    style = style_of(text)
    for node in nodes:
        style = learn(text, node.container, style) if node.container else style
    return style


def _is_null_member(nodes: list[JsonNode]) -> bool:
    """Whether the last of the nodes on a path is null, and not the root."""
    return len(nodes) > 1 and nodes[-1].value is None


def _home(nearest: JsonNode, missing: Path, path: Path) -> JsonContainer:
    """The object that an absent member goes into."""
    existing = path[: len(path) - len(missing)]
    if nearest.container is None:
        raise refuse(existing, "is neither an object nor an array")
    if isinstance(nearest.value, list):
        raise refuse(path, f"there is no such element in an array of {len(nearest.value)}")
    if not all(isinstance(step, str) for step in missing):
        raise refuse(path, "an edit creates objects on its way, but no arrays")
    return nearest.container


def _without(text: str, reading: JsonScan, path: Path, doomed: list[int], intended: Json) -> str:
    """The text without items of the container that the path leads into, by their positions."""
    container = _parent(reading, path)
    items, last = container.items, doomed[-1]
    span = (
        items[doomed[0] - 1].end if doomed[0] else container.opening + 1,
        items[last + 1].key_start if last + 1 < len(items) else container.closing,
    )
    edited = remove(text, container, {*doomed})
    return JsoncEdit(reading, text, path, span, edited, intended, (path[:-1],)).guarded()


def _tail(container: JsonContainer) -> tuple[int, int]:
    """The part of a container that new items go into."""
    items = container.items
    return (items[-1].end if items else container.opening + 1), container.closing


def _parent(reading: JsonScan, path: Path) -> JsonContainer:
    """The container of a member that must exist."""
    nodes = list(reading.root.trail())
    container = nodes[-2].container if len(nodes) > len(path) else None
    if container is None:
        raise refuse(path, "there is no such member")
    return container
