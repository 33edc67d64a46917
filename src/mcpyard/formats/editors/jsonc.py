"""The lossless editor for JSON and JSONC: it changes one member and keeps every other byte.

Comments, order, indentation, line ends, a BOM, trailing commas and the spelling of numbers stay as
they are; what is new takes the style of its neighbours. Strict JSON stays strict JSON.

Every edit is guarded: the text is read before and after, the values are compared with what the
edit is meant to give, and the text around the member must be the same to the byte. A mistake of
this editor is a refused edit, never a damaged file.
"""

from dataclasses import dataclass, replace

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc_document import Document, Extra, parse
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_scan import (
    Container,
    Json,
    Node,
    Path,
    Reading,
    broken,
    positions,
    read,
)
from mcpyard.formats.editors.jsonc_splice import Entry, insert, remove, rewrite
from mcpyard.formats.editors.jsonc_style import Style, atom, learn, line_indent, style_of
from mcpyard.formats.editors.jsonc_values import (
    plain,
    refuse,
    renamed,
    same,
    value_at,
    with_value,
    without,
)

__all__ = (
    "Document",
    "Extra",
    "Json",
    "Path",
    "parse",
    "remove_member",
    "rename_member",
    "set_member",
)


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited text that is not trusted yet.

    Attributes:
        reading: what the text gave before.
        text: the text before.
        path: what the edit is about.
        span: the part of the text before that the edit may touch.
        edited: the text after.
        intended: the value that the text shall give after, worked out without it.
        zone: the path of the innermost value that holds all that the edit may touch.
    """

    reading: Reading
    text: str
    path: Path
    span: tuple[int, int]
    edited: str
    intended: Json
    zone: Path

    def guarded(self) -> str:
        """The edited text, if it is what the edit is meant to give.

        Raises:
            DocumentBroken: the text was nested too deeply to begin with.
            EditRefused: it is not.
        """
        try:
            after = read(self.edited, comments=not self.reading.strict).root.value
            right = self._keeps_the_rest() and self._gives(after)
        except DocumentBroken as error:
            message = f"the edit would break the file: {error.message}"
            raise refuse(self.path, message) from None
        except RecursionError:
            raise broken(self.text) from None
        if not right:
            raise refuse(self.path, "the edit would not give exactly what was asked")
        return self.edited

    def _gives(self, after: Json) -> bool:
        # Python takes 1, 1.0 and true for equal. Beside the zone they cannot have turned into each
        # other, for there the bytes are the same; within it the types are compared as well.
        return after == self.intended and same(
            value_at(after, self.zone), value_at(self.intended, self.zone)
        )

    def _keeps_the_rest(self) -> bool:
        start, end = self.span
        before, behind = self.text[:start], self.text[end:]
        return (
            len(self.edited) >= len(before) + len(behind)
            and self.edited.startswith(before)
            and self.edited.endswith(behind)
        )


def set_member(text: str, path: Path, value: object) -> str:
    """Give the member at the path a value; an absent one is added, with the objects above it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there can be no such member, or JSON has no such value.
    """
    reading = _read(text, path)
    new = plain(value, path)
    nodes = list(reading.root.trail())
    style = _style(text, nodes)
    missing = path[len(nodes) - 1 :]
    if missing:
        container = _home(nodes[-1], missing, path)
        items = container.items
        nested = with_value(None, missing[1:], new)
        edited = insert(text, container, [Entry(str(missing[0]), nested)], style)
        span = (items[-1].end if items else container.opening + 1), container.closing
    else:
        target = nodes[-1]
        span = target.start, target.end
        style = replace(style, outer=line_indent(text, target.start, style.outer))
        changed = rewrite(text[target.start : target.end], target.value, new, style)
        edited = text[: target.start] + changed + text[target.end :]
    intended = with_value(reading.root.value, path, new)
    return Edit(reading, text, path, span, edited, intended, path).guarded()


def remove_member(text: str, path: Path) -> str:
    """Take out the member or element at the path, with its comma and the comments of its own.

    All members of that name go: an earlier one would come into force otherwise.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such member.
    """
    reading = _read(text, path)
    container = _parent(reading, path)
    items = container.items
    doomed = positions(items, path[-1])
    first, last = doomed[0], doomed[-1]
    span = (
        items[first - 1].end if first else container.opening + 1,
        items[last + 1].key_start if last + 1 < len(items) else container.closing,
    )
    edited = remove(text, container, doomed)
    intended = without(reading.root.value, path)
    return Edit(reading, text, path, span, edited, intended, path[:-1]).guarded()


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
        raise refuse(path, f'there is a member "{new_name}" already')
    keys = [container.items[index] for index in positions(container.items, path[-1])]
    edited = text
    for item in reversed(keys):
        edited = edited[: item.key_start] + atom(new_name) + edited[item.key_end :]
    span = keys[0].key_start, keys[-1].key_end
    intended = renamed(reading.root.value, path, new_name)
    return Edit(reading, text, path, span, edited, intended, path[:-1]).guarded()


def _read(text: str, path: Path) -> Reading:
    if not path:
        raise refuse(path, "an edit needs the path of a member")
    if any(type(step) not in {str, int} for step in path):
        raise refuse(path, "a path is made of names and positions")
    if len(path) > MAX_DEPTH:
        raise refuse(path[:1], f"the path is longer than {MAX_DEPTH} steps")
    return read(text, path)


def _style(text: str, nodes: list[Node]) -> Style:
    style = style_of(text)
    for node in nodes:
        style = learn(text, node.container, style) if node.container else style
    return style


def _home(nearest: Node, missing: Path, path: Path) -> Container:
    """The object that an absent member goes into."""
    found = path[: len(path) - len(missing)]
    if nearest.container is None:
        raise refuse(found, "is neither an object nor an array")
    if isinstance(nearest.value, list):
        raise refuse(path, f"there is no such element in an array of {len(nearest.value)}")
    if not all(isinstance(step, str) for step in missing):
        raise refuse(path, "an edit creates objects on its way, but no arrays")
    return nearest.container


def _parent(reading: Reading, path: Path) -> Container:
    """The container of a member that must exist."""
    nodes = list(reading.root.trail())
    container = nodes[-2].container if len(nodes) > len(path) else None
    if container is None:
        raise refuse(path, "there is no such member")
    return container
