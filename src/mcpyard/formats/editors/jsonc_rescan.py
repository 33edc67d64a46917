"""A text read again after a change: only what the change touches is scanned anew.

Scanning goes from the front to the back, and what comes next depends on nothing but the text ahead
and the containers that are open. So whatever ends in front of the change is as it was, and from the
first member behind the change at which the scan arrives, everything is as it was too, some
characters further. Where that cannot be told, the text is read as a whole.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple, NoReturn

from msgspec import Struct

from mcpyard.domain.continuation import first_items
from mcpyard.domain.nesting import nested_deeper
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_scan import (
    Json,
    JsonContainer,
    JsonItem,
    JsonNode,
    JsonScan,
    Path,
    ends_at,
    next_item,
    read,
    read_key,
    scan,
)

_PIECE: Final = 32 * 1024
"""Characters that are compared at once: they are copied for it, and large copies are slow."""


class Rescan(NamedTuple):
    """What a text gives, and where it begins to differ; None if it was read as a whole."""

    scan: JsonScan
    front: int | None


def rescan(
    text: str, path: Path, before: JsonScan | None, *, file: str = "", comments: bool = True
) -> Rescan:
    """Read a text, an earlier state of which may have been read along the same path.

    Raises:
        DocumentBroken: the text is not JSON, or not JSONC where comments are allowed.
    """
    if before and before.strict and before.path == path:
        change = _Change(text, before.bare)
        try:
            root = change.applied_to(before.root, path)
        except (ValueError, RecursionError):
            # If anything is wrong, a reading of the whole says what.
            pass
        else:
            return Rescan(JsonScan(root, text, strict=True, path=path), change.front)
    return Rescan(read(text, path, file=file, comments=comments), None)


def unchanged_items(text: str, container: JsonContainer, front: int) -> int:
    """How many items of a container are sure to be as they were, if a change begins at `front`."""
    count = bisect_right(container.items, front, key=_end)
    # A number that ends where the change begins may go on behind it.
    return count - 1 if count and text[container.items[count - 1].end - 1] not in '"]}' else count


class _Change:
    """A change of a text, all of it between its unchanged front and its unchanged back.

    Attributes:
        front: Where the text begins to differ.
    """

    def __init__(self, text: str, before: str) -> None:
        shorter, end, old_end = min(len(text), len(before)), len(text), len(before)
        self._text = text
        self.front = _longest(shorter, lambda a, b: text.startswith(before[a:b], a))
        unchanged_back = _longest(
            shorter - self.front,
            lambda a, b: text.startswith(before[old_end - b : old_end - a], end - b),
        )
        self._back = end - unchanged_back
        self._shift = end - old_end

    def applied_to(self, root: JsonNode, path: Path) -> JsonNode:
        """The root of the text, made of the earlier one.

        Raises:
            ValueError: The text is broken, or has to be read as a whole.
        """
        after = self._object(root, path, MAX_DEPTH - len(path))
        return after if ends_at(self._text, after.end) else _give_up()

    def _object(self, before: JsonNode, path: Path, levels: int) -> JsonNode:
        """An object whose first member begins in the unchanged front."""
        old, members = before.container, before.value
        if not path or not old or not isinstance(members, dict) or len(members) != len(old.items):
            # Of members of one name the last one counts, and which one that is may have changed.
            return _give_up()
        same = unchanged_items(self._text, old, self.front)
        after = _Members(old.items[:same], first_items(members, same))
        if same:
            closing, at = next_item(self._text, old.items[same - 1].end, "}")
        elif members and old.items[0].key_start < self.front:
            closing, at = -1, old.items[0].key_start
        else:
            return _give_up()
        if before.child and before.child.end <= at:
            after.child = before.child
        while closing < 0:
            if self._is_as_before(after, before, at):
                closing = old.closing + self._shift
                break
            name, key_end, start = read_key(self._text, at)
            if name == path[0]:
                node = after.child = self._child(before.child, start, path[1:], levels)
            else:
                node = self._scanned(start, (), levels)
            after.value[name] = node.value
            after.items.append(JsonItem(name, at, key_end, start, node.end))
            closing, at = next_item(self._text, node.end, "}")
        return after.object(before.start, closing)

    def _is_as_before(self, after: "_Members", before: JsonNode, at: int) -> bool:
        """Whether the rest of an object is as before, and then takes it over."""
        old, members = before.container, before.value
        if at < self._back or not old or not isinstance(members, dict):
            return False
        rest = bisect_left(old.items, at - self._shift, key=_key_start)
        if rest == len(old.items) or old.items[rest].key_start != at - self._shift:
            return False
        if before.child and before.child.start > old.items[rest].key_start:
            # The way along the path would have to be moved as well.
            return _give_up()
        after.items += [_moved(each, self._shift) for each in old.items[rest:]]
        after.value.update(islice(members.items(), rest, None))
        return True

    def _child(self, before: JsonNode | None, start: int, path: Path, levels: int) -> JsonNode:
        if before and before.container and before.start == start < self.front:
            return self._object(before, path, levels)
        return self._scanned(start, path, levels)

    def _scanned(self, start: int, path: Path, levels: int) -> JsonNode:
        node = scan(self._text, start, path)
        return _give_up() if nested_deeper(node.value, levels) else node


class _Members(Struct):
    """The members of an object as far as it was read."""

    items: list[JsonItem]
    value: dict[str, Json]
    child: JsonNode | None = None

    def object(self, start: int, closing: int) -> JsonNode:
        """The object that they make."""
        if len(self.value) != len(self.items):
            return _give_up()
        container = JsonContainer(start, closing, self.items)
        return JsonNode(start, closing + 1, self.value, container, self.child)


def _give_up() -> NoReturn:
    """Leave it to a reading of the whole."""
    raise ValueError


def _longest(limit: int, is_alike: Callable[[int, int], bool]) -> int:
    """How far two texts are alike: by pieces, then halving what is left of the first other one."""
    alike = 0
    while alike + _PIECE <= limit and is_alike(alike, alike + _PIECE):
        alike += _PIECE
    different = min(alike + _PIECE, limit) + 1
    while different - alike > 1:
        middle = (alike + different) // 2
        if is_alike(alike, middle):
            alike = middle
        else:
            different = middle
    return alike


def _key_start(item: JsonItem) -> int:
    return item.key_start


def _end(item: JsonItem) -> int:
    return item.end


def _moved(item: JsonItem, shift: int) -> JsonItem:
    name, key_start, key_end, start, end = item
    return JsonItem(name, key_start + shift, key_end + shift, start + shift, end + shift)
