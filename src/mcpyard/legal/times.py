"""When a law is in force: what its own text says, and what follows from other versions."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Final

from mcpyard.legal.model import LegalDocument
from mcpyard.legal.notices import say
from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.titles import key

_DAY: Final = r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日"
_IN_FORCE: Final = re.compile(
    rf"(?:本法|本条例|本规定|本办法|本修正案|本法典|本规则|本决定)\s*自\s*{_DAY}\s*起\s*(?:施行|生效)"
)
_AT_ONCE: Final = re.compile(
    "(?:本法|本条例|本规定|本办法|本修正案)自(?:公布|发布)之日起(?:施行|生效)"
)

# 2018年8月31日通过 自2019年1月1日起施行 has one day of each kind; 1999年3月15日公布施行 is both.
_INFO_IN_FORCE: Final = re.compile(
    rf"{_DAY}(?:(?!\d{{4}}\s*年|通过|修[订正]|(?:公布|颁布|发布)(?!之日起?施行|并?施行))[^\n]){{0,20}}?"
    "(?:施行|生效)"
)
_REPEAL: Final = re.compile(r"((?:[^。;]*?《[^》]+》)+)[^。;]{0,30}同时废止")
_QUOTED: Final = re.compile("《([^》]+)》")
_LAST_ARTICLES: Final = 6


class DateBasis(StrEnum):
    """Where the first day in force comes from."""

    FILE = "file"
    TEXT = "text"
    TABLE = "table"
    ASSUMED = "assumed"


class LawStatus(StrEnum):
    """Whether a version is in force on a day."""

    IN_FORCE = "in force"
    NOT_YET = "not yet in force"
    SUPERSEDED = "superseded"
    REPEALED = "repealed"


@dataclass(frozen=True, slots=True)
class RepealStatement:
    """A law that a text ends, and the article that says so."""

    name: str
    label: str


class BadDate(ValueError):
    """A day that is none."""


def today() -> str:
    """The day that counts where nobody says another."""
    return datetime.now(UTC).date().isoformat()


def read_day(text: str) -> str:
    """A day as it is stored; today for an empty text.

    Raises:
        BadDate: It is no day.
    """
    if not text.strip():
        return today()
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise BadDate(say("bad_day", text=text[:40])) from None


def from_text(document: LegalDocument) -> str:
    """The first day in force that the last articles of a text say; empty when they say none.

    An amended text still names the first day of the law as it once was: a day before that of the
    version is not the version's.
    """
    for passage in reversed(document.passages[-_LAST_ARTICLES:]):
        text = normal(passage.text)
        if match := _IN_FORCE.search(text):
            day = _day(match)
            return day if day >= document.version_date else ""
        if _AT_ONCE.search(text) and document.version_date:
            return document.version_date
    return ""


def without_first_day(line: str) -> str:
    """A line before a text without the day on which it came into force, if it says one alone."""
    return _INFO_IN_FORCE.sub(
        lambda match: match[0] if re.search("公布|颁布|发布", match[0]) else " ", normal(line)
    )


def from_info(lines: Iterable[str]) -> str:
    """The first day in force that the lines before a text say."""
    days = [_day(match) for line in lines for match in _INFO_IN_FORCE.finditer(normal(line))]
    return max(days, default="")


def repeals_in(document: LegalDocument) -> list[RepealStatement]:
    """The laws that the last articles of a text end, and not the law itself."""
    own = key(document.title)
    statements = [
        RepealStatement(key(name), passage.label)
        for passage in document.passages[-_LAST_ARTICLES:]
        for sentence in _REPEAL.findall(normal(passage.text))
        for name in _QUOTED.findall(sentence)
    ]
    return [each for each in statements if each.name != own]


def status(valid_from: str, valid_until: str, end: str, as_of: str) -> LawStatus:
    """Whether a version is in force on a day; `end` says what ends it."""
    if valid_from > as_of:
        return LawStatus.NOT_YET
    if valid_until and valid_until <= as_of:
        return LawStatus(end)
    return LawStatus.IN_FORCE


def _day(match: re.Match[str]) -> str:
    year, month, day = (int(each) for each in match.groups()[:3])
    return f"{year:04}-{month:02}-{day:02}"
