"""Which values of other programs' files are secrets, and how they are shown instead."""

from collections.abc import Mapping

from mcpyard.domain.definition.secret_text import ANY_REFERENCE, is_literal
from mcpyard.yard.masking import mask


def is_secret(value: str) -> bool:
    """Whether a value is more than references and a word or two around them."""
    return bool(value) and is_literal(value, ANY_REFERENCE)


def shown_values(values: Mapping[str, str]) -> dict[str, object]:
    """Values as they may be shown."""
    return {name: mask(value) if is_secret(value) else value for name, value in values.items()}
