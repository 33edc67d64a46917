"""Numbers out of texts that strangers wrote.

Python reads the digits of every script as numbers, and takes the longer the more of them there are;
what we number and count is written in plain ones, and few.
"""

from typing import Final

MOST: Final = 10**18 - 1
"""More than we ever count to; the largest number of nines that every database holds."""


def whole_number(text: str, most: int = MOST) -> int | None:
    """The number from 0 to `most` that a text of plain digits says; None for any other text."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    number = int(text)
    return number if number <= most else None
