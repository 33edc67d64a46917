"""What a query is about: concepts, each with the words that statutes may have for it."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from mcpyard.legal import tables
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.terms import pairs, runs

_LITERAL: Final = 1.0
_SYNONYM: Final = 0.9
_GROUP: Final = 0.6
_CROSSING: Final = 0.3
_SHORT: Final = 4
_LONGEST_PHRASE: Final = 12
_LONGEST_WORD: Final = 6
_ENGLISH_WORD: Final = re.compile(r"[a-z][a-z'-]*[a-z]|[a-z]")


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing that a query is about.

    Attributes:
        terms: Words for it with their weights; the best one that a passage has counts.
        pieces: Pairs of characters of the query; all that a passage has count.
    """

    terms: tuple[tuple[str, float], ...]
    pieces: tuple[str, ...] = ()


def concepts(text: str, *, is_all: bool = True) -> list[Concept]:
    """The concepts of a query: phrases of the tables first, then what is left of it.

    Args:
        text: The query.
        is_all: Whether it is the whole query, so that words of a question count if there are no
            others; between two articles, 和 asks for nothing.
    """
    query = plain(text)
    phrases, rest = _phrases(query)
    english, rest = _english(rest)
    grouped, rest = _grouped(rest)
    phrases = [*phrases, *grouped]
    literal = _runs(rest, frozenset(runs(query).chinese))
    words = [
        Concept(((word, _LITERAL),))
        for word in runs(rest).words
        if word not in tables.question_words()
    ]
    named = [*phrases, *english, *literal, *words]
    if named or not is_all:
        return named
    # A query of nothing but such words still asks for them.
    return [_run(each) for each in runs(query).chinese] + [
        Concept(((word, _LITERAL),)) for word in runs(query).words
    ]


def _phrases(query: str) -> tuple[list[Concept], str]:
    """The concepts of the phrases in a query, and the query without them."""
    spans = _outermost(
        [
            (start, start + length)
            for start in range(len(query))
            for length in range(1, min(_LONGEST_PHRASE, len(query) - start) + 1)
            if query[start : start + length] in tables.synonyms()
            and _stands_alone(query, start, start + length)
        ]
    )
    rest = list(query)
    phrases: list[Concept] = []
    for start, end in spans:
        phrase = query[start:end]
        phrases.append(_with_synonyms(phrase, tables.synonyms()[phrase]))
        rest[start:end] = " " * (end - start)
    return phrases, "".join(rest)


def _stands_alone(query: str, start: int, end: int) -> bool:
    """Whether a phrase in letters is no part of a longer word; Chinese has no such borders."""
    around = query[max(start - 1, 0) : start] + query[end : end + 1]
    return not query[start:end].isascii() or not any(
        each.isascii() and each.isalnum() for each in around
    )


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans that no other one holds."""
    return [
        each
        for each in spans
        if not any(other != each and other[0] <= each[0] and each[1] <= other[1] for other in spans)
    ]


def _with_synonyms(phrase: str, synonyms: tuple[str, ...]) -> Concept:
    terms = dict.fromkeys(_groups().get(phrase, ()), _GROUP)
    terms |= {each: _SYNONYM for each in synonyms if len(each) > 1} | {phrase: _LITERAL}
    return Concept(tuple(terms.items()))


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """The words that may stand for a word, by the word."""
    groups: dict[str, tuple[str, ...]] = {}
    for group in tables.word_groups():
        words = tuple(word for word in map(plain, group) if len(word) > 1)
        for word in map(plain, group):
            groups[word] = (*groups.get(word, ()), *words)
    return groups


def _grouped(query: str) -> tuple[list[Concept], str]:
    """The concepts of the words of groups, and the query without them."""
    spans = _outermost(
        [
            (start, start + length)
            for start in range(len(query))
            for length in range(2, min(_LONGEST_WORD, len(query) - start) + 1)
            if query[start : start + length] in _groups()
            and query[start : start + length] not in tables.question_words()
        ]
    )
    rest = list(query)
    for start, end in spans:
        rest[start:end] = " " * (end - start)
    return [_with_synonyms(query[start:end], ()) for start, end in spans], "".join(rest)


def _english(text: str) -> tuple[list[Concept], str]:
    """The concepts of English legal terms, and the text without them; the longest term counts."""
    words = [*_ENGLISH_WORD.finditer(text)]
    rest, gathered, place = list(text), list[Concept](), 0
    while place < len(words):
        size = next((n for n in range(5, 0, -1) if _term(words, place, n) is not None), 0)
        if size and (terms := _term(words, place, size)):
            phrase = " ".join(each[0] for each in words[place : place + size])
            literal = ((phrase, _LITERAL),) if size == 1 else ()
            gathered.append(Concept((*((each, _SYNONYM) for each in terms), *literal)))
            start, end = words[place].start(), words[place + size - 1].end()
            rest[start:end] = " " * (end - start)
        place += size or 1
    return gathered, "".join(rest)


def _term(words: list[re.Match[str]], place: int, size: int) -> tuple[str, ...] | None:
    if place + size > len(words):
        return None
    phrase = " ".join(each[0] for each in words[place : place + size])
    table = tables.english_terms()
    return table.get(phrase) or table.get(phrase.removesuffix("s"))


def _runs(text: str, whole: frozenset[str]) -> list[Concept]:
    """The concepts of the runs of Chinese characters, without the words of a question.

    A short run that stands alone in the query, one of `whole`, is a word of its own.
    """
    literal: list[Concept] = []
    for run in runs(text).chinese:
        if run in whole and len(run) <= _SHORT and not _question_words().fullmatch(run):
            literal.append(_run(run))
            continue
        pieces = [piece for piece in _question_words().split(run) if piece]
        literal += [_run(piece) for piece in pieces]
        inside = {pair for piece in pieces for pair in pairs(piece)}
        # 要约的撤回: a word of a question may be a part of another word.
        crossing = [
            pair
            for pair in pairs(run)
            if pair not in inside and not _question_words().fullmatch(pair) and _has_kept(pair)
        ]
        literal += [Concept(((pair, _CROSSING),)) for pair in dict.fromkeys(crossing)]
    return literal


def _has_kept(pair: str) -> bool:
    return not all(_question_words().fullmatch(letter) for letter in pair)


def _run(run: str) -> Concept:
    return Concept(((run, _LITERAL),), tuple(dict.fromkeys(pairs(run))) if len(run) > 2 else ())  # noqa: PLR2004


@cache
def _question_words() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, tables.question_words())))
