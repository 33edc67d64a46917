"""JSON as a tree to fold: bounded, so that no answer of a server makes a page too large."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.web.filters import inert, pretty

MOST: Final = 2_000
DEEPEST: Final = 40
OPEN_TO: Final = 2
"""Levels that are open at first."""

_LONGEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A value, with the name or the position it has in the one around it.

    Attributes:
        kind: `object`, `array`, `string`, or `word` for any other value.
        key: Its name, quoted, or its position; empty for the whole.
        text: The value itself; of an object or array, how many it holds.
        children: What it holds.
        left_out: How many of these are not shown.
        open: Whether it is open at first.
    """

    kind: str
    key: str
    text: str
    children: tuple["TreeNode", ...] = field(default=())
    left_out: int = 0
    open: bool = False


def json_tree(value: object) -> TreeNode:
    """The tree of a value."""
    return _Builder().node("", value, 0)


class _Builder:
    def __init__(self) -> None:
        self._left = MOST

    def node(self, key: str, value: object, depth: int) -> TreeNode:
        self._left -= 1
        if is_object(value) and value:
            pairs = ((pretty(name), each) for name, each in value.items())
            return self._branch("object", key, pairs, len(value), depth)
        if is_array(value) and value:
            pairs = ((str(at), each) for at, each in enumerate(value))
            return self._branch("array", key, pairs, len(value), depth)
        text = pretty(value)[:_LONGEST]
        return TreeNode("string" if isinstance(value, str) else "word", inert(key), text)

    def _branch(
        self, kind: str, key: str, pairs: Iterable[tuple[str, object]], size: int, depth: int
    ) -> TreeNode:
        children: list[TreeNode] = []
        if depth < DEEPEST:
            for name, each in pairs:
                if self._left <= 0:
                    break
                children.append(self.node(name, each, depth + 1))
        return TreeNode(
            kind, key, str(size), tuple(children), size - len(children), depth < OPEN_TO
        )
