"""What a copy or an edit wants to be told about, with a kind that a program can act on."""

from dataclasses import dataclass
from enum import StrEnum

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.narrowing import is_mapping, is_sequence


class WarningKind(StrEnum):
    """What became of a field."""

    INFO = "info"
    UNSUPPORTED = "unsupported"
    TRANSLATED = "translated"
    APPROXIMATED = "approximated"
    RELOCATED = "relocated"
    UNUSABLE = "unusable"
    NEEDS_TRUST = "needs_trust"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Warned:
    """One thing to tell.

    Attributes:
        kind: What became of the field.
        field: The field, in the words of the file that it comes from; empty for all of the entry.
        shape: What the value is, with nothing of a text in it.
        message: Why, as the rest of a sentence that the field begins.
    """

    kind: WarningKind
    field: str
    shape: str
    message: str


def shape_of_value(value: object) -> str:
    """A value in words that give nothing of its texts away."""
    if is_mapping(value):
        return f"an object of {len(value)}"
    if is_sequence(value):
        return f"a list of {len(value)}"
    return "a string" if isinstance(value, str) else describe(value)
