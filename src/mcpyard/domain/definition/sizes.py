"""Amounts of memory as people write them: 512MB, 1.5 GiB, 2g."""

import re
from typing import Final

_SIZE: Final = re.compile(r"(?ai)(\d{1,15}(?:\.\d{1,3})?) ?([kmgt]?)(?:i?b)?")
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_NAMES: Final = ("B", "kB", "MB", "GB", "TB")
_STEP: Final = 1024


def read_size(text: str) -> int | None:
    """The number of bytes that a text names; None for any other text.

    Units are powers of 1024, whatever their spelling, as Docker reads them and the page shows them.
    """
    match = _SIZE.fullmatch(text.strip())
    return round(float(match[1]) * _STEP ** _POWERS[match[2].lower()]) if match else None


def size_text(count: int) -> str:
    """A number of bytes in the largest unit of which it is at least one."""
    power = min(max(count.bit_length() - 1, 0) // 10, len(_NAMES) - 1)
    return f"{round(count / _STEP**power, 1):g} {_NAMES[power]}"
