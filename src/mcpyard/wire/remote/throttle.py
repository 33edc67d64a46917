"""`Retry-After`: until when a remote server asks not to be sent anything.

One throttle serves every connection to a server, so that a restart does not go around it.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from math import ceil
from typing import Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.numbers import whole_number

LONGEST: Final = 3600.0
"""Seconds: a server that asks for more is asked again after an hour."""

_STATUSES: Final = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


class Throttle:
    """The time for which one server asks to be left alone."""

    def __init__(self) -> None:
        self._until = 0.0
        self._status = 0

    @property
    def left(self) -> float:
        """Seconds until something may be sent again; 0 where nothing keeps from it."""
        return max(0.0, self._until - time.monotonic()) if self._until else 0.0

    def note(self, status: int, headers: Mapping[str, str]) -> bool:
        """Take note of an answer; whether it asks to wait."""
        if status not in _STATUSES:
            return False
        seconds = retry_after(headers)
        if not seconds:
            return False
        self._until = max(self._until, time.monotonic() + seconds)
        self._status = status
        return True

    def cause(self, *, sent: bool = False, sample: str = "") -> Cause:
        """Why a message fails.

        Args:
            sent: Whether the server got it.
            sample: What the server said about it.
        """
        left = self.left
        text = f"HTTP {self._status}: the server asks to wait {ceil(left)} s (Retry-After)"
        return Cause(
            Code.HTTP_ERROR,
            f"{text}: {sample}" if sample else text,
            hint="Wait; mcpyard sends it nothing until then.",
            # Too many requests are not even looked at; one that is unavailable may have been at it.
            untaken=not sent or self._status == HTTPStatus.TOO_MANY_REQUESTS,
            retry_after=left,
        )


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds of a `Retry-After` header, a number or a date; 0 where there is none of use."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        seconds = whole_number(text)
        return LONGEST if seconds is None else min(float(seconds), LONGEST)
    until = _date(text)
    if until is None:
        return 0.0
    # By the server's own clock, where it says what that shows.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return min(max(0.0, (until - now).total_seconds()), LONGEST)


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # noqa: PLC0415  most say seconds

    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
