"""The chapter that a query names: 第三章, 第2章第1节, 附则, Chapter 3."""

import re
from typing import Final

from mcpyard.legal.query.numerals import NUMERAL, chinese, value

_LABEL: Final = re.compile(rf"第\s*({NUMERAL})\s*(分编|[编章节])")
_ENGLISH: Final = re.compile(
    r"[\s,]*(?:the\s+)?chapter\s+(?P<number>\d{1,3})(?:\s|,|of\b|in\b|the\b)*", re.IGNORECASE
)
_WHOLE: Final = re.compile(
    rf"[\s的]*(?P<labels>(?:第\s*{NUMERAL}\s*(?:分编|[编章节])\s*)+|[总分附]则)"
    r"\s*(?:的?\s*(?:内容|规定|条文|全文))?\s*"
)


def read_chapter(text: str) -> tuple[str, ...]:
    """The labels of a chapter and its section, as headings have them; none where text says more."""
    if match := _ENGLISH.fullmatch(text):
        return (_label(match["number"], "章"),)
    if (match := _WHOLE.fullmatch(text)) is None:
        return ()
    numbered = [_label(*each) for each in _LABEL.findall(match["labels"])]
    return tuple(numbered) or (match["labels"],)


def _label(number: str, kind: str) -> str:
    return f"第{chinese(value(number) or 0)}{kind}"
