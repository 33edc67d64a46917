"""A JSON or JSONC text that was read: its value, and where everything stands."""

from dataclasses import dataclass, field
from typing import cast

from msgspec import Struct

from mcpyard.domain.errors import SourceLocation
from mcpyard.domain.nesting import nested_deeper
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_lines import Lines
from mcpyard.formats.editors.jsonc_rescan import rescan, unchanged_items
from mcpyard.formats.editors.jsonc_scan import (
    OUTERMOST,
    Json,
    JsonContainer,
    JsonItem,
    JsonScan,
    Path,
    broken,
    extras,
    scan,
)
from mcpyard.formats.editors.jsonc_values import has_value, value_at


class Extra(Struct, frozen=True):
    """A comment or a trailing comma: what a strict JSON reader stumbles over."""

    what: str
    place: SourceLocation


@dataclass(frozen=True, slots=True)
class JsoncDocument:
    """A text that was read, its value, and where everything stands."""

    text: str
    file: str
    value: Json
    strict: bool
    reading: JsonScan = field(repr=False, compare=False)
    lines: Lines = field(repr=False, compare=False)
    _containers: dict[Path, JsonContainer | None] = field(
        default_factory=dict[Path, JsonContainer | None], repr=False, compare=False
    )
    _front: int = field(default=0, repr=False, compare=False)
    _members: dict[Path, dict[str, JsonItem]] = field(
        default_factory=dict[Path, dict[str, JsonItem]], repr=False, compare=False
    )

    @property
    def extras(self) -> tuple[Extra, ...]:
        """The comments and trailing commas, in order; none in strict JSON."""
        names = {"comment": "comment", "comma": "trailing comma"}
        members = () if self.strict else extras(self.text)
        return tuple(
            Extra(names[kind], self.lines.place(start))
            for kind, start, _ in members
            if kind in names
        )

    def unchanged(self, path: Path) -> int:
        """How many items of the container at the path are sure to be as in the earlier document."""
        container = self._container(path) if self._front and self.has(path) else None
        return unchanged_items(self.text, container, self._front) if container else 0

    def has(self, path: Path) -> bool:
        """Whether there is a value at the path."""
        return has_value(self.value, path)

    def place(self, path: Path) -> SourceLocation:
        """Where the value at the path starts.

        Raises:
            LookupError: there is none.
        """
        return self.lines.place(self._item(path).start if path else self.reading.root.start)

    def key_place(self, path: Path) -> SourceLocation:
        """Where the name of the member at the path starts; an element has none but its own start.

        Raises:
            LookupError: there is no such member.
        """
        if not path:
            raise LookupError(path)
        return self.lines.place(self._item(path).key_start)

    def member(self, path: Path) -> tuple[SourceLocation, str]:
        """Where the name of the member at the path starts, and the text of its value."""
        item = self._item(path)
        return self.lines.place(item.key_start), self.text[item.start : item.end]

    def repeated(self, path: Path) -> dict[str, SourceLocation]:
        """The names that an object has more than once, with the place of the first of each."""
        container = self._container(path)
        items = container.items if container else []
        first: dict[str, int] = {}
        again: dict[str, int] = {}
        for item in items:
            name = item.name or ""
            if name in first:
                again[name] = first[name]
            first.setdefault(name, item.key_start)
        return {name: self.lines.place(start) for name, start in again.items()}

    def _item(self, path: Path) -> JsonItem:
        value_at(self.value, path)
        outer, step = path[:-1], path[-1]
        items = cast("JsonContainer", self._container(outer)).items
        if isinstance(step, int):
            return items[step]
        if outer not in self._members and items and items[-1].name == step:
            # What is added stands last, and of several of one name the last one counts.
            return items[-1]
        # Every entry of a file is asked for its place: a search for each would take the square.
        if outer not in self._members:
            self._members[outer] = {item.name or "": item for item in items}
        return self._members[outer][step]

    def _container(self, path: Path) -> JsonContainer | None:
        if path not in self._containers:
            start = self._item(path).start if path else self.reading.root.start
            self._containers[path] = scan(self.reading.bare, start, OUTERMOST).container
        return self._containers[path]


def parse(
    text: str, *, file: str = "", along: Path = (), before: JsoncDocument | None = None
) -> JsoncDocument:
    """Read JSON or JSONC, with or without a BOM, of a file with that name.

    Places will be asked for along a path, and are found in the same go. What did not change since
    an earlier state of the text was read is not read again.

    Raises:
        DocumentBroken: the text cannot be read; its problem says where and why.
    """
    reading, front = rescan(text, along, before.reading if before else None, file=file)
    if front is None and nested_deeper(reading.root.value, MAX_DEPTH):
        raise broken(text, file)
    walked: dict[Path, JsonContainer | None] = {
        along[:depth]: node.container
        for depth, node in enumerate(reading.root.trail())
        if node.container
    }
    value, strict = reading.root.value, reading.strict
    if before is None or front is None:
        return JsoncDocument(text, file, value, strict, reading, Lines(text, file), walked)
    lines = before.lines.up_to(front, text)
    return JsoncDocument(text, file, value, strict, reading, lines, walked, front)
