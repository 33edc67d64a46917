"""Rows as values: the tables see to types, and not to what stands in a text.

A version that is gone, or a hand in the file, may have written what this one cannot read.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

from mcpyard.domain.errors import StateBroken

log = logging.getLogger(__name__)

T = TypeVar("T")

UNREADABLE: Final = (ValueError, TypeError, OverflowError)
"""What reading raises where a value is none of those that can be."""


def readable(rows: Iterable[tuple[Any, ...]], read: Callable[..., T], what: str) -> Iterator[T]:
    """What rows say; one that cannot be read is left out, with a word in the log."""
    for row in rows:
        try:
            item = read(*row)
        except UNREADABLE as error:
            log.warning("%s in the state cannot be read and is skipped: %s", what, error)
        else:
            yield item


def every(rows: Iterable[tuple[Any, ...]], read: Callable[..., T], what: str) -> Iterator[T]:
    """What rows say that none may be missing of: without it, something else would run.

    Raises:
        StateBroken: One cannot be read.
    """
    for row in rows:
        try:
            yield read(*row)
        except UNREADABLE as error:
            raise StateBroken(f"{what} in the state cannot be read: {error}") from error
