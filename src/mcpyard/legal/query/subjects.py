"""The articles that a query may be about, by the subject index: those that share words with it.

Synonyms put one word in the place of another. The subject index takes several together: none of
开发商, 地下 and 车位 tells what is asked, all of them do.
"""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from heapq import nsmallest
from itertools import chain
from typing import Final, NamedTuple

from mcpyard.legal import tables
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.terms import pairs
from mcpyard.legal.tables import Subject

_MOST: Final = 400
_ALIKE: Final = 0.8
_PART: Final = 0.5
_PAIR: Final = 0.6
_SINGLE: Final = 0.5
_LENGTH: Final = 0.2
_REMEMBERED: Final = 512
_BETWEEN: Final = "\n"


class _Index(NamedTuple):
    """The subject index for looking up.

    Attributes:
        subjects: The articles; their places in it name them below.
        texts: The words of each, every one between two line breaks.
        vocabulary: All words of all subjects and groups.
        pairs: The places of the subjects that have a pair of characters.
        groups: The numbers of the groups of a word.
        longest: The length of the longest word.
        usual: The usual length of a text.
    """

    subjects: tuple[Subject, ...]
    texts: tuple[str, ...]
    vocabulary: frozenset[str]
    pairs: dict[str, "array[int]"]
    groups: dict[str, list[int]]
    longest: int
    usual: float


class _Sense(NamedTuple):
    """What a word of a query says about a subject: words of one group say it only once."""

    subject: int
    group: int | str
    weight: float


class _Shared(NamedTuple):
    """A word that a query shares with a subject."""

    start: int
    end: int
    group: int | str
    weight: float


def subjects(query: str) -> list[tuple[Subject, float]]:
    """The articles that a query may be about, the likeliest first, each with a weight.

    A word of one subject only weighs 1, other words weigh less.
    """
    text, index = plain(query), _index()
    shared = _shared_words(text)
    weights = {subject: _weight(words) for subject, words in shared.items()}
    for subject, weight in _shared_pairs(text, shared):
        weights[subject] = weights.get(subject, 0.0) + weight
    for subject in weights:
        # Many words share more with any query.
        length = len(index.texts[subject]) / index.usual
        weights[subject] /= 1 + _LENGTH * (length - 1)
    best = nsmallest(_MOST, weights.items(), key=lambda each: (-each[1], each[0]))
    return [(index.subjects[subject], weight) for subject, weight in best]


@lru_cache(_REMEMBERED)
def rarity(word: str) -> float:
    """How rare a word is in the subject index, from 0 to 1; 0 if no subject has it."""
    count = len(_having(word))
    return _rarity(word, count) if count else 0.0


def words_of(subject: Subject) -> str:
    """All that people say of an article, in the version or in any; empty if it is not known."""
    places, texts = _places(), _index().texts
    place = places.get(subject, places.get(subject._replace(version="")))
    return "" if place is None else texts[place]


def _shared_words(text: str) -> dict[int, list[_Shared]]:
    """The words of each subject that a text has, without those inside of others."""
    shared: dict[int, list[_Shared]] = defaultdict(list)
    for start, end in _known_words(text):
        for subject, group, weight in _senses(text[start:end]):
            shared[subject].append(_Shared(start, end, group, weight))
    return {subject: _outermost(words) for subject, words in shared.items()}


def _known_words(text: str) -> list[tuple[int, int]]:
    index = _index()
    spans = [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, min(start + index.longest, len(text)) + 1)
        if text[start:end] in index.vocabulary
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
            places = () if pair in _usual() else index.pairs.get(pair, ())
            weight = _PAIR * _rarity(pair, len(places))
            for subject in places:
                words = shared.get(subject, ())
                if not any(each.start < start + 2 and start < each.end for each in words):
                    yield subject, weight


@lru_cache(_REMEMBERED)
def _senses(word: str) -> tuple[_Sense, ...]:
    """What a word says: most where it is a word of the subject, less where it is a part of one."""
    index = _index()
    groups: list[int | str] = [*index.groups.get(word, ())]
    weights: dict[tuple[int, int | str], float] = {}
    own = groups[0] if groups else word
    # 车 rarely stands alone in the index and is a usual word: all words with it count.
    having = _having(word)
    _raise(weights, own, _whole(word, having), _rarity(word, len(having)))
    if word[1:]:
        _raise(weights, own, having, _PART * _rarity(word, len(having)))
    for group in index.groups.get(word, ()):
        alike = [(each, _having(each)) for each in _groups()[group]]
        whole = {*chain.from_iterable(_whole(each, places) for each, places in alike)}
        parts = {*chain.from_iterable(places for each, places in alike if each[1:])}
        _raise(weights, group, whole, _ALIKE * _rarity(word, len(whole)))
        _raise(weights, group, parts, _ALIKE * _PART * _rarity(word, len(parts)))
    return tuple(_Sense(*sense, weight) for sense, weight in weights.items())


def _raise(
    weights: dict[tuple[int, int | str], float],
    group: int | str,
    places: Collection[int],
    weight: float,
) -> None:
    for place in places:
        weights[place, group] = max(weight, weights.get((place, group), 0.0))


def _having(word: str) -> Collection[int]:
    """The subjects with a word, by itself or as a part of another."""
    index = _index()
    if len(word) <= 2:  # noqa: PLR2004
        return index.pairs.get(word, ()) if word[1:] else _with_character(word)
    places = [index.pairs.get(pair, array("H")) for pair in pairs(word)]
    return [place for place in min(places, key=len) if word in index.texts[place]]


@lru_cache(_REMEMBERED)
def _with_character(character: str) -> Collection[int]:
    return array("H", (n for n, text in enumerate(_index().texts) if character in text))


def _whole(word: str, places: Collection[int]) -> list[int]:
    """Those of some subjects that have a word by itself."""
    texts, delimited = _index().texts, f"{_BETWEEN}{word}{_BETWEEN}"
    return [place for place in places if delimited in texts[place]]


def _rarity(word: str, count: int) -> float:
    size = len(_index().subjects)
    value = math.log((size + 1) / (count + 0.5)) / math.log(size + 1)
    return value if word[1:] else _SINGLE * value


@cache
def _question_words() -> re.Pattern[str]:
    return re.compile("|".join(re.escape(word) for word in tables.question_words() if word[1:]))


@cache
def _usual() -> frozenset[str]:
    return frozenset(tables.question_words())


@cache
def _groups() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(plain, group)) for group in tables.word_groups())


@cache
def _places() -> dict[Subject, int]:
    return {subject: place for place, subject in enumerate(_index().subjects)}


@cache
def _index() -> _Index:
    """The index: pairs of characters find a word, so no other part of a word needs a place."""
    table = tables.subjects()
    texts = tuple(plain(_BETWEEN.join(["", *words, ""])) for words in table.values())
    places: dict[str, array[int]] = defaultdict(lambda: array("H"))
    for place, text in enumerate(texts):
        for pair in {*pairs(text)}:
            places[pair].append(place)
    groups: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(_groups()):
        for word in group:
            groups[word].append(number)
    words = {*chain.from_iterable(text.split(_BETWEEN) for text in texts), *groups}
    return _Index(
        tuple(table),
        texts,
        frozenset(words - _usual() - {""}),
        {pair: where for pair, where in places.items() if _BETWEEN not in pair},
        dict(groups),
        max(map(len, words)),
        sum(map(len, texts)) / len(texts),
    )
