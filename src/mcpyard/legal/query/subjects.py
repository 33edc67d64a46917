"""The articles that a query may be about, by the subject index: those that share words with it.

Synonyms put one word in the place of another. The subject index takes several together: none of
开发商, 地下 and 车位 tells what is asked, all of them do.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from mcpyard.legal import tables
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.terms import pairs
from mcpyard.legal.tables import Subject

_MOST: Final = 20
_ALIKE: Final = 0.8
_PAIR: Final = 0.4
_SINGLE: Final = 0.5


class _Sense(NamedTuple):
    """What a word of a query says about a subject: words of one group say it only once."""

    subject: int
    group: int | str
    weight: float


class _Index(NamedTuple):
    """The senses of each word, and what a pair of characters weighs for each subject."""

    senses: dict[str, tuple[_Sense, ...]]
    pairs: dict[str, dict[int, float]]
    longest: int


class _Shared(NamedTuple):
    """A word that a query shares with a subject."""

    start: int
    end: int
    group: int | str
    weight: float


def subjects(query: str) -> list[tuple[Subject, float]]:
    """The articles that a query may be about, the likeliest first, each with a weight."""
    text = plain(query)
    shared = _shared_words(text)
    weights = {subject: _weight(words) for subject, words in shared.items()}
    for subject, weight in _shared_pairs(text, shared):
        weights[subject] = weights.get(subject, 0.0) + weight
    best = sorted(weights.items(), key=lambda each: (-each[1], each[0]))[:_MOST]
    named = [*tables.subjects()]
    return [(named[subject], weight) for subject, weight in best]


def _shared_words(text: str) -> dict[int, list[_Shared]]:
    """The words of each subject that a text has, without those inside of others."""
    index = _index()
    shared: dict[int, list[_Shared]] = defaultdict(list)
    for start, end in _known_words(text, index):
        for subject, group, weight in index.senses[text[start:end]]:
            shared[subject].append(_Shared(start, end, group, weight))
    return {subject: _outermost(words) for subject, words in shared.items()}


def _known_words(text: str, index: _Index) -> list[tuple[int, int]]:
    spans = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, min(start + index.longest, len(text)) + 1)
        if text[start:end] in index.senses
    ]
    # 告 is no word of its own in 广告.
    return [
        span
        for span in spans
        if span[1] - span[0] > 1 or not any(_inside(span, other) for other in spans)
    ]


def _outermost(words: list[_Shared]) -> list[_Shared]:
    return [each for each in words if not any(_inside(each[:2], other[:2]) for other in words)]


def _inside(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]


def _weight(words: list[_Shared]) -> float:
    """The weight of the words, those of one group once."""
    groups: dict[int | str, float] = {}
    for each in words:
        groups[each.group] = max(each.weight, groups.get(each.group, 0.0))
    return sum(groups.values())


def _shared_pairs(text: str, shared: dict[int, list[_Shared]]) -> Iterator[tuple[int, float]]:
    """What the other pairs of characters add: 身份证信息 is nearly 身份证号."""
    index = _index()
    content = _question_words().sub(lambda match: " " * len(match[0]), text)
    for run in re.finditer(r"\S+", content):
        for start, pair in enumerate(pairs(run[0]), run.start()):
            for subject, weight in index.pairs.get(pair, {}).items():
                words = shared.get(subject, ())
                if not any(each.start < start + 2 and start < each.end for each in words):
                    yield subject, weight


@cache
def _question_words() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word) for word in tables.question_words() if word[1:]))


@cache
def _index() -> _Index:
    table = [tuple(map(plain, words)) for words in tables.subjects().values()]
    having, parts = _places(table), _places(map(_parts, table))
    senses: dict[str, dict[tuple[int, int | str], float]] = defaultdict(dict)
    group_of: dict[str, int] = {}
    for name, group in enumerate(tables.word_groups()):
        words = [*map(plain, group)]
        alike = dict.fromkeys(place for word in words for place in having.get(word, ()))
        for word in words:
            group_of.setdefault(word, name)
            weight = _ALIKE * _rarity(word, len(alike), len(table))
            senses[word] |= {(place, name): weight for place in alike}
    for word, places in having.items():
        # 车 rarely stands alone in the index and is a usual word: all words with it count.
        weight = _rarity(word, len(parts[word]), len(table))
        for place in places:
            sense = (place, group_of.get(word, word))
            senses[word][sense] = max(weight, senses[word].get(sense, 0.0))
    usual = frozenset(tables.question_words())
    return _Index(
        {
            word: tuple(_Sense(*sense, weight) for sense, weight in weights.items())
            for word, weights in senses.items()
            if word not in usual
        },
        {
            part: dict.fromkeys(places, _PAIR * _rarity(part, len(places), len(table)))
            for part, places in parts.items()
            if len(part) == 2 and part not in usual  # noqa: PLR2004
        },
        max(map(len, senses)),
    )


def _places(table: Iterable[Iterable[str]]) -> dict[str, dict[int, None]]:
    """Which entries of a table have a word, in order."""
    places: dict[str, dict[int, None]] = defaultdict(dict)
    for place, words in enumerate(table):
        for word in words:
            places[word][place] = None
    return places


def _parts(words: Iterable[str]) -> Iterator[str]:
    return (
        word[start:end]
        for word in words
        for start in range(len(word))
        for end in range(start + 1, len(word) + 1)
    )


def _rarity(word: str, count: int, size: int) -> float:
    """How much a word says: the fewer subjects have it, the more."""
    return math.log((size + 1) / (count + 0.5)) * (_SINGLE if len(word) == 1 else 1.0)
