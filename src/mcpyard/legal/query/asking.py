"""What a query asks for: an article of a law, words, or both."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from mcpyard.legal.query import numerals
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.terms import Runs, runs
from mcpyard.legal.query.titles import Law, LawNames

LONGEST_QUERY: Final = 1_000
_BARE: Final = re.compile(r"(?P<law>.*\D)\s*(?P<number>\d{1,5})")


_NONE: Final = Runs((), ())


class BadQuery(ValueError):
    """A query that can't be answered; the message says what to ask instead."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, understood.

    Attributes:
        words: All that it says, for the index.
        number: The article it names, if any.
        law: The law it names together with the article, if any.
        rest: What it says besides law and article.
    """

    words: Runs
    rest: Runs
    number: Number | None = None
    law: Law | None = None


def understand(query: str, names: LawNames) -> ParsedQuery:
    """What a query asks for.

    Raises:
        BadQuery: It is empty, or too long to be a query.
    """
    if len(query) > LONGEST_QUERY:
        raise BadQuery(
            f"The query has {len(query):,} characters; at most {LONGEST_QUERY:,} are searched. "
            "Ask with the few words that matter."
        )
    words = runs(query)
    if words.empty:
        raise BadQuery("The query is empty: give words, or a law and an article number.")
    text = unicodedata.normalize("NFKC", query)
    if (mention := numerals.find(text)) is not None:
        before, after = text[: mention.start], text[mention.end :]
        law = names.ending(before) or names.beginning(after)
        only_law = names.find(f"{before} {after}") is not None
        return ParsedQuery(
            words, _NONE if only_law else runs(f"{before} {after}"), mention.number, law
        )
    if (bare := _BARE.fullmatch(text.strip())) and (law := names.find(bare["law"])):
        return ParsedQuery(words, _NONE, Number(int(bare["number"])), law)
    return ParsedQuery(words, words)
