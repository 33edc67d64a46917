"""A YAML text that was read: its value, and where everything stands.

A stream can have several documents. The first is the one that is read and edited; an empty one
counts as a map without members.
"""

from dataclasses import dataclass, field

from mcpyard.domain.errors import SourceLocation
from mcpyard.formats.editors.jsonc_lines import Lines
from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import has_value
from mcpyard.formats.editors.yaml_nodes import YamlNode, YamlStream, read
from mcpyard.formats.editors.yaml_values import Reading, YamlVersion


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A text that was read, its value, and where everything stands."""

    text: str
    file: str
    value: Json
    version: YamlVersion
    stream: YamlStream = field(repr=False, compare=False)
    reading: Reading = field(repr=False, compare=False)
    _lines: Lines = field(repr=False, compare=False)

    @property
    def root(self) -> YamlNode | None:
        """The outermost node of the first document; None where it says nothing."""
        root = self.stream.roots[0] if self.stream.roots else None
        return None if root is None or (root.empty and not root.tag) else root

    @property
    def second(self) -> SourceLocation | None:
        """Where the second document begins, if there is one."""
        roots = self.stream.roots
        return self._lines.place(roots[1].start) if len(roots) > 1 else None

    def has(self, path: Path) -> bool:
        """Whether there is a value at the path."""
        return has_value(self.value, path)

    def place(self, path: Path) -> SourceLocation:
        """Where the value at the path starts; that of an alias, where the alias stands.

        Raises:
            LookupError: there is none.
        """
        return self._lines.place(self._find(path)[1])

    def key_place(self, path: Path) -> SourceLocation:
        """Where the name of the member at the path starts; an element has none but its own start.

        Raises:
            LookupError: there is none.
        """
        return self._lines.place(self._find(path)[0])

    def at(self, offset: int) -> SourceLocation:
        """The line and the column of an offset."""
        return self._lines.place(offset)

    def _find(self, path: Path) -> tuple[int, int]:
        """Where the key and the value at a path start."""
        node = self.root
        if node is None:
            if path:
                raise LookupError(path)
            return 0, 0
        key, value = node.start, node.start
        for step in path:
            key, node = self._step(node, step)
            value = node.start
        return key, value

    def _step(self, node: YamlNode, step: str | int) -> tuple[int, YamlNode]:
        node = node.target or node
        if isinstance(step, int):
            if node.kind != "list" or not 0 <= step < len(node.values):
                raise LookupError(step)
            return node.values[step].start, node.values[step]
        if node.kind != "map":
            raise LookupError(step)
        index = self.reading.names(node).get(step)
        if index is not None:
            return node.keys[index].start, node.values[index]
        for key, value in zip(node.keys, node.values, strict=True):
            if self.reading.merges(key) and step in self.reading.merged(node):
                return value.start, value
        raise LookupError(step)


def parse(text: str, *, file: str = "", version: YamlVersion = YamlVersion.V1_2) -> YamlDocument:
    """Read YAML, with or without a BOM, of a file with that name.

    Raises:
        DocumentBroken: the text cannot be read; its problem says where and why.
    """
    stream = read(text, file=file)
    reading = Reading(text, file, version)
    values = [reading.value(root) for root in stream.roots]
    value: Json = values[0] if values else {}
    document = YamlDocument(text, file, value, version, stream, reading, Lines(text, file))
    if document.root is None:
        return YamlDocument(text, file, {}, version, stream, reading, Lines(text, file))
    return document
