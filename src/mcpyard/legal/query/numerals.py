"""Article numbers in every style: 第九百九十条, 第990条, 第一百二十条之一, "Article 990"."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "\u3007": 0,
    "\u25cb": 0,
    "两": 2,
}
_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_MYRIAD: Final = "万"

NUMERAL: Final = "[零〇○一二两三四五六七八九十百千万0-9]{1,12}"
_CHINESE: Final = re.compile(rf"第?\s*({NUMERAL})\s*[条條](?:\s*之\s*({NUMERAL}))?")
_ENGLISH: Final = re.compile(
    r"(?:\b(?:article|art\.?|section|sec\.?)|§)\s*(\d{1,6})(?:\s*[-.]\s*(\d{1,3})(?!\d))?",
    re.IGNORECASE,
)
_BARE: Final = re.compile(rf"第?\s*({NUMERAL})(?:\s*(?:之|[-.])\s*({NUMERAL}))?")


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
    """An article number inside a text, and where it stands."""

    number: Number
    start: int
    end: int


def value(numeral: str) -> int | None:
    """The number that a numeral of either style says; None when it says none."""
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


def find(text: str) -> Mention | None:
    """The first article number that a text mentions; its place counts in the NFKC form."""
    plain = unicodedata.normalize("NFKC", text)
    for pattern in (_CHINESE, _ENGLISH):
        for match in pattern.finditer(plain):
            if (number := _number(match)) is not None:
                return Mention(number, match.start(), match.end())
    return None


def read(text: str) -> Number | None:
    """The article that a whole argument names, in any style, the bare number included."""
    if (mention := find(text)) is not None:
        return mention.number
    match = _BARE.fullmatch(unicodedata.normalize("NFKC", text).strip().rstrip("、."))
    return None if match is None else _number(match)


def _number(match: re.Match[str]) -> Number | None:
    main, insert = value(match[1]), value(match[2]) if match[2] else 0
    return None if main is None or insert is None else Number(main, insert)
