"""Article numbers in every style: 第九百九十条, 第990条, 第133-1条, 第十四条第二款, Section 2A."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from mcpyard.legal.query.folding import normal

_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "\u3007": 0,
    "\u25cb": 0,
    "两": 2,
    **{digit: value for value, digit in enumerate("壹贰叁肆伍陆柒捌玖", start=1)},
}
_UNITS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_TENS: Final = {"廿": "二十", "卅": "三十", "卌": "四十"}
_MYRIAD: Final = "万"
_LONGEST_RANGE: Final = 10
_WINDOW: Final = 40

_HAN_NUMERAL: Final = "零〇○一二两三四五六七八九十百千万廿卅卌壹贰叁肆伍陆柒捌玖拾佰仟"
# Scanned texts have spaces between characters; between digits they stand between numbers.
NUMERAL: Final = rf"(?:[{_HAN_NUMERAL}0-9]{{1,12}}|[{_HAN_NUMERAL}](?:\s[{_HAN_NUMERAL}]){{1,11}})"
_LIST: Final = r"\s*(?:[、,和与及或]|以及|或者)\s*"
_DASH: Final = r"[-\u2010-\u2015~]"
_CHINESE: Final = re.compile(
    rf"(?P<mark>第\s*)?(?P<numbers>{NUMERAL}(?:{_LIST}{NUMERAL})*)"
    rf"(?:\s*(?:{_DASH}|(?P<until>[至到]))\s*(?P<dashed>{NUMERAL}))?"
    rf"\s*条(?:\s*之\s*(?P<insert>{NUMERAL}))?"
    rf"(?:\s*第?\s*(?P<paragraph>{NUMERAL})\s*款)?"
    rf"(?:\s*第?\s*\(?\s*(?P<item>{NUMERAL})\s*\)?\s*项)?"
)
_ENGLISH: Final = re.compile(
    r"(?:\b(?:article|art|section|sec)(?P<plural>s)?\.?|§(?P<signs>§)?)\s*"
    r"(?P<numbers>\d{1,6}(?:\s*(?:,|and|&)\s*\d{1,6}\b)*)"
    r"(?:(?P<letter>[a-z])\b|\s*(?:[-.\u2013]|(?P<to>to|through))\s*(?P<insert>\d{1,4})(?!\d))?",
    re.IGNORECASE,
)
_BARE: Final = re.compile(rf"第?\s*({NUMERAL})(?:\s*(?:之|[-.])\s*({NUMERAL})|([A-Za-z]))?")
# A number without 第 is an article's after the name of a law, and one of something else elsewhere.
_AFTER_A_NAME: Final = re.compile(
    r"(?:^|[法典编例则定释案》)](?:\s*(?:19|20)\d\d\s*年?(?:版|修订|修正)?)?)\s*$"
)
# And that of one more article after another: 第1165条和1166条.
_AFTER_AN_ARTICLE: Final = re.compile(rf"[条款项]\s*(?:[、,和与及或至到]|以及|或者|{_DASH})\s*$")
_RANGE: Final = re.compile(rf"\s*(?:至|到|to|through|{_DASH})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Number:
    """The number of an article; `insert` is the 一 of 第一百二十条之一, 0 where there is none."""

    main: int
    insert: int = 0

    def __str__(self) -> str:
        """In the style that the statutes use."""
        tail = f"之{chinese(self.insert)}" if self.insert else ""
        return f"第{chinese(self.main)}条{tail}"


@dataclass(frozen=True, slots=True)
class Mention:
    """An article number inside a text, where it stands, and the paragraph and item it names.

    `ends_long_range` is whether it is the end of a range of which only the beginning is written
    out as mentions.
    """

    number: Number
    start: int
    end: int
    paragraph: int = 0
    item: int = 0
    is_english: bool = False
    ends_long_range: bool = False


def value(numeral: str) -> int | None:
    """The number that a numeral of either style says; None when it says none."""
    numeral = "".join(_TENS.get(each, each) for each in numeral if not each.isspace())
    if numeral.isascii():
        return int(numeral) if numeral.isdigit() else None
    if all(letter in _DIGITS for letter in numeral):
        return int("".join(str(_DIGITS[letter]) for letter in numeral))
    total = section = digit = 0
    for letter in numeral:
        if letter in _DIGITS:
            digit = _DIGITS[letter]
        elif letter in _UNITS:
            # 十五 has no digit before its unit.
            section += (digit or 1) * _UNITS[letter]
            digit = 0
        elif letter == _MYRIAD:
            total, section, digit = (section + digit) * 10_000, 0, 0
        else:
            return None
    return total + section + digit


def chinese(number: int) -> str:
    """The number in Chinese numerals, as statutes write it: 10 is 十, 110 is 一百一十."""
    if number >= 10_000:  # noqa: PLR2004  no statute has as many articles
        return str(number)
    digits = "零一二三四五六七八九"
    written = ""
    for unit, size in (("千", 1000), ("百", 100), ("十", 10), ("", 1)):
        digit = number // size % 10
        if digit:
            written += digits[digit] + unit
        elif written and not written.endswith("零"):
            written += "零"
    written = written.rstrip("零") or "零"
    return written.removeprefix("一") if written.startswith("一十") else written


def mentions(text: str) -> list[Mention]:
    """All article numbers that a text in its normal form mentions, in order."""
    chinese_ones = [each for match in _CHINESE.finditer(text) for each in _read_chinese(match)]
    english_ones = [each for match in _ENGLISH.finditer(text) for each in _read_english(match)]
    return _with_ranges(sorted(chinese_ones + english_ones, key=lambda each: each.start), text)


def find(text: str) -> Mention | None:
    """The first article number that a text mentions; its place counts in the normal form."""
    return next(iter(mentions(normal(text))), None)


def read(text: str) -> Number | None:
    """The article that a whole argument names, in any style, the bare number included."""
    if (mention := find(text)) is not None:
        return mention.number
    match = _BARE.fullmatch(normal(text).strip().rstrip("、."))
    return None if match is None else _number(match[1], match[2], match[3])


def letter_value(letter: str | None) -> int:
    """The place of an inserted section: 1 for the A of Section 2A."""
    return ord(letter.upper()) - ord("A") + 1 if letter else 0


def _number(main: str, insert: str | None = None, letter: str | None = None) -> Number | None:
    first, second = value(main), value(insert) if insert else letter_value(letter)
    return None if first is None or second is None else Number(first, second)


def _read_chinese(match: re.Match[str]) -> Iterator[Mention]:
    if match["mark"] is None and not _is_after(match, _AFTER_A_NAME, _AFTER_AN_ARTICLE):
        return
    *listed, last = re.split(_LIST, match["numbers"])
    first, dashed = value(last) or 0, value(match["dashed"] or "0") or 0
    is_long = dashed - first > _LONGEST_RANGE
    if dashed > first:
        # 第3-5条 is three articles; 第133-1条 is one that was put in.
        listed += map(str, range(first, min(dashed, first + _LONGEST_RANGE)))
        last, dashed = str(dashed), 0
    final = _number(last, match["insert"] or str(dashed))
    paragraph, item = (value(match[name] or "0") or 0 for name in ("paragraph", "item"))
    for each in listed:
        if (number := _number(each)) is not None:
            yield Mention(number, match.start(), match.end())
    if final is not None:
        yield Mention(final, match.start(), match.end(), paragraph, item, ends_long_range=is_long)


def _is_after(match: re.Match[str], *patterns: re.Pattern[str]) -> bool:
    start = match.start()
    return any(each.search(match.string, max(0, start - _WINDOW), start) for each in patterns)


def _read_english(match: re.Match[str]) -> Iterator[Mention]:
    *listed, last = re.findall(r"\d+", match["numbers"])
    insert, is_long = int(match["insert"] or letter_value(match["letter"])), False
    if (match["plural"] or match["signs"] or match["to"]) and insert > int(last):
        # Articles 26-28 are three; Article 133-1 is one that was put in.
        listed += map(str, range(int(last), min(insert, int(last) + _LONGEST_RANGE)))
        is_long = insert - int(last) > _LONGEST_RANGE
        last, insert = str(insert), 0
    for each in listed:
        yield Mention(Number(int(each)), match.start(), match.end(), is_english=True)
    final = Number(int(last), insert)
    yield Mention(final, match.start(), match.end(), is_english=True, ends_long_range=is_long)


def _with_ranges(numbers: list[Mention], text: str) -> list[Mention]:
    """With the articles that 第三条至第五条 does not write out."""
    filled = numbers[:1]
    for before, after in pairwise(numbers):
        span = range(before.number.main + 1, after.number.main)
        is_range = _RANGE.fullmatch(text[before.end : after.start]) is not None
        if is_range:
            filled += [replace(before, number=Number(main)) for main in span[:_LONGEST_RANGE]]
        is_long = is_range and len(span) > _LONGEST_RANGE
        filled.append(replace(after, ends_long_range=True) if is_long else after)
    return filled
