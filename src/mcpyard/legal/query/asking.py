"""What a query asks for: articles of laws, words, or both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.legal.notices import say
from mcpyard.legal.query import numerals
from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.law_mentions import LawMention, law_mentions, version_after
from mcpyard.legal.query.numerals import Mention, Number
from mcpyard.legal.query.terms import Runs, runs
from mcpyard.legal.query.titles import STATE, Law, LawNames, OutsideLaw

LONGEST_QUERY: Final = 1_000
_BARE: Final = re.compile(
    r"\s*(?P<number>\d{1,4})(?:-(?P<insert>\d{1,2}))?(?![\d年月日号元万%.])(?!\s*条)"
)


class BadQuery(ValueError):
    """A query that can't be answered; the message says what to ask instead."""


@dataclass(frozen=True, slots=True)
class ArticleReference:
    """An article that a query names; the law is None where it names none."""

    number: Number
    mention: LawMention | None = None
    paragraph: int = 0
    item: int = 0

    @property
    def law(self) -> Law | OutsideLaw | None:
        """The law, in the collection or outside it."""
        return self.mention and self.mention.law


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, understood.

    Attributes:
        text: The query in its normal form.
        rest: What it says besides laws and articles.
        references: The articles that it names.
        laws: The laws that it names, with or without an article.
    """

    text: str
    rest: str
    references: tuple[ArticleReference, ...] = ()
    laws: tuple[LawMention, ...] = ()

    @property
    def words(self) -> Runs:
        """All that it says, as runs and words."""
        return runs(self.text)

    @property
    def outside(self) -> list[LawMention]:
        """The laws that it names and the collection does not hold."""
        return [each for each in self.laws if isinstance(each.law, OutsideLaw)]


def understand(query: str, names: LawNames) -> ParsedQuery:
    """What a query asks for.

    Raises:
        BadQuery: It is empty, or too long to be a query.
    """
    if len(query) > LONGEST_QUERY:
        raise BadQuery(say("too_long", size=len(query), limit=LONGEST_QUERY))
    if runs(query).empty:
        raise BadQuery(say("empty"))
    text = normal(query)
    numbers = numerals.mentions(text)
    laws = law_mentions(text, names, numbers)
    numbers = sorted([*numbers, *_bare_numbers(text, laws)], key=lambda each: each.start)
    references = tuple(_reference(each, laws, text) for each in numbers)
    ends = [version_after(text, each.end) for each in numbers]
    spans = [
        replace(each, end=after[1]) if after else each
        for each, after in zip(numbers, ends, strict=True)
    ]
    return ParsedQuery(text, _without(text, [*spans, *laws]), references, tuple(laws))


def _reference(number: Mention, laws: Sequence[LawMention], text: str) -> ArticleReference:
    """The article that a number names: of a law, in the version that may stand after it."""
    mention, after = _law_of(number, laws, text), version_after(text, number.end)
    if mention is not None and after is not None and not mention.version:
        mention = replace(mention, version=after[0])
    return ArticleReference(number.number, mention, number.paragraph, number.item)


def _bare_numbers(text: str, laws: Sequence[LawMention]) -> list[Mention]:
    """The numbers right after the name of a law: 民法典 990."""
    matches = [match for law in laws if (match := _BARE.match(text, law.end))]
    return [
        Mention(Number(int(each["number"]), int(each["insert"] or 0)), each.start(), each.end())
        for each in matches
    ]


def _law_of(number: Mention, laws: Sequence[LawMention], text: str) -> LawMention | None:
    """The law that a number belongs to: the one before it, or "of the" one after it."""
    before = [each for each in laws if each.end <= number.start]
    after = [each for each in laws if each.start >= number.end]
    if number.is_english and after and len(text[number.end : after[0].start].split()) <= 2:  # noqa: PLR2004
        return after[0]
    return before[-1] if before else next(iter(after), None)


def _without(text: str, spans: Sequence[Mention | LawMention]) -> str:
    """The text without what was understood."""
    letters = list(text.replace(STATE, " " * len(STATE)))
    for each in spans:
        letters[each.start : each.end] = " " * (each.end - each.start)
    return "".join(letters)
