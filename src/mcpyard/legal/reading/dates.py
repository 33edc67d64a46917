"""The days that a file states as data: in front matter, or in a line of JSON."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from mcpyard.legal.model import BrokenText
from mcpyard.legal.notices import say_here

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_NAMES: Final = ("version_date", "in_force_from", "in_force_until")


def stated_days(members: Mapping[str, str]) -> tuple[str, str, str]:
    """The day of the version, its first day in force and its first day without; may be empty.

    Raises:
        BrokenText: One of them is no day, or a version ends before it begins.
    """
    version, first, last = (members.get(name, "") for name in _NAMES)
    for name, text in zip(_NAMES, (version, first, last), strict=True):
        if text and not _is_day(text):
            raise BrokenText(say_here("wrong_date", name=name, date=text))
    if last and last <= (first or version):
        raise BrokenText(say_here("wrong_end", end=last, start=first or version))
    return version, first, last


def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
