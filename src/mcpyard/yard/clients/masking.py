"""Which values of other programs' files are secrets, and how they are shown instead."""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.yard.masking import is_literal, mask

_REFERENCE: Final = re.compile(
    r"\$\{[^}]*+\}?|\{(?:env|file):[^}]*+\}?|\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9])"
)
"""A reference in any client's way of writing one."""


def is_secret(value: str) -> bool:
    """Whether a value is more than references and a word or two around them."""
    return bool(value) and is_literal(value, _REFERENCE)


def shown_values(values: Mapping[str, str]) -> dict[str, object]:
    """Values as they may be shown."""
    return {name: mask(value) if is_secret(value) else value for name, value in values.items()}
