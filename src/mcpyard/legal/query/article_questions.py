"""The articles whose questions a query resembles.

The words of the subject index are those of a situation. Whole questions also have what is asked
about it: 谁来, 几天内 and 判几年 tell the articles of one situation apart.
"""

import math
import re
from array import array
from collections import defaultdict
from functools import cache, lru_cache
from heapq import nsmallest
from typing import Final, NamedTuple

from mcpyard.legal import tables
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.terms import pairs
from mcpyard.legal.tables import Subject

_MOST: Final = 400
_SINGLE: Final = 0.5
_LENGTH: Final = 0.5
_COMMON: Final = 0.1
_REMEMBERED: Final = 2048


class _Index(NamedTuple):
    """The questions for looking up.

    Attributes:
        articles: The articles; their places in it name them below.
        texts: The questions of each.
        characters: The places of the articles that have a character.
        usual: The usual length of a text.
    """

    articles: tuple[Subject, ...]
    texts: tuple[str, ...]
    characters: dict[str, "array[int]"]
    usual: float


def resemblances(query: str) -> list[tuple[Subject, float]]:
    """The articles whose questions have most of a query, each with a weight.

    Rare characters and pairs tell; a pair of one article only weighs 1.
    """
    index, text = _index(), plain(query)
    weights: dict[int, float] = defaultdict(float)
    for part in {part for run in re.findall(r"\w+", text) for part in (*run, *pairs(run))}:
        places = _places(part)
        if 0 < len(places) <= _COMMON * len(index.texts):
            weight = _rarity(len(places)) * (1 if part[1:] else _SINGLE)
            for place in places:
                weights[place] += weight
    for place in weights:
        weights[place] /= 1 + _LENGTH * (len(index.texts[place]) / index.usual - 1)
    best = nsmallest(_MOST, weights.items(), key=lambda each: (-each[1], each[0]))
    return [(index.articles[place], weight) for place, weight in best]


def _rarity(count: int) -> float:
    size = len(_index().texts)
    return math.log((size + 1) / (count + 0.5)) / math.log(size + 1)


@lru_cache(_REMEMBERED)
def _places(part: str) -> "array[int]":
    """The articles with a character or a pair: the rarer character of a pair finds it."""
    index = _index()
    places = min((index.characters.get(each, array("H")) for each in part), key=len)
    if not part[1:]:
        return places
    return array("H", (place for place in places if part in index.texts[place]))


@cache
def _index() -> _Index:
    table = tables.article_questions()
    texts = tuple(plain("\n".join(questions)) for questions in table.values())
    characters: dict[str, array[int]] = defaultdict(lambda: array("H"))
    for place, text in enumerate(texts):
        for character in {*text}:
            characters[character].append(place)
    return _Index(tuple(table), texts, dict(characters), sum(map(len, texts)) / len(texts))
