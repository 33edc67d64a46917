"""How values look in the tables.

JSON is the standard library's here: it keeps every number as it was given, however long.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_text(value: Mapping[str, object]) -> str:
    """An object as JSON, its members in their order."""
    return json.dumps(value, separators=(",", ":"))


def from_text(text: str) -> dict[str, Any]:
    """The object a text stands for."""
    return json.loads(text)


def digest(content: bytes) -> str:
    """The SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def to_micros(moment: datetime) -> int:
    """A moment in microseconds since 1970."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that many microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=micros)


def maybe_from_micros(micros: int | None) -> datetime | None:
    """The moment, if there is one."""
    return None if micros is None else from_micros(micros)
