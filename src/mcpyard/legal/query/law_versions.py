"""The version of a law that a text names, before or after the law or after the article.

A version is written as a year, a day (2018-10-26) or a month; as `OLD`; or as `BEFORE` and a day.
"""

import re
from typing import Final

from mcpyard.legal.query import numerals
from mcpyard.legal.query.folding import one_line
from mcpyard.legal.query.titles import STATE

OLD: Final = "old"
"""The version before the current one."""
BEFORE: Final = "<"
"""What stands before a day for the version that was in force until then."""

_DIGIT: Final = "[0-9\u3007\u25cb零一二三四五六七八九]"
_PART: Final = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_YEAR: Final = (
    rf"(?P<year>(?:19|20|一九|二[\u3007\u25cb零]){_DIGIT}{{2}})"
    rf"(?:\s*[-./年]\s*(?P<month>{_PART})(?:\s*[-./月]\s*(?P<day>{_PART})(?!\d)(?:\s*[日号])?|\s*月))?"
)
_TIME_NUMBER: Final = r"第\s*[一二三四五六七八九十\d]{1,3}\s*次"
_TIME: Final = f"(?:{_TIME_NUMBER})?"
_MADE: Final = "版本?|修订|修正|修改|颁布|公布|通过"
_THEN: Final = "施行|实施|生效|适用|有效|的时候|时候|当时|时"
_EARLIER: Final = "(?:以|之)?前"
_NUMBER_NEXT: Final = (
    r"第|\d{1,4}(?![\d月日号])|[,.]?\s*(?:articles?|arts?|sections?|secs?)\b|[,.]?\s*§|$"
)
_OPENING: Final = rf"\s*的?\s*《?(?:{STATE})?《?"
_BEFORE_A_NAME: Final = re.compile(
    rf"{_YEAR}\s*年?\s*的?{_TIME}(?:(?:{_MADE})?(?:以|之)?后|{_MADE}|起?(?:{_THEN}))?{_OPENING}$"
)
_UNTIL_BEFORE_A_NAME: Final = re.compile(
    rf"{_YEAR}\s*年?\s*{_TIME}(?:{_MADE}|{_THEN})?{_EARLIER}(?:{_MADE}|{_THEN})?{_OPENING}$"
)
_SHORT_BEFORE: Final = re.compile(
    rf"(?:^|[\s,。、;:(])(?P<short>\d\d)\s*年?(?:{_MADE})?{_OPENING}$"
)
_OLD_WORDS: Final = (
    "旧版?本?的?|老版?本?的?|(?:原来|以前|从前|过去|先前|此前|(?<![年月日号])之前)的?|原|"
    f"(?:修[订正改]|新法(?:施行|实施|生效)?){_EARLIER}的?"
)
_AGE_BEFORE: Final = re.compile(
    rf"(?P<old>{_OLD_WORDS})?(?P<new>新?修[订正改](?:以|之)?后的?|新修[订正改]的?|新版?的?|现行的?|最新的?)?《?(?:{STATE})?《?$"
)
_ENGLISH_MADE: Final = (
    "amend(?:ed|ment)|revis(?:ed|ion)|adopted|promulgated|passed|version|edition|text"
)
_ENGLISH_MONTH: Final = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_ENGLISH_DAY: Final = rf"(?:(?:{_ENGLISH_MONTH}\s+\d{{1,2}},?|\d{{1,2}}\s+{_ENGLISH_MONTH})\s+)?"
_ENGLISH_BEFORE: Final = re.compile(
    rf"\b(?:{_YEAR}\s+(?:(?:{_ENGLISH_MADE})\s+(?:of\s+)?)?"
    r"|(?P<old>old|older|former|previous|prior|superseded)\s+(?:version\s+of\s+)?"
    r"|(?P<new>new|newest|current|latest)\s+(?:version\s+of\s+)?)"
    r"(?:(?:the|prc|chinese|china's|people's\s+republic\s+of\s+china)\s+)*$",
    re.IGNORECASE,
)
_A_DATE: Final = re.compile(_YEAR)
_IN_BRACKETS: Final = re.compile(r"》?\s*\(([^()]{1,80})\)")
# Brackets that say nothing but when: (1993年通过,2018年10月26日第四次修正), (as amended in 2018).
_WHEN: Final = re.compile(
    rf"{_A_DATE.pattern}|{_TIME_NUMBER}|{_MADE}|{_THEN}|根据|[年本的起于自以之前后、,;\s]"
    rf"|\b(?:as|in|on|of|by|the|last|force)\b|\b(?:{_ENGLISH_MADE})\b|{_ENGLISH_DAY}",
    re.IGNORECASE,
)
_ENDS_BEFORE: Final = re.compile(rf"{_EARLIER}\s*$")
_AGE_IN_BRACKETS: Final = re.compile(
    rf"》?\s*\(\s*(?:旧[法版]?本?|老版?|原[法版]?|修[订正改]{_EARLIER}|old|former)\s*\)"
)
_AGE_BETWEEN: Final = re.compile(
    rf"》?\s*(?:旧[法版]?|老版|原[法版]?|修[订正改]{_EARLIER})的?\s*(?=第|\d)"
)
# Without brackets only where it cannot be something else: 民法典2021年施行前 names no version.
_AFTER_A_NAME: Final = re.compile(
    rf"》?\s*{_YEAR}\s*(?:年?\s*{_TIME}(?:{_MADE})本?|年?(?=\s*的?\s*(?:{_NUMBER_NEXT})))的?",
    re.IGNORECASE,
)
_AFTER_AN_ARTICLE: Final = re.compile(rf"\s*,?\s*{_YEAR}\s*年?\s*(?:{_TIME}(?:{_MADE})本?|$)")
_ENGLISH_AFTER: Final = re.compile(
    r"\s*,?\s*\(?(?:(?:as\s+)?(?:amended|revised|adopted|promulgated|passed|in\s+force)"
    rf"(?:\s+(?:in|on|of|by))?|of|in|version(?:\s+of)?)\s+{_ENGLISH_DAY}{_YEAR}\b\)?",
    re.IGNORECASE,
)
_CURRENT: Final = re.compile(
    "current|latest|newest|new|in force|now|现行|最新|新|当前|有效", re.IGNORECASE
)
_OLDER: Final = re.compile(
    f"old|older|former|previous|prior|旧|老|原|以前|之前|修[订正改]{_EARLIER}", re.IGNORECASE
)
_A_MONTH: Final = re.compile(r"(?:19|20)\d\d-\d\d")
_AROUND: Final = re.compile(
    rf"^\(|\)$|(?:{_MADE}|{_THEN}|{_ENGLISH_MADE}|[的本版法])+$", re.IGNORECASE
)
# Words that may mean a version and were not understood as one.
_MAYBE: Final = re.compile(
    rf"(?:19|20)\d\d\s*[-./年版]|{_TIME_NUMBER}修[订正改]|修[订正改]{_EARLIER}|[旧老][法版]"
    r"|[以之从此]前|过去|\b(?:19|20)\d\d\b|\b(?:former|previous|old)\b",
    re.IGNORECASE,
)
_CENTURY: Final = 50
_WINDOW: Final = 60


def read(version: str) -> str | None:
    """A version as it is named by itself; None for what names none."""
    text = one_line(version).strip("() ")
    if _A_MONTH.fullmatch(text):
        return text
    if _CURRENT.fullmatch(_AROUND.sub("", text)) or not text:
        return ""
    if text == OLD or _OLDER.fullmatch(_AROUND.sub("", text)):
        return OLD
    match = _A_DATE.match(text)
    if match is None or _AROUND.sub("", text[match.end() :].lstrip("年 ")):
        return None
    return _version(match)


def may_name_a_version(rest: str) -> bool:
    """Whether words that were not understood may mean a version."""
    return _MAYBE.search(rest) is not None


def version_before(text: str, start: int, end: int) -> tuple[str, int] | None:
    """The version in front of a name, which stands from start to end, and where it begins.

    It is empty where the current one is asked for.
    """
    window = text, max(0, start - _WINDOW), start
    if match := _BEFORE_A_NAME.search(*window):
        return _version(match), match.start()
    if match := _UNTIL_BEFORE_A_NAME.search(*window):
        return _until(match), match.start()
    if (match := _SHORT_BEFORE.search(*window)) and re.match(r"》?\s*(?:第|\d)", text[end:]):
        year = int(match["short"])
        return str(year + (2000 if year < _CENTURY else 1900)), match.start("short")
    if match := _ENGLISH_BEFORE.search(*window):
        return (_version(match) if match["year"] else OLD if match["old"] else ""), match.start()
    match = _AGE_BEFORE.search(*window)
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
    if (match := _IN_BRACKETS.match(text, place)) and not _WHEN.sub("", match[1]):
        dates = [*_A_DATE.finditer(match[1])]
        if dates:
            is_before = _ENDS_BEFORE.search(match[1])
            return (_until if is_before else _version)(dates[-1]), match.end()
    for pattern in (bare, _ENGLISH_AFTER):
        if match := pattern.match(text, place):
            return _version(match), match.end()
    return None


def _version(match: re.Match[str]) -> str:
    year = str(numerals.value(match["year"]))
    parts = [numerals.value(each) or 0 for each in match.group("month", "day") if each]
    return "-".join([year, *(f"{each:02}" for each in parts)])


def _until(match: re.Match[str]) -> str:
    """The version until the day of a match; a year and a month end where they begin."""
    return BEFORE + "-".join([*_version(match).split("-"), "01", "01"][:3])
