"""How much of the journal of calls is kept, as the environment says."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Self

from msgspec import Struct

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem

CALLS: Final = 100_000
"""Lines of about 150 bytes."""

DAYS: Final = 30

_MOST_CALLS: Final = 10_000_000
_MOST_DAYS: Final = 3650


class JournalLimits(Struct, frozen=True):
    """How many calls are kept at most, and for how many days."""

    calls: int = CALLS
    days: int = DAYS

    @property
    def age(self) -> timedelta:
        """How old a line may become."""
        return timedelta(days=self.days)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """The limits that an environment sets.

        Raises:
            ArgumentsRefused: A variable is no number, or too small or too large.
        """
        return cls(
            _read(environment, "MCPYARD_JOURNAL_CALLS", _MOST_CALLS) or CALLS,
            _read(environment, "MCPYARD_JOURNAL_DAYS", _MOST_DAYS) or DAYS,
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
