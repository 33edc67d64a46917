"""Which tools a query is about: ranked over their names, titles and descriptions.

Words are compared as words. Scripts that write no spaces have none, so a run of their characters
is looked for as a whole, and, where that fails, by its single characters: a query of one or two
Chinese characters finds what it should.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, NamedTuple

MAX_QUERY: Final = 500
"""Characters of a query that are looked at; a longer one is a text, not a query."""

MAX_TERMS: Final = 16
"""Different words of a query that are looked for, and characters of one without spaces."""

MAX_TEXT: Final = 1_000
"""Characters of a name, a title or a description that are searched."""

_NAME: Final = 6.0
_TITLE: Final = 4.0
_DESCRIPTION: Final = 1.0

_WHOLE: Final = 1.0
_BEGINNING: Final = 0.6
_INSIDE: Final = 0.3

_SPACELESS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TERM: Final = re.compile(rf"[{_SPACELESS}]+|[^\W_{_SPACELESS}]+")
_IS_SPACELESS: Final = re.compile(rf"[{_SPACELESS}]")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolText(NamedTuple):
    """What is known of a tool in words."""

    name: str
    title: str
    description: str


class _Field(NamedTuple):
    weight: float
    text: str
    words: frozenset[str]


class Index:
    """What is known of some tools, read once and searched often."""

    def __init__(self, tools: Iterable[ToolText]) -> None:
        self._tools = [_fields(each) for each in tools]

    def rank(self, query: str) -> list[int]:
        """The places of the tools that a query is about, the best first; none for no words."""
        scores = [0.0] * len(self._tools)
        terms = (term[: _longest(term)] for term in _terms(query[:MAX_QUERY]))
        for term in islice(dict.fromkeys(terms), MAX_TERMS):
            matches = [_match(term, each) for each in self._tools]
            # A term that few tools know tells more than one that all of them do.
            rarity = math.log(1 + len(matches) / (1 + sum(each > 0 for each in matches)))
            for place, strength in enumerate(matches):
                scores[place] += strength * rarity
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        return [place for place in order if scores[place] > 0]


def _terms(text: str) -> list[str]:
    spaced = _HUMP.sub(" ", unicodedata.normalize("NFKC", text))
    return [term.casefold() for term in _TERM.findall(spaced)]


def _longest(term: str) -> int:
    return MAX_TERMS if _IS_SPACELESS.match(term) else MAX_QUERY


def _fields(tool: ToolText) -> tuple[_Field, ...]:
    return tuple(
        _Field(weight, f" {' '.join(words)}", frozenset(words))
        for weight, text in zip((_NAME, _TITLE, _DESCRIPTION), tool, strict=True)
        if (words := _terms(text[:MAX_TEXT]))
    )


def _match(term: str, fields: Sequence[_Field]) -> float:
    return max((each.weight * _strength(term, each) for each in fields), default=0.0)


def _strength(term: str, field: _Field) -> float:
    if term in field.words:
        return _WHOLE
    if _IS_SPACELESS.match(term):
        return _share(term, field.text)
    if f" {term}" in field.text:
        return _BEGINNING
    return _INSIDE if term in field.text else 0.0


def _share(term: str, text: str) -> float:
    """How much of a run of characters a text holds: all in a row, else pairs, else single ones."""
    if term in text:
        return _WHOLE
    pairs = [term[at : at + 2] for at in range(len(term) - 1)]
    held = sum(pair in text for pair in pairs)
    if held:
        return _BEGINNING * held / len(pairs)
    return 0.5 * _INSIDE * sum(each in text for each in term) / len(term)
