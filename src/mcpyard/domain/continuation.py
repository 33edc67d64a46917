"""Whether a sequence goes on where another one ended, and what stays of it."""

from collections.abc import Mapping, Sequence
from itertools import islice
from operator import is_
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def is_continued(before: Sequence[object], after: Sequence[object]) -> bool:
    """Whether what was there is there still, the very same objects, with others behind them."""
    return len(before) <= len(after) and all(map(is_, before, after))


def first_items(items: Mapping[_Key, _Value], count: int) -> dict[_Key, _Value]:
    """The first items of a mapping."""
    # Most of the time it is all of them, and a dictionary is copied far faster than built.
    return dict(items) if count == len(items) else dict(islice(items.items(), count))
