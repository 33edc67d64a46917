"""Patterns with `*`, `?` and `[...]` for the names of servers and tools."""

from fnmatch import fnmatchcase
from typing import Final

LONGEST: Final = 1_000
"""Characters; to read a pattern can take the square of its length."""


def fits(name: str, pattern: str) -> bool:
    """Whether a pattern fits a name; one that is too long fits only the name that it is."""
    return name == pattern if len(pattern) > LONGEST else fnmatchcase(name, pattern)


def pattern_of(name: str) -> str:
    """The pattern that fits one name alone."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)
