"""How much of the journal of calls is kept, as the environment says."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem

CALLS: Final = 100_000
"""Lines of about 150 bytes."""

DAYS: Final = 30

_MOST_CALLS: Final = 10_000_000
_MOST_DAYS: Final = 3650


@dataclass(frozen=True, slots=True)
class JournalLimits:
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
        calls = _read(
            "MCPYARD_JOURNAL_CALLS", environment.get("MCPYARD_JOURNAL_CALLS"), _MOST_CALLS
        )
        days = _read("MCPYARD_JOURNAL_DAYS", environment.get("MCPYARD_JOURNAL_DAYS"), _MOST_DAYS)
        return cls(calls or CALLS, days or DAYS)


def _read(variable: str, text: str | None, most: int) -> int | None:
    if not text:
        return None
    number = whole_number(text, most)
    if not number:
        problem = Problem(variable, f'must be a whole number from 1 to {most}, not "{text[:40]}"')
        advice = f"Set {variable} to a number, or unset it for the default."
        raise ArgumentsRefused.of(problem).advising(advice)
    return number
