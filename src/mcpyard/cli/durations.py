"""Durations in options, such as 90s, 10m, 1h or 30d."""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.cli.cli_errors import usage

_DURATION: Final = re.compile(r"([1-9]\d{0,6})([smhd]?)")
_HOURS: Final = {"": 1, "s": 1, "m": 60, "h": 3600}
_DAYS: Final = {"m": 60, "h": 3600, "d": 86_400}
_LONGEST_LIFE: Final = 3650 * 86_400


def read_duration(option: str, text: str) -> float:
    """The seconds of a duration such as 90, 90s, 10m or 1h."""
    return _read(option, text, _HOURS, "for example: 90s, 10m or 1h")


def read_life(option: str, text: str) -> float:
    """The seconds of a duration such as 30m, 12h or 30d, of ten years at most."""
    seconds = _read(option, text, _DAYS, "for example: 30m, 12h or 30d")
    if seconds > _LONGEST_LIFE:
        raise usage(f"{option}: must be 3650d at most")
    return seconds


def _read(option: str, text: str, units: Mapping[str, int], hint: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None or match[2] not in units:
        raise usage(f'{option}: "{text[:80]}" is not a duration', hint)
    return int(match[1]) * units[match[2]]
