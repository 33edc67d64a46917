"""Which values must not be shown, and what is shown instead.

A reference to a variable is no secret, nor are a few characters around it, as in
`Bearer ${TOKEN}`; a key with a reference in it is one.
"""

from collections.abc import Mapping
from typing import Final

from mcpyard.domain.definition.secret_text import is_literal

_HINT: Final = 4
_LONG_ENOUGH_FOR_A_HINT: Final = 16


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
