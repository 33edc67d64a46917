"""The piece of a long text that shows why it was found."""

import re
from typing import Final

from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.terms import Runs, pairs_of

_BEFORE: Final = 80
_SHORTEST_STEM: Final = 4
_MORE: Final = "…"


def excerpt(text: str, query: Runs, width: int) -> str:
    """The text, or as much of it as the width allows around the place with the most of a query."""
    if len(text) <= width:
        return text
    # Places are counted in the text itself, so only a form of the same length will do.
    lowered = plain(text)
    places = _places(lowered if len(lowered) == len(text) else text.lower(), query)
    start = max(0, min(_densest(places, width - _BEFORE) - _BEFORE, len(text) - width))
    end = start + width
    return f"{_MORE if start else ''}{text[start:end]}{_MORE if end < len(text) else ''}"


def _places(text: str, query: Runs) -> list[int]:
    patterns = [re.escape(each) for each in (*query.chinese, *pairs_of(query))]
    patterns += [_stem(word) for word in query.words]
    return sorted(match.start() for each in patterns for match in re.finditer(each, text))


def _densest(places: list[int], width: int) -> int:
    """The first place of those that have the most others behind them, within a width."""
    counts = [(sum(place <= other < place + width for other in places), -place) for place in places]
    return -max(counts, default=(0, 0))[1]


def _stem(word: str) -> str:
    """The index looks for stems, so obligations is found by obligation and the other way round."""
    stem = word if len(word) <= _SHORTEST_STEM else word[: max(_SHORTEST_STEM, len(word) - 2)]
    return rf"\b{re.escape(stem)}"
