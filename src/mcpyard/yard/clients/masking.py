"""Which values of other programs' files are secrets, and how they are shown instead."""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.yard.records import masked

_REFERENCE: Final = re.compile(
    r"\$\{[^}]*\}|\{(?:env|file):[^}]*\}|\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9])"
)
"""A reference in any client's way of writing one."""

_SHOWN_AROUND: Final = 16
"""Characters around a reference that are shown, as in `Bearer ${TOKEN}`."""


def is_secret(value: str) -> bool:
    """Whether a value is more than references and a word or two around them."""
    literal = _REFERENCE.sub("", value)
    return bool(value) and (literal == value or len(literal) > _SHOWN_AROUND)


def shown_values(values: Mapping[str, str]) -> dict[str, object]:
    """Values as they may be shown."""
    hidden = masked({name: value for name, value in values.items() if is_secret(value)})
    return {name: hidden.get(name, value) for name, value in values.items()}
