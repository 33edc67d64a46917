"""Items of maps and lists in braces and brackets: put in, taken out, with their commas."""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcpyard.formats.editors.yaml_lines import (
    column,
    line_above,
    line_end,
    line_start,
    mark,
    newline_of,
    past_space,
)
from mcpyard.formats.editors.yaml_nodes import YamlNode

Splice: TypeAlias = tuple[int, int, str]

_REST: Final = re.compile(r"[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class _Items:
    """Where the items of a map or a list stand, and whether the last has a line of its own."""

    text: str
    node: YamlNode

    def start(self, index: int) -> int:
        """Where an item starts."""
        above = self.node.keys if self.node.kind == "map" else self.node.values
        start = above[index].start
        if self.node.kind == "map" and self.text.startswith("?", self._gap(index)):
            return self._gap(index)
        return start

    def end(self, index: int) -> int:
        """Where an item ends, before its comma."""
        value = self.node.values[index]
        if self.node.kind == "list" or value.end > value.start:
            return value.end
        key = self.node.keys[index]
        colon = mark(self.text, key.end)
        return colon + 1 if self.text.startswith(":", colon) else key.end

    def comma(self, index: int) -> int | None:
        """Where the comma behind an item stands."""
        at = mark(self.text, self.end(index))
        return at if self.text.startswith(",", at) else None

    def own_line(self, index: int) -> bool:
        """Whether an item begins a line, which the bracket does not stand in."""
        start = self.start(index)
        begin = line_start(self.text, start)
        return begin > self.node.inner and not self.text[begin:start].strip(" \t")

    def _gap(self, index: int) -> int:
        if not index:
            return mark(self.text, self.node.inner + 1)
        comma = self.comma(index - 1)
        return mark(self.text, self.end(index - 1) if comma is None else comma + 1)


def flow_span(text: str, node: YamlNode, index: int) -> tuple[int, int]:
    """Where an item starts and ends, without its comma."""
    items = _Items(text, node)
    return items.start(index), items.end(index)


def put_in(text: str, node: YamlNode, position: int, new: list[str]) -> list[Splice]:
    """Put items in before the one at a position, or at the end."""
    items = _Items(text, node)
    if not node.values:
        return [(node.inner + 1, node.inner + 1, ", ".join(new))]
    if position < len(node.values):
        start = items.start(position)
        between = _between(items, position)
        return [(start, start, "".join(f"{each},{between}" for each in new))]
    last = len(node.values) - 1
    between = _between(items, last)
    comma = items.comma(last)
    if comma is not None:
        at = _insertion(text, comma + 1, own_line=between != " ")
        return [(at, at, "".join(f"{between}{each}," for each in new))]
    end = items.end(last)
    comma_text = ","
    if text.startswith(":", end - 1):
        # A key without a value: a comma right behind its colon would be part of the key.
        blank = text.startswith((" ", "\t"), end)
        end, comma_text = end + blank, "," if blank else " ,"
    at = _insertion(text, end, own_line=between != " ")
    added = between + f",{between}".join(new)
    if at == end:
        return [(end, end, comma_text + added)]
    return [(end, end, comma_text), (at, at, added)]


def take_from(text: str, node: YamlNode, doomed: list[int]) -> list[Splice]:
    """Take items out."""
    items = _Items(text, node)
    last = len(node.values) - 1
    if len(doomed) == len(node.values):
        comma = items.comma(last)
        return [(items.start(0), items.end(last) if comma is None else comma + 1, "")]
    tail = last
    while tail in doomed:
        tail -= 1
    splices = [(items.start(i), _next(items, i), "") for i in doomed if i < tail]
    return splices + (_take_tail(items, tail) if tail < last else [])


def _between(items: _Items, index: int) -> str:
    """What stands between two items: a line end with an indent, or a space."""
    if not items.own_line(index):
        return " "
    indent = column(items.text, items.start(index))
    return newline_of(items.text) + " " * indent


def _insertion(text: str, at: int, *, own_line: bool) -> int:
    """Where an item of its own line goes: behind the comment of the line above it."""
    rest = _REST.match(text, at) if own_line else None
    return rest.end() if rest else at


def _next(items: _Items, index: int) -> int:
    """Where what comes behind an item, its comma and its comment starts."""
    comma = items.comma(index)
    at = items.end(index) if comma is None else comma + 1
    rest = _REST.match(items.text, at)
    return past_space(items.text, rest.end() if rest else at)


def _take_tail(items: _Items, stays: int) -> list[Splice]:
    """Take out all items behind one that stays."""
    text, last = items.text, len(items.node.values) - 1
    comma = items.comma(stays) or items.end(stays)
    start = comma + 1
    trailing = items.comma(last)
    end = items.end(last) if trailing is None else trailing + 1
    rest = _REST.match(text, end)
    if line_end(text, start) < items.start(stays + 1):
        first = items.start(stays + 1)
        above = line_above(text, first)
        # A bracket in the line of the last item must not come behind a comment.
        start = first if rest is None and "#" in text[start:above] else above
    if rest and rest.group().strip() and items.own_line(last):
        end = rest.end()
    taken = [(start, end, "")]
    return taken if trailing is not None else [(comma, comma + 1, ""), *taken]
