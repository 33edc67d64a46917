"""Which values must not be shown, and what is shown instead.

A reference to a variable is no secret, nor are a few characters around it, as in
`Bearer ${TOKEN}`; a key with a reference in it is one.
"""

import re
from collections.abc import Mapping
from typing import Final

REFERENCE: Final = re.compile(r"\$\{[^}]*+\}?")
"""A reference in a definition of the yard.

One that is never closed is matched too, so that none of its characters is looked at again.
"""

_SHOWN_AROUND: Final = 16
"""Characters around references that are shown."""

_HINT: Final = 4
_LONG_ENOUGH_FOR_A_HINT: Final = 16


def is_literal(value: str, reference: re.Pattern[str] = REFERENCE) -> bool:
    """Whether a value is more than references and a word or two around them."""
    around = reference.sub(_unless_open, value)
    return around == value or len(around) > _SHOWN_AROUND


def _unless_open(reference: re.Match[str]) -> str:
    text = reference.group()
    return "" if "{" not in text or text.endswith("}") else text


def mask(value: str) -> dict[str, object]:
    """What stands for a value."""
    hint = f"...{value[-_HINT:]}" if len(value) >= _LONG_ENOUGH_FOR_A_HINT else ""
    return {"masked": True, "hint": hint}


def masked(values: Mapping[str, str]) -> dict[str, object]:
    """The values of a definition as they may be shown."""
    return {name: shown_value(value) for name, value in values.items()}


def shown_value(value: str) -> object:
    """A value of a definition as it may be shown."""
    return mask(value) if is_literal(value) else value
