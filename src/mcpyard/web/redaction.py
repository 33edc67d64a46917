"""Secrets on the page: not to be read, but to be seen that they are there."""

from typing import Final

from mcpyard.domain.definition.merge import is_mask
from mcpyard.domain.definition.secret_names import names_secret
from mcpyard.domain.narrowing import is_object

HIDDEN: Final = "••••••"


def redacted(value: str) -> str:
    """A value that nobody should read over a shoulder; a reference to a variable is none."""
    return value if "${" in value else f"{HIDDEN} ({len(value)})"


def redacted_members(members: dict[str, object]) -> dict[str, object]:
    """An object, with what its words call a secret hidden."""
    return {word: _redacted_member(word, value) for word, value in members.items()}


def _redacted_member(word: str, value: object) -> object:
    if is_mask(value):
        return HIDDEN
    if isinstance(value, str) and names_secret(word):
        return redacted(value)
    return redacted_members(value) if is_object(value) else value
