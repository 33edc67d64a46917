"""Taking back what an edit did to some lines of a text, after others changed other lines of it."""

from difflib import SequenceMatcher
from typing import Final, NamedTuple

_MOST: Final = 4_000_000
"""Pairs of lines that are compared at most; texts that differ in more are not put together."""


class _Block(NamedTuple):
    """Lines that two texts have in common: where they start in each, and how many they are."""

    left: int
    right: int
    size: int


def merged_back(before: str, after: str, now: str) -> str | None:
    """The text that an edit from `before` to `after` turned into `now`, together with others.

    None where others changed the same lines.
    """
    then, left, lines = _lines(before), _lines(after), _lines(now)
    unchanged, shared = _common(left, then), _common(left, lines)
    if unchanged is None or shared is None:
        return None
    start = then_start = 0
    splices: list[tuple[int, int, list[str]]] = []
    for block in unchanged:
        end, then_end = block.left, block.right
        if (start, then_start) != (end, then_end):
            offset = _offset(shared, start, end)
            if offset is None:
                return None
            splices.append((start + offset, end + offset, then[then_start:then_end]))
        start, then_start = end + block.size, then_end + block.size
    for first, last, new in reversed(splices):
        lines[first:last] = new
    merged = "".join(lines)
    return merged if now.endswith("\n") else merged.removesuffix("\n")


def _offset(shared: list[_Block], start: int, end: int) -> int | None:
    """How far lines moved that nobody else changed; None where somebody did."""
    for block in shared:
        if block.left <= start and end <= block.left + block.size:
            return block.right - block.left
    return None


def _common(left: list[str], right: list[str]) -> list[_Block] | None:
    """The lines that two texts have in common, the empty end of both included."""
    shortest = min(len(left), len(right))
    head = 0
    while head < shortest and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shortest - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(a) * len(b) > _MOST:
        return None
    matches = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]
    middle = [_Block(head + it.a, head + it.b, it.size) for it in matches]
    end = _Block(len(left) - tail, len(right) - tail, tail)
    return [_Block(0, 0, head), *middle, end]


def _lines(text: str) -> list[str]:
    """The lines of a text; the last one ends like the others, as it does once more follow it."""
    return (text if text.endswith("\n") else f"{text}\n").splitlines(keepends=True)
