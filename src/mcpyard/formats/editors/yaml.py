"""The lossless editor for YAML: it changes one member and keeps every other byte.

Comments, order, blank lines, indentation, line ends, a BOM, anchors, tags, quotes and all other
documents of the file stay as they are; what is new takes the style of its neighbours. What is
written means the same in YAML 1.1 and 1.2.

Every edit passes the guard of `yaml_guard`: a mistake of this editor is a refused edit, never a
damaged file.
"""

import re
from typing import Final, NamedTuple

from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import (
    has_value,
    refuse,
    renamed,
    value_at,
    with_value,
    without,
)
from mcpyard.formats.editors.yaml_document import YamlDocument, parse
from mcpyard.formats.editors.yaml_edit import Splice, YamlChange, learn, spliced
from mcpyard.formats.editors.yaml_guard import NOWHERE, YamlEdit
from mcpyard.formats.editors.yaml_lines import blocks, line_end, line_start, newline_of, past_blank
from mcpyard.formats.editors.yaml_nodes import YamlNode
from mcpyard.formats.editors.yaml_style import member_lines, text_of
from mcpyard.formats.editors.yaml_values import YamlVersion, name_fault, plain, same

__all__ = (
    "YamlDocument",
    "YamlVersion",
    "parse",
    "remove_member",
    "rename_member",
    "set_member",
)

_ODD_BREAKS: Final = re.compile("[\x85\u2028\u2029]")


class _Step(NamedTuple):
    """A map or a list on the way, and the position of the item that the way goes on in."""

    container: YamlNode
    position: int


def set_member(
    text: str, path: Path, value: object, version: YamlVersion = YamlVersion.V1_2
) -> str:
    """Give the member at the path a value; an absent one is added, with the maps above it.

    An element is added to a list by the position behind its last one.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there can be no such member, YAML has no such value, or it is shared.
    """
    document = _read(text, path, version)
    new = plain(value, path)
    if has_value(document.value, path) and same(value_at(document.value, path), new):
        return text
    steps = _walk(document, path)
    change = YamlChange(document, learn(document))
    missing = path[len(steps) :]
    if not missing:
        container, index = steps[-1]
        _check_shared(document, container.values[index], steps, path)
        splices = change.change(container, index, new, path)
        span = _item_span(document, container, index)
    else:
        nested = with_value(None, missing[1:], new)
        splices, span = _added(change, steps, missing, nested, path)
    intended = _with(document.value, path, new)
    zone = path[: len(steps) + 1]
    return YamlEdit(document, spliced(text, splices), intended, zone, span).guarded()


def remove_member(text: str, path: Path, version: YamlVersion = YamlVersion.V1_2) -> str:
    """Take out the member or element at the path, with the comments of its own.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such member, or others refer to it.
    """
    document = _read(text, path, version)
    steps = _walk(document, path)
    if len(steps) < len(path):
        raise refuse(path, "there is no such member")
    container, index = steps[-1]
    _check_shared(document, container.values[index], steps, path)
    change = YamlChange(document, learn(document))
    above = steps[-2] if len(steps) > 1 else None
    block = above is not None and not above.container.flow and not container.flow
    lead = change.lead(*above, path) if above and block else None
    splices = change.take(container, [index], lead)
    span = _item_span(document, *above) if above else (0, len(text))
    intended = without(document.value, path)
    edited = spliced(text, splices)
    return YamlEdit(document, edited, intended, path, span, (*path[:-1], NOWHERE)).guarded()


def rename_member(
    text: str, path: Path, new_name: str, version: YamlVersion = YamlVersion.V1_2
) -> str:
    """Rename the member at the path, where it stands.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such member, or one of the new name exists.
    """
    document = _read(text, path, version)
    steps = _walk(document, path)
    if len(steps) < len(path):
        raise refuse(path, "there is no such member")
    if not isinstance(path[-1], str):
        raise refuse(path, "an element of a list has no name")
    if new_name == path[-1]:
        return text
    if fault := name_fault(new_name):
        raise refuse(path, fault)
    new_path = (*path[:-1], new_name)
    if has_value(document.value, new_path):
        raise refuse(path, f'"{new_name}" already exists', document.key_place(new_path))
    container, index = steps[-1]
    _check_shared(document, container.keys[index], steps, path)
    key = container.keys[index]
    if key.kind != "scalar" or key.tag or key.anchor:
        raise refuse(path, "has a key that cannot be rewritten", document.at(key.start))
    written = text_of(new_name, flow=container.flow, like=key.style)
    edited = spliced(text, [(key.start, key.end, written)])
    intended = renamed(document.value, path, new_name)
    return YamlEdit(document, edited, intended, path, (key.start, key.end), new_path).guarded()


def _read(text: str, path: Path, version: YamlVersion) -> YamlDocument:
    if not path:
        raise refuse(path, "an edit needs the path of a member")
    if any(type(step) not in {str, int} for step in path):
        raise refuse((), "a path is made of names and positions")
    if fault := next(filter(None, (name_fault(it) for it in path if isinstance(it, str))), None):
        raise refuse((), f"a path is made of names, but {fault}")
    if len(path) > MAX_DEPTH:
        raise refuse(path[:1], f"the path is longer than {MAX_DEPTH} steps")
    document = parse(text, version=version)
    if odd := _ODD_BREAKS.search(text):
        message = f"U+{ord(odd.group()):04X} ends a line in YAML 1.1 only; write it as an escape"
        raise refuse(path, message, document.at(odd.start()))
    if not isinstance(document.value, dict):
        raise refuse(path, "the file holds no map of keys", document.place(()))
    return document


def _walk(document: YamlDocument, path: Path) -> list[_Step]:
    """The way along a path, as far as it is written."""
    steps: list[_Step] = []
    node = document.root
    for depth, step in enumerate(path):
        if node is None or (node.kind == "scalar" and document.reading.value(node) is None):
            return steps
        if node.kind == "alias":
            message = f'is an alias of "{node.text}"; change what it refers to'
            raise refuse(path[:depth], message, document.at(node.start))
        index = _index(document, node, step, path[:depth])
        if index is None:
            return steps
        steps.append(_Step(node, index))
        node = node.values[index]
    return steps


def _index(document: YamlDocument, node: YamlNode, step: str | int, path: Path) -> int | None:
    if node.tag and not isinstance(document.reading.value(node), (dict, list)):
        raise refuse(path, f"is tagged {node.tag}", document.at(node.start))
    if node.kind == "list" and isinstance(step, int):
        if not 0 <= step <= len(node.values):
            message = f"there is no such element in a list of {len(node.values)}"
            raise refuse((*path, step), message, document.at(node.start))
        return step if step < len(node.values) else None
    if node.kind == "map" and isinstance(step, str):
        return document.reading.names(node).get(step)
    raise refuse(
        path, "is neither a map nor a list that has such a member", document.at(node.start)
    )


def _with(root: Json, path: Path, value: Json) -> Json:
    """The root with a value at a path, which may be behind the last element of a list."""
    step = path[0]
    if isinstance(root, list) and isinstance(step, int) and step == len(root):
        return [*root, with_value(None, path[1:], value)]
    if len(path) == 1 or not isinstance(root, (dict, list)) or not has_value(root, path[:1]):
        return with_value(root, path, value)
    inner = _with(value_at(root, path[:1]), path[1:], value)
    return with_value(root, path[:1], inner)


def _added(
    change: YamlChange, steps: list[_Step], missing: Path, nested: Json, path: Path
) -> tuple[list[Splice], tuple[int, int]]:
    """The pieces that add a member, and the part of the text that they may touch."""
    document = change.document
    home = steps[-1].container.values[steps[-1].position] if steps else document.root
    if not all(isinstance(step, str) for step in missing[1:]):
        raise refuse(path, "an edit creates maps on its way, but no lists")
    if home is None:
        return _begun(change, missing, nested, path)
    span = _item_span(document, *steps[-1]) if steps else (home.start, len(document.text))
    _check_home(document, home, steps, path)
    step = missing[0]
    if home.kind == "list":
        if home.values:
            return change.append(home, nested, path), span
        whole: Json = [nested]
    elif isinstance(step, int):
        raise refuse(path, "an edit creates maps on its way, but no lists")
    elif home.values:
        return change.add(home, {step: nested}, path), span
    else:
        whole = {step: nested}
    return _filled(change, steps, home, whole, path), span


def _filled(
    change: YamlChange, steps: list[_Step], home: YamlNode, whole: Json, path: Path
) -> list[Splice]:
    """The pieces that put a first item into what is empty."""
    text = change.document.text
    if not steps:
        return change.fill(
            home, whole, path, block=not text[line_start(text, home.start) : home.start]
        )
    container, index = steps[-1]
    if home.kind == "scalar":
        return change.replace_value(container, index, whole, path)
    spaced = not container.flow and text[change.lead(container, index, path) : home.start] == " "
    bare = container.kind == "map" or text[home.end : line_end(text, home.end)].isspace()
    bare = bare or line_end(text, home.end) == home.end
    if spaced and bare and home.end - home.start == len("{}"):
        return change.replace_value(container, index, whole, path)
    return change.fill(home, whole, path, block=False)


def _begun(
    change: YamlChange, missing: Path, nested: Json, path: Path
) -> tuple[list[Splice], tuple[int, int]]:
    """The pieces that write the first member of a document."""
    document = change.document
    text = document.text
    name = missing[0]
    if not isinstance(name, str):
        raise refuse(path, "the file holds no list")
    end = document.stream.ends[0] if document.stream.ends else len(text)
    newline = newline_of(text)
    lines = member_lines(name, nested, 0, change.style, path)
    body = newline.join(lines) + newline
    if end and line_start(text, end) != end:
        body = newline + body
    return [(end, end, body)], (end, end)


def _item_span(document: YamlDocument, container: YamlNode, index: int) -> tuple[int, int]:
    """The part of a text that belongs to an item, with the line that it ends in."""
    if container.flow:
        return container.start, container.end
    block = blocks(document.text, container)[index]
    return block.start, past_blank(document.text, block.bottom)


def _check_home(document: YamlDocument, home: YamlNode, steps: list[_Step], path: Path) -> None:
    """Refuse to add to what aliases elsewhere stand for; what is in it already may be shared."""
    _check_shared(document, YamlNode("list", 0, 0, 0), [*steps, _Step(home, 0)], path)


def _check_shared(document: YamlDocument, node: YamlNode, steps: list[_Step], path: Path) -> None:
    """Refuse to change what aliases elsewhere stand for, all of it or a part."""
    inside = {id(each) for each in node.walk()}
    anchors = {id(each) for each in node.walk() if each.anchor}
    anchors |= {id(step.container) for step in steps if step.container.anchor}
    if not anchors:
        return
    for root in document.stream.roots:
        for each in root.walk():
            if each.kind == "alias" and id(each.target) in anchors and id(each) not in inside:
                message = f'the alias "*{each.text}" elsewhere stands for a part of it'
                raise refuse(path, message, document.at(each.start))
