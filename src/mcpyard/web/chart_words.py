"""What a script needs to label charts."""

from typing import Final

from mcpyard.web.badges import OUTCOMES
from mcpyard.web.catalogues import Catalogue

_WORDS: Final = (
    *("time", "calls", "none", "median", "p95", "middle", "most", "memory", "cpu", "summary"),
    *("sampled", "used"),
)


def chart_words(t: Catalogue) -> dict[str, object]:
    """Words, and what each outcome is called and looks like."""
    outcomes = {
        each: {"text": t(f"charts.outcome.{each}"), "tone": tone} for each, tone in OUTCOMES.items()
    }
    words: dict[str, object] = {each: t(f"charts.{each}") for each in _WORDS}
    return words | {"outcomes": outcomes}
