"""What several callers of a server together want to hear of it."""

from collections.abc import Iterable
from typing import Final

from mcpyard.domain.ports import NotificationInterest

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The log levels of MCP, the most verbose first."""


def combine_interests(interests: Iterable[NotificationInterest]) -> NotificationInterest:
    """The most verbose level, and all resources, that anybody wants."""
    every = [*interests]
    levels = [LEVELS.index(each.log_level) for each in every if each.log_level]
    return NotificationInterest(
        LEVELS[min(levels)] if levels else None,
        frozenset[str]().union(*(each.uris for each in every)),
    )
