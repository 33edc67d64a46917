"""The guard that every edit passes before its text is given out.

The text is read again after the edit. It must give exactly the value that was meant, worked out
without it; every node that is not the member's own must be what it was, with its quotes, its tag
and its anchor, in every document; and the text around the member must be the same to the byte. A
second parser, which shares no code with the first one, must find the same in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import refuse
from mcpyard.formats.editors.yaml_document import YamlDocument, parse
from mcpyard.formats.editors.yaml_nodes import YamlNode, YamlStream, read
from mcpyard.formats.editors.yaml_values import Reading, same

MOST_TWICE: Final = 64 * 1024
"""The longest text that the second parser reads: it is written in Python, and slow."""

NOWHERE: Final = -1
"""A position that no item has, for the path of a member that is gone."""

_Trait: TypeAlias = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class YamlEdit:
    """An edited text that is not trusted yet.

    Attributes:
        before: What was read before.
        edited: The text after.
        intended: The value that the text shall give after.
        path: The member that the edit is about.
        span: The part of the text before that the edit may touch.
        new_path: That member after the edit, where it has another name.
    """

    before: YamlDocument
    edited: str
    intended: Json
    path: Path
    span: tuple[int, int]
    new_path: Path | None = None

    def guarded(self) -> str:
        """The edited text, if it is what the edit is meant to give.

        Raises:
            EditRefused: it is not.
        """
        try:
            after = parse(self.edited, version=self.before.version)
        except DocumentBroken as error:
            message = f"the edit would break the file: {error.message}"
            raise refuse(self.path, message) from None
        right = self._keeps_the_text() and same(after.value, self.intended)
        if not (right and self._keeps_the_nodes(after) and self._reads_alike(after.stream)):
            raise refuse(self.path, "the edit would not give exactly what was asked")
        return self.edited

    def _keeps_the_text(self) -> bool:
        start, end = self.span
        head, tail = self.before.text[:start], self.before.text[end:]
        fits = len(self.edited) >= len(head) + len(tail)
        return fits and self.edited.startswith(head) and self.edited.endswith(tail)

    def _keeps_the_nodes(self, after: YamlDocument) -> bool:
        mine = self.path, self.before.reading
        theirs = self.new_path or self.path, after.reading
        return _others(self.before.stream, *mine) == _others(after.stream, *theirs)

    def _reads_alike(self, after: YamlStream) -> bool:
        """Whether the second parser finds what the first one does, unless they differed before."""
        if len(self.edited) > MOST_TWICE:
            return True
        return _agreed(after) or not _agreed(self.before.stream)


def _agreed(stream: YamlStream) -> bool:
    try:
        other = read(stream.text, independent=True)
    except DocumentBroken:
        return False
    one, two = (
        [[_trait(node) for node in root.walk()] for root in each.roots] for each in (stream, other)
    )
    return one == two


def _others(stream: YamlStream, path: Path, reading: Reading) -> list[_Trait]:
    """All nodes but those of the member at a path; the maps and lists above it may be rewritten."""
    roots = stream.roots
    traits = [*_beside(roots[0], path, reading)] if roots and not roots[0].empty else []
    return traits + [_trait(node) for root in roots[1:] for node in root.walk()]


def _beside(node: YamlNode, path: Path, reading: Reading) -> Iterator[_Trait]:
    """The nodes beside a path; of those on it, their anchors and tags."""
    if node.kind not in {"map", "list"}:
        return
    if node.tag or node.anchor:
        yield ("", "", "", node.tag, node.anchor)
    step = path[0]
    index = reading.names(node).get(step) if isinstance(step, str) and node.kind == "map" else step
    for position, value in enumerate(node.values):
        if position != index:
            keys = node.keys[position : position + 1]
            yield from (_trait(each) for key in keys for each in key.walk())
            yield from (_trait(each) for each in value.walk())
        elif len(path) > 1:
            yield from _beside(value, path[1:], reading)


def _trait(node: YamlNode) -> _Trait:
    kind = f"{node.kind} in braces" if node.flow and node.kind in {"map", "list"} else node.kind
    return kind, node.text, node.style, node.tag, node.anchor
