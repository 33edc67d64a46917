"""Where everything stands in a YAML text: a tree of nodes, made from the events of libyaml.

What a hostile file could make expensive is bounded while it is read: the nesting, and what its
aliases stand for. Scalars are kept as they are written; `yaml_values` says what they mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias, cast

import yaml

from mcpyard.domain.errors import DocumentBroken, Problem
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_lines import BOM, Lines
from mcpyard.formats.editors.yaml_faults import MAX_ALIASED, fault_of, forbidden

_PROPERTIES: Final = re.compile(r"(?:[&!]\S*(?:[ \t\r\n]+|$)(?:#[^\r\n]*[ \t\r\n]*)*)+")

_KEPT: Final = re.compile(r"[|>][0-9]?\+")
_INDICATED: Final = re.compile(r"[|>][-+]?[0-9]")
_FIRST_LINE: Final = re.compile(r"[\r\n]( *+)(?=[^ \r\n])")
_FINAL_BREAK: Final = re.compile(r"(?:\r\n|\n|\r)\Z")

_Event: TypeAlias = yaml.Event


@dataclass(slots=True, eq=False)
class YamlNode:
    """A scalar, a map, a list or an alias.

    Attributes:
        kind: Which of the four.
        start: Where it begins, with its anchor and its tag.
        inner: Where it begins without them.
        end: Where it ends; a block scalar ends with its last line, before the line end.
        text: The content of a scalar, or the name that an alias refers to.
        style: The quotes of a scalar, `|` or `>`; empty for a plain one.
        flow: Whether a map or a list is in braces or brackets, or a node is inside of one.
        tag: What it is marked as; empty where nothing says it.
        anchor: The name that aliases call it by.
        keys: The keys of a map.
        values: The values of a map, or the elements of a list.
        target: What an alias stands for.
        size: How many nodes it stands for, with all that aliases repeat.
        levels: How deeply it is nested in itself.
    """

    kind: str
    start: int
    inner: int
    end: int
    text: str = ""
    style: str = ""
    flow: bool = False
    tag: str = ""
    anchor: str = ""
    keys: "list[YamlNode]" = field(default_factory=list["YamlNode"])
    values: "list[YamlNode]" = field(default_factory=list["YamlNode"])
    target: "YamlNode | None" = None
    size: int = 1
    levels: int = 1

    @property
    def block(self) -> bool:
        """Whether it is a map or a list that stands in lines of its own."""
        return self.kind in {"map", "list"} and not self.flow

    @property
    def empty(self) -> bool:
        """Whether nothing is written for it, which means null."""
        return self.kind == "scalar" and self.inner == self.end and not self.style

    def walk(self) -> Iterator["YamlNode"]:
        """The node and all that is written below it, in order."""
        waiting: list[YamlNode] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.keys:
                pairs = zip(reversed(node.keys), reversed(node.values), strict=True)
                waiting += (each for key, value in pairs for each in (value, key))
            else:
                waiting += reversed(node.values)


@dataclass(frozen=True, slots=True)
class YamlStream:
    """All documents of a text.

    Attributes:
        text: The text.
        roots: The outermost node of each.
        ends: Where each ends.
    """

    text: str
    roots: list[YamlNode]
    ends: list[int]


def read(text: str, *, file: str = "", independent: bool = False) -> YamlStream:
    """Read a text; `independent` has it read by the other of the two parsers.

    Raises:
        DocumentBroken: it cannot be read, or is more than is read.
    """
    builder = _Builder(text, file)
    if where := forbidden(text):
        builder.fail(where.start(), f"the character U+{ord(where.group()):04X} is not allowed")
    loader = yaml.SafeLoader if independent else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in _events(text.removeprefix(BOM), loader):
            builder.take(event)
    except yaml.YAMLError as error:
        offset, sentence = fault_of(error, text)
        builder.fail(offset + builder.shift, sentence)
    return YamlStream(text, builder.roots, builder.ends)


def _events(text: str, loader: object) -> Iterator[_Event]:
    return cast("Any", yaml).parse(text, Loader=loader)


class _Builder:
    """Puts the events together."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.shift = len(text) - len(text.removeprefix(BOM))
        self.roots: list[YamlNode] = []
        self.ends: list[int] = []
        self._open: list[YamlNode] = []
        self._anchors: dict[str, YamlNode] = {}
        self._aliased = 0

    def fail(self, offset: int, sentence: str) -> NoReturn:
        """Give up on the text."""
        place = Lines(self.text, self.file).place(offset)
        raise DocumentBroken.of(Problem("", sentence, place))

    def take(self, event: _Event) -> None:
        """Add what an event tells."""
        if isinstance(event, yaml.ScalarEvent):
            self._add(self._scalar(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._finish(event)
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, yaml.DocumentEndEvent):
            self.ends.append(self._start(event))
            self._anchors = {}

    def _start(self, event: _Event) -> int:
        return cast("int", event.start_mark.index) + self.shift

    def _end(self, event: _Event) -> int:
        return cast("int", event.end_mark.index) + self.shift

    def _scalar(self, event: yaml.ScalarEvent) -> YamlNode:
        start, end = self._start(event), self._end(event)
        style = event.style or ""
        node = YamlNode("scalar", start, start, end, event.value, style, tag=event.tag or "")
        node.flow = bool(self._open) and self._open[-1].flow
        self._name(node, event)
        if style in {"|", ">"}:
            node.end = _last_line(self.text, node.inner, end)
        return node

    def _alias(self, event: yaml.AliasEvent) -> YamlNode:
        start, name = self._start(event), str(event.anchor)
        target = self._anchors.get(name)
        if target is None:
            self.fail(start, f'the alias "*{name}" refers to no anchor above it')
        if any(target is each for each in self._open):
            self.fail(start, f'the alias "*{name}" refers to what it is a part of')
        self._aliased += target.size
        if self._aliased > MAX_ALIASED:
            self.fail(start, f"aliases stand for more than {MAX_ALIASED:,} values")
        if len(self._open) + target.levels > MAX_DEPTH:
            self.fail(start, f"nested too deeply: more than {MAX_DEPTH} levels")
        node = YamlNode("alias", start, start, self._end(event), name, target=target)
        node.size, node.levels = target.size, target.levels
        node.flow = bool(self._open) and self._open[-1].flow
        return node

    def _name(self, node: YamlNode, event: yaml.NodeEvent) -> None:
        """Note the anchor of a node, and where it begins behind that and its tag."""
        node.anchor = event.anchor or ""
        if node.anchor or node.tag:
            match = _PROPERTIES.match(self.text, node.start)
            node.inner = min(match.end(), max(node.end, node.start)) if match else node.start
        if node.anchor:
            self._anchors[node.anchor] = node

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        start = self._start(event)
        if len(self._open) >= MAX_DEPTH:
            self.fail(start, f"nested too deeply: more than {MAX_DEPTH} levels")
        kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
        node = YamlNode(kind, start, start, len(self.text), tag=event.tag or "")
        node.flow = bool(event.flow_style)
        self._name(node, event)
        if node.flow:
            # The one pair of a map in brackets needs no braces.
            node.inner = max(self._end(event) - 1, start)
        self._open.append(node)

    def _finish(self, event: yaml.CollectionEndEvent) -> None:
        node = self._open.pop()
        if node.flow:
            node.end = self._end(event)
        else:
            node.end = node.values[-1].end
        self._add(node)

    def _add(self, node: YamlNode) -> None:
        if not self._open:
            self.roots.append(node)
            return
        above = self._open[-1]
        if above.kind == "map" and len(above.keys) == len(above.values):
            above.keys.append(node)
        else:
            above.values.append(node)
        above.size += node.size
        above.levels = max(above.levels, node.levels + 1)


def _last_line(text: str, start: int, end: int) -> int:
    """The end of the last line of a block scalar that ends before an offset."""
    body = text[start:end]
    if _KEPT.match(body):
        final = _FINAL_BREAK.search(body)
        return start + final.start() if final else end
    # White space that is indented more than the first line is content.
    most = _indent(body)
    at = len(body)
    while (cut := _break_before(body, at)) > 0:
        if body[cut + 1 : at].strip(" ") or at - cut - 1 > most:
            break
        at = cut - int(body.startswith("\r\n", cut - 1))
    return start + at


def _break_before(body: str, at: int) -> int:
    """Where the last character that ends a line stands before an offset."""
    cut = body.rfind("\n", 0, at)
    return max(cut, body.rfind("\r", cut + 1, at))


def content_indent(text: str, node: YamlNode) -> int:
    """How much the lines of a block scalar are indented; 0 where it says so itself."""
    return _indent(text[node.inner : node.end])


def _indent(body: str) -> int:
    first = _FIRST_LINE.search(body)
    return len(first[1]) if first and not _INDICATED.match(body) else 0
