"""The version of a law that a text names, before or after the law or after the article."""

import re
from typing import Final

from mcpyard.legal.query import numerals
from mcpyard.legal.query.titles import STATE

OLD: Final = "old"
"""The version before the current one."""

_DIGIT: Final = "[0-9\u3007\u25cb零一二三四五六七八九]"
_YEAR: Final = (
    rf"(?P<year>(?:19|20|一九|二[\u3007\u25cb零]){_DIGIT}{{2}})"
    r"(?:-(?P<month>\d\d)-(?P<day>\d\d))?"
)
_MADE: Final = "版本?|修订|修正|修改|颁布|公布|通过"
_THEN: Final = "施行|实施|生效|适用|有效|的时候|时候|当时|时"
_NUMBER_NEXT: Final = (
    r"第|\d{1,4}(?![\d月])|[,.]?\s*(?:articles?|arts?|sections?|secs?)\b|[,.]?\s*§|$"
)
_OPENING: Final = rf"\s*的?\s*《?(?:{STATE})?《?"
_BEFORE: Final = re.compile(rf"{_YEAR}\s*年?\s*的?(?:{_MADE}|{_THEN})?{_OPENING}$")
_SHORT_BEFORE: Final = re.compile(
    rf"(?:^|[\s,。、;:(])(?P<short>\d\d)\s*年?(?:{_MADE})?{_OPENING}$"
)
_AGE_BEFORE: Final = re.compile(
    r"(?P<old>旧版?的?|老的?|原来的|原|修[订正改]前的?)?"
    r"(?P<new>新修[订正改]的?|新版?的?|现行的?|最新的?)?"
    rf"《?(?:{STATE})?《?$"
)
_ENGLISH_BEFORE: Final = re.compile(
    rf"\b(?:{_YEAR}\s+(?:(?:version|text|edition|revision|amendment)\s+of\s+)?"
    r"|(?P<old>old|older|former|previous|prior|superseded)\s+(?:version\s+of\s+)?"
    r"|(?P<new>new|newest|current|latest)\s+(?:version\s+of\s+)?)"
    r"(?:(?:the|prc|chinese|china's|people's\s+republic\s+of\s+china)\s+)*$",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(rf"》?\s*\(\s*{_YEAR}\s*年?\s*(?:{_MADE})?本?\s*\)")
_AGE_IN_BRACKETS: Final = re.compile(r"》?\s*\(\s*(?:旧[法版]?|原[法版]?|修[订正改]前|old)\s*\)")
_AGE_BETWEEN: Final = re.compile(r"》?\s*(?:旧[法版]?|原[法版]?|修[订正改]前)的?\s*(?=第|\d)")
# Without brackets only where it cannot be something else: 民法典2021年施行前 names no version.
_AFTER_A_NAME: Final = re.compile(
    rf"》?\s*{_YEAR}\s*(?:年?\s*(?:{_MADE})本?"
    rf"|年?(?:\d{{1,2}}月\d{{1,2}}日?)?(?=\s*的?\s*(?:{_NUMBER_NEXT})))的?",
    re.IGNORECASE,
)
_AFTER_AN_ARTICLE: Final = re.compile(rf"\s*,?\s*{_YEAR}\s*年?\s*(?:(?:{_MADE})本?|$)")
_ENGLISH_AFTER: Final = re.compile(
    r"\s*,?\s*\(?(?:(?:as\s+)?(?:amended|revised|adopted|promulgated|passed|in\s+force)"
    rf"(?:\s+(?:in|on|of|by))?|of|in|version(?:\s+of)?)\s+{_YEAR}\b\)?",
    re.IGNORECASE,
)
_CENTURY: Final = 50


def version_before(text: str, start: int, end: int) -> tuple[str, int] | None:
    """The version in front of a name, which stands from start to end, and where it begins.

    It is empty where the current one is asked for.
    """
    before = text[:start]
    if match := _BEFORE.search(before):
        return _version(match), match.start()
    if (match := _SHORT_BEFORE.search(before)) and re.match(r"》?\s*(?:第|\d)", text[end:]):
        year = int(match["short"])
        return str(year + (2000 if year < _CENTURY else 1900)), match.start("short")
    if match := _ENGLISH_BEFORE.search(before):
        return (_version(match) if match["year"] else OLD if match["old"] else ""), match.start()
    match = _AGE_BEFORE.search(before)
    if match and (match["old"] or match["new"]):
        return (OLD if match["old"] else ""), match.start()
    return None


def version_after_name(text: str, place: int) -> tuple[str, int] | None:
    """The version after the name of a law, and where it ends."""
    if match := _AGE_BETWEEN.match(text, place):
        return OLD, match.end()
    return _either(text, place, _AFTER_A_NAME)


def version_after_article(text: str, place: int) -> tuple[str, int] | None:
    """The version after the number of an article, as in 公司法第26条(2018年), and where it ends."""
    return _either(text, place, _AFTER_AN_ARTICLE)


def _either(text: str, place: int, bare: re.Pattern[str]) -> tuple[str, int] | None:
    if match := _AGE_IN_BRACKETS.match(text, place):
        return OLD, match.end()
    for pattern in (_IN_BRACKETS, bare, _ENGLISH_AFTER):
        if match := pattern.match(text, place):
            return _version(match), match.end()
    return None


def _version(match: re.Match[str]) -> str:
    year = str(numerals.value(match["year"]))
    return "-".join([year, *(each for each in match.group("month", "day") if each)])
