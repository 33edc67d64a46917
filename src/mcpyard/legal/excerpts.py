"""The lines of a result that show why it was found."""

import re
from itertools import pairwise
from typing import Final

from mcpyard.legal.query.terms import Runs, pairs_of, plain

_WIDTH: Final = 160
_BEFORE: Final = 40
_SHORTEST_STEM: Final = 4
_MARK: Final = "**"

Span = tuple[int, int]


def excerpt(text: str, query: Runs) -> str:
    """A piece of the text around the best match, each match between ** and **."""
    flat = " ".join(text.split())
    # Marks are placed by position, so only a normal form of the same length will do.
    lowered = plain(flat)
    lowered = lowered if len(lowered) == len(flat) else flat.lower()
    spans = _spans(lowered, query) if len(lowered) == len(flat) else []
    start = max(0, spans[0][0] - _BEFORE) if spans else 0
    end = min(len(flat), start + _WIDTH)
    marked = _marked(flat, [each for each in spans if each[1] <= end], start, end)
    return f"{'…' if start else ''}{marked}{'…' if end < len(flat) else ''}"


def _spans(text: str, query: Runs) -> list[Span]:
    """Where whole runs and words stand; where no run does, its pairs of characters."""
    whole = [span for run in query.chinese for span in _places(re.escape(run), text)]
    words = [span for word in query.words for span in _places(_stem(word), text)]
    patterns = whole + words
    if not whole:
        patterns += [span for pair in pairs_of(query) for span in _places(re.escape(pair), text)]
    return _merged(sorted(patterns))


def _places(pattern: str, text: str) -> list[Span]:
    return [each.span() for each in re.finditer(pattern, text)]


def _stem(word: str) -> str:
    """The index looks for stems, so obligations is found by obligation and the other way round."""
    stem = word if len(word) <= _SHORTEST_STEM else word[: max(_SHORTEST_STEM, len(word) - 2)]
    return rf"\b{re.escape(stem)}\w*"


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _marked(text: str, spans: list[Span], start: int, end: int) -> str:
    edges = [start, *(edge for span in spans for edge in span), end]
    pieces = [text[first:last] for first, last in pairwise(edges)]
    return "".join(
        f"{_MARK}{piece}{_MARK}" if place % 2 else piece for place, piece in enumerate(pieces)
    )
