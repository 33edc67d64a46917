"""Telling the first line of an article, in all the styles that texts have."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.numerals import NUMERAL, Number, letter_value, value

_EMPHASIS: Final = re.compile(r"^(?:[*_]{1,3}|<b>|<strong>)(.+?)(?:[*_]{1,3}|</b>|</strong>)")
_CHINESE: Final = re.compile(
    rf"第\s*({NUMERAL})(?:\s*-\s*(\d{{1,3}}))?\s*条(?:\s*之\s*({NUMERAL}))?"
    r"(?P<gap>[\s:、,.【\[]|$)?\s*(?P<rest>.*)"
)
_ENGLISH: Final = re.compile(
    r"(?:Article|Section|Sec\.|Art\.|§)\s*(\d{1,5})(?:[-.](\d{1,3})(?!\d)|([A-Z])\b)?"
    r"(?P<gap>[\s.:]|$)\s*(?P<rest>.*)"
)
_ITEM: Final = re.compile(rf"({NUMERAL})、(?P<rest>.*)")
_ANNEX: Final = re.compile(
    rf"(?:附件|附录|附表|Annex|Appendix)\s*(?:{NUMERAL}|[A-Z])?\s*(?::.{{0,60}}|[^。;,]{{0,40}})"
)


@dataclass(frozen=True, slots=True)
class ArticleLine:
    """The first line of an article: its number, how it is cited, and the text after them."""

    number: Number
    label: str
    rest: str


class ArticleNumbering:
    """Tells the first line of an article from a paragraph that only begins with a reference."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Look at all lines: in a text without articles the items count as such."""
        self._has_articles = any(_CHINESE.match(_bare(line)) for line in lines)
        self._last = 0

    def article(self, line: str) -> ArticleLine | None:
        """What a line begins, if it is an article."""
        bare = _bare(line)
        if match := _CHINESE.match(bare):
            return self._chinese(match)
        if match := _ENGLISH.match(bare):
            insert = int(match[2] or letter_value(match[3]))
            label = bare[: match.start("rest")].strip(" \t.:")
            return ArticleLine(Number(int(match[1]), insert), label, match["rest"])
        if not self._has_articles and (match := _ITEM.match(bare)) and (main := value(match[1])):
            return ArticleLine(Number(main), match[1], match["rest"])
        return None

    def _chinese(self, match: re.Match[str]) -> ArticleLine | None:
        main, insert = value(match[1]), value(match[2] or match[3] or "0")
        if main is None or insert is None:
            return None
        # 第十条规定的... continues an article, unless it is the next number's turn.
        if match["gap"] is None and main != self._last + 1:
            return None
        self._last = main
        number = Number(main, insert)
        # The text after 【title】 or a mark keeps it: it is part of what was published.
        bracket = match["gap"] if match["gap"] in {"【", "["} else ""
        return ArticleLine(number, str(number), f"{bracket}{match['rest']}".strip())


def is_annex(line: str) -> bool:
    """Whether a line is the name of an annex."""
    return _ANNEX.fullmatch(normal(line)) is not None


def _bare(line: str) -> str:
    """The line without emphasis around its beginning; a form of the same length where possible."""
    text = _EMPHASIS.sub(lambda match: f"{match[1]} ", line, count=1)
    form = normal(text)
    if len(form) != len(text):
        return form
    # Only the beginning is read in its normal form; the text itself stays as it was published.
    head = _CHINESE.match(form)
    cut = head.start("rest") if head else 0
    return form[:cut] + text[cut:]
