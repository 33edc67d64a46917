"""Characters that are not seen but change what is seen: they are shown as a replacement character.

Control characters, zero-width and bidirectional ones, Unicode tags, and halves of characters. A
server can hide instructions to a model in them, or turn a text around.
"""

import json
import re
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
"""One variation selector belongs to an emoji; further ones carry something else."""


def escaped_json(text: str) -> str:
    """JSON in which no such character stands as itself; its values are the same."""
    # Outside of strings, where there are no escapes, it may only be the end of a line.
    return _INVISIBLE.sub(_escape, text.replace("\r", " "))


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


def visible(text: str) -> str:
    """A text with every such character replaced; tabs and line breaks stay."""
    return _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", text)
