"""What a query asks for: articles of laws, words, or both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.legal.notices import say
from mcpyard.legal.query import numerals
from mcpyard.legal.query.folding import one_line
from mcpyard.legal.query.law_mentions import LawMention, law_mentions
from mcpyard.legal.query.law_versions import version_after_article
from mcpyard.legal.query.numerals import NUMERAL, Mention, Number
from mcpyard.legal.query.terms import Runs, runs
from mcpyard.legal.query.titles import ENGLISH_FILLERS, STATE, Law, LawNames, OutsideLaw

LONGEST_QUERY: Final = 1_000
_BARE: Final = re.compile(
    r"\s*(?P<number>\d{1,4})(?:-(?P<insert>\d{1,2}))?(?![\d年月日号元万%.])(?!\s*条)"
)
# 民法典第1165 and 民法典一千一百六十五 lack only the last character.
_WITHOUT_UNIT: Final = re.compile(
    rf"》?\s*(?:第\s*(?P<number>{NUMERAL})\s*(?=$|[,。;、?!的])"
    r"|(?P<written>[零\u3007一二三四五六七八九十百千]{2,9})\s*(?=$|[,。;、?!]))"
)
_NEAR: Final = 12
_LISTED: Final = re.compile(r"\s*(?:[、,和与及或至到]|以及|或者|and|&)\s*|", re.IGNORECASE)
_BETWEEN_NAME_AND_NUMBER: Final = re.compile(r"[\s》)的]*")
_OF_THE_LAW: Final = re.compile(
    rf"\s*(?P<linked>,?\s*(?:of|in|under|from)\b\s*)?(?:{'|'.join(ENGLISH_FILLERS)}|\s)*",
    re.IGNORECASE,
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
    text = one_line(query)
    numbers = numerals.mentions(text)
    laws = law_mentions(text, names, numbers)
    numbers = sorted([*numbers, *_bare_numbers(text, laws)], key=lambda each: each.start)
    references = _with_their_version(
        [_reference(each, laws, text) for each in numbers], numbers, text
    )
    ends = [version_after_article(text, each.end) for each in numbers]
    spans = [
        replace(each, end=after[1]) if after else each
        for each, after in zip(numbers, ends, strict=True)
    ]
    return ParsedQuery(text, _without(text, [*spans, *laws]), references, tuple(laws))


def _reference(number: Mention, laws: Sequence[LawMention], text: str) -> ArticleReference:
    """The article that a number names: of a law, in the version that may stand after it."""
    after = version_after_article(text, number.end)
    mention = _law_of(number, laws, text, after[1] if after else number.end)
    if mention is not None and after is not None and not mention.version:
        mention = replace(mention, version=after[0])
    return ArticleReference(number.number, mention, number.paragraph, number.item)


def _with_their_version(
    references: list[ArticleReference], numbers: Sequence[Mention], text: str
) -> tuple[ArticleReference, ...]:
    """With the version that stands behind a list for all that it names: 第26条、第27条(2018年)."""
    for place in range(len(references) - 1, 0, -1):
        own, other = references[place - 1].mention, references[place].mention
        gap = text[numbers[place - 1].end : numbers[place].start]
        if own and other and own.law == other.law and not own.version and _LISTED.fullmatch(gap):
            references[place - 1] = replace(references[place - 1], mention=other)
    return tuple(references)


def _bare_numbers(text: str, laws: Sequence[LawMention]) -> list[Mention]:
    """The numbers right after the name of a law: 民法典 990, 民法典第990."""
    matches = [match for law in laws if (match := _BARE.match(text, law.end))]
    numbers = [
        Mention(Number(int(each["number"]), int(each["insert"] or 0)), each.start(), each.end())
        for each in matches
    ]
    without_unit = [match for law in laws if (match := _WITHOUT_UNIT.match(text, law.end))]
    for each in without_unit:
        number = numerals.value(each["number"] or each["written"])
        if number is not None and each.start() not in {other.start for other in numbers}:
            numbers.append(Mention(Number(number), each.start(), each.end()))
    return numbers


def _law_of(number: Mention, laws: Sequence[LawMention], text: str, end: int) -> LawMention | None:
    """The law that a number belongs to: the one before it, or one that follows it at once."""
    before = next((each for each in reversed(laws) if each.end <= number.start), None)
    after = next((each for each in laws if each.start >= end), None)
    if before is None or after is None:
        return before or after
    if _BETWEEN_NAME_AND_NUMBER.fullmatch(text[before.end : number.start]):
        return before
    return (
        after if _belongs_to_what_follows(number, text[end : after.start], after, text) else before
    )


def _belongs_to_what_follows(number: Mention, gap: str, after: LawMention, text: str) -> bool:
    """Whether a number is of the law behind it: Article 5 of the Civil Code, 第五条民法典."""
    if number.is_english:
        return bool(_OF_THE_LAW.fullmatch(gap))
    # 第五条民法典第六条 has one that belongs to the law, the later one.
    has_its_own = _BARE.match(text, after.end) or numerals.mentions(text[after.end :][:_NEAR])
    return bool(_BETWEEN_NAME_AND_NUMBER.fullmatch(gap.replace("《", ""))) and not has_its_own


def _without(text: str, spans: Sequence[Mention | LawMention]) -> str:
    """The text without what was understood."""
    letters = list(text.replace(STATE, " " * len(STATE)))
    for each in spans:
        letters[each.start : each.end] = " " * (each.end - each.start)
    return "".join(letters)
