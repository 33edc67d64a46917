"""How much of the journal of calls, and of what is recorded of them, is kept."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Self

from msgspec import Struct

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem

CALLS: Final = 100_000
"""Lines of about 150 bytes."""

DAYS: Final = 30

CONTENTS_MB: Final = 64
CONTENTS_DAYS: Final = 7

_MOST_CALLS: Final = 10_000_000
_MOST_DAYS: Final = 3650
_MOST_MB: Final = 100_000


class JournalLimits(Struct, frozen=True):
    """How many calls are kept at most, and for how many days.

    Of what is recorded of them, so many megabytes are kept for so many days.
    """

    calls: int = CALLS
    days: int = DAYS
    contents_mb: int = CONTENTS_MB
    contents_days: int = CONTENTS_DAYS

    @property
    def age(self) -> timedelta:
        """How old a line may become."""
        return timedelta(days=self.days)

    @property
    def contents_age(self) -> timedelta:
        """How old what is recorded of a call may become."""
        return timedelta(days=self.contents_days)

    @property
    def contents_bytes(self) -> int:
        """How much may be recorded in all."""
        return self.contents_mb * 1024 * 1024

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """The limits that an environment sets.

        Raises:
            ArgumentsRefused: A variable is no number, or too small or too large.
        """
        return cls(
            _read(environment, "MCPYARD_JOURNAL_CALLS", _MOST_CALLS) or CALLS,
            _read(environment, "MCPYARD_JOURNAL_DAYS", _MOST_DAYS) or DAYS,
            _read(environment, "MCPYARD_RECORD_MB", _MOST_MB) or CONTENTS_MB,
            _read(environment, "MCPYARD_RECORD_DAYS", _MOST_DAYS) or CONTENTS_DAYS,
        )


def _read(environment: Mapping[str, str], variable: str, most: int) -> int | None:
    text = environment.get(variable)
    if not text:
        return None
    number = whole_number(text, most)
    if not number:
        problem = Problem(variable, f'must be a whole number from 1 to {most}, not "{text[:40]}"')
        advice = f"Set {variable} to a number, or unset it for the default."
        raise ArgumentsRefused.of(problem).advising(advice)
    return number
