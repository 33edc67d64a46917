"""The tables that ship with the server: names of laws, repeals, synonyms, characters.

Files of tab-separated columns; a line that begins with # says what the columns are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = Path(__file__).parent / "data"
UNVERIFIED: Final = "unverified"


@dataclass(frozen=True, slots=True)
class LawNameRow:
    """A law by its full name, its short names and its English names."""

    name: str
    short: tuple[str, ...]
    english: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repeal:
    """The end of a law.

    Attributes:
        name: The law, without the name of the state.
        day: The first day without it.
        successor: The law, and the part of it, that took its place; may be empty.
        basis: The article that says so, or "unverified".
    """

    name: str
    day: str
    successor: str
    basis: str


def _rows(name: str, columns: int) -> Iterator[list[str]]:
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("\t")]
            yield (cells + [""] * columns)[:columns]


def _split(cell: str, separator: str) -> tuple[str, ...]:
    return tuple(part for each in cell.split(separator) if (part := each.strip()))


@cache
def law_names() -> tuple[LawNameRow, ...]:
    """Chinese laws with their usual names, whether a corpus holds them or not."""
    return tuple(
        LawNameRow(name, _split(short, "、"), _split(english, ";"))
        for name, short, english in _rows("laws.tsv", 3)
    )


@cache
def repeals() -> dict[str, Repeal]:
    """Laws that ended, by name."""
    return {row[0]: Repeal(*row) for row in _rows("repealed.tsv", 4)}


@cache
def in_force_dates() -> dict[tuple[str, str], str]:
    """The first day of versions that may be unknown from the texts, by law and version date."""
    return {(row[0], row[1]): row[2] for row in _rows("in_force.tsv", 4)}


@dataclass(frozen=True, slots=True)
class ListedVersion:
    """A version of a law that a collection may lack.

    Attributes:
        version_date: The day on which it was promulgated.
        valid_from: Its first day in force.
        basis: The article that says so, or "unverified".
    """

    version_date: str
    valid_from: str
    basis: str


@cache
def versions_of(name: str) -> tuple[ListedVersion, ...]:
    """The versions of a law that the table knows."""
    return tuple(ListedVersion(*row[1:]) for row in _rows("in_force.tsv", 4) if row[0] == name)


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """What statutes say, by what people say."""
    table: dict[str, tuple[str, ...]] = {}
    for lay, legal in _rows("synonyms.tsv", 2):
        for phrase in _split(lay.lower(), "、"):
            table[phrase] = tuple(dict.fromkeys(table.get(phrase, ()) + _split(legal, "、")))
    return table


@cache
def english_terms() -> dict[str, tuple[str, ...]]:
    """Chinese legal terms, by English ones."""
    table: dict[str, tuple[str, ...]] = {}
    for english, chinese in _rows("english_terms.tsv", 2):
        for phrase in _split(english.lower(), ";"):
            table[phrase] = tuple(dict.fromkeys(table.get(phrase, ()) + _split(chinese, "、")))
    return table


@dataclass(frozen=True, slots=True)
class LawTopic:
    """How likely a question is about a law, or about a part of a code.

    Attributes:
        weight: Of its articles in any search: people ask more about a civil code than about ships.
        triggers: Words of queries that are about it.
    """

    weight: float
    triggers: tuple[str, ...]


@cache
def topics() -> dict[tuple[str, str], LawTopic]:
    """The topics of laws, by name and part."""
    return {
        (law, part): LawTopic(float(weight), _split(words, "、"))
        for law, part, weight, words in _rows("topics.tsv", 4)
    }


class Subject(NamedTuple):
    """An article that people ask about.

    Attributes:
        law: The law, without the name of the state.
        version: The date of the version that has this number; empty if amendments keep it.
        number: The number of the article.
        insertion: That of an article which was put in after it.
    """

    law: str
    version: str
    number: int
    insertion: int


@cache
def subjects() -> dict[Subject, tuple[str, ...]]:
    """A subject index of the laws: what people say, by the article that is about it."""
    return _by_article("subjects.tsv")


@cache
def article_questions() -> dict[Subject, tuple[str, ...]]:
    """What people ask, in whole questions, by the article that answers it."""
    return _by_article("article_questions.tsv")


def _by_article(name: str) -> dict[Subject, tuple[str, ...]]:
    table: dict[Subject, dict[str, None]] = {}
    for law, version, articles, words in _rows(name, 4):
        for article in _split(articles, "、"):
            number, _, insertion = article.partition("-")
            subject = Subject(law, version, int(number), int(insertion or 0))
            table.setdefault(subject, {}).update(dict.fromkeys(_split(words, "、")))
    return {subject: tuple(words) for subject, words in table.items()}


@cache
def word_groups() -> tuple[tuple[str, ...], ...]:
    """Words of ordinary language that say the same."""
    return tuple(_split(words, "、") for (words,) in _rows("word_groups.tsv", 1))


@cache
def messages() -> dict[str, tuple[str, str]]:
    """What the server says, in English and in Chinese."""
    return {name: (english, chinese) for name, english, chinese in _rows("messages.tsv", 3)}


@cache
def question_words() -> tuple[str, ...]:
    """Words that a question has and its answer has not, the longest first."""
    text = (_FOLDER / "question_words.txt").read_text(encoding="utf-8")
    return tuple(sorted(set(text.split()), key=len, reverse=True))


@cache
def simplified_characters() -> dict[int, str]:
    """Simplified characters by the code points of traditional ones, for `str.translate`."""
    text = (_FOLDER / "traditional.txt").read_text(encoding="utf-8")
    return {ord(pair[0]): pair[1] for pair in text.split()}
