"""Whether a sequence goes on where another one ended."""

from collections.abc import Sequence
from operator import is_


def is_continued(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether what was there is there still, the very same objects, with others behind them."""
    return len(before) <= len(after) and all(map(is_, before, after))
