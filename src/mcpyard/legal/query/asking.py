"""What a query asks for: articles of laws, words, or both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.legal.notices import say
from mcpyard.legal.query import numerals
from mcpyard.legal.query.chapter_names import read_chapter
from mcpyard.legal.query.folding import one_line
from mcpyard.legal.query.law_mentions import LawMention, law_mentions
from mcpyard.legal.query.law_versions import OLD, version_after_article
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


# 第某某条 and 第-5条 of a law: no number of an article, and no word with the same characters.
_UNREAD_NUMBER: Final = re.compile(
    r"第\s*[^\s第条款项章节编,。;、?!()\u3400-\u9fff][^第条,。;、?!()]{0,10}\s*条"
    r"|第\s*[\u3400-\u9fff]{1,6}\s*条(?![件例款约文理目码])"
)
_NEW: Final = re.compile("新[、和与及]?$")
_COMPARED: Final = re.compile("新[、和与及]?|的?(?:对比|对照|比较|区别|差异|变化|异同)")
_SHORT_PROCEDURE: Final = re.compile(r"(?<![\u3400-\u9fff])([民刑行])诉(?=\s*(?:第|\d))")


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
        unread_numbers: What stands where the number of an article does, and is none.
        has_long_range: Whether it names a range of which `references` have only a part.
        chapter: The chapter of a law, if that is all that it says besides: 第二章, 第一节.
    """

    text: str
    rest: str
    references: tuple[ArticleReference, ...] = ()
    laws: tuple[LawMention, ...] = ()
    unread_numbers: tuple[str, ...] = ()
    has_long_range: bool = False
    chapter: tuple[str, ...] = ()

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
    # 民诉 is a piece of 人民诉讼, so it is a name of a law only before a number.
    text = _SHORT_PROCEDURE.sub(r"\1诉法", one_line(query))
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
    rest = _without(text, [*spans, *laws])
    if both := _of_both_versions(references, text):
        references, rest = (*references, *both), _COMPARED.sub(" ", rest)
    unread = tuple(_UNREAD_NUMBER.findall(rest)) if laws else ()
    rest = _UNREAD_NUMBER.sub(" ", rest) if unread else rest
    is_long = any(each.ends_long_range for each in numbers)
    chapter = () if references or unread else read_chapter(rest)
    return ParsedQuery(text, rest, references, tuple(laws), unread, is_long, chapter)


def _of_both_versions(
    references: Sequence[ArticleReference], text: str
) -> tuple[ArticleReference, ...]:
    """The articles of the current version, where 新旧公司法 names it beside the old one."""
    return tuple(
        replace(each, mention=replace(each.mention, version=""))
        for each in references
        if each.mention and each.mention.version == OLD and _NEW.search(text[: each.mention.start])
    )


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
