"""How text becomes the terms of the index, and a query the terms that are looked for.

The trigram tokenizer of SQLite finds no word of two characters, and those are the commonest ones in
Chinese. So a run of Chinese characters is indexed as its overlapping pairs in one column, where a
phrase of pairs is exactly a substring, and as its single characters in another.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_HAN: Final = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN: Final = re.compile(rf"([{_HAN}]+)|([^\W_{_HAN}]+)")
_MOST_PIECES: Final = 48


@dataclass(frozen=True, slots=True)
class Runs:
    """A query taken apart: runs of Chinese characters, and words of other scripts."""

    chinese: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.chinese and not self.words

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, as a reader would recognise them in a text."""
        return self.chinese + self.words


def plain(text: str) -> str:
    """The text with full-width letters and digits made ordinary, in lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def runs(query: str) -> Runs:
    """The runs and words of a query; whatever else stands in it separates them."""
    matches = [*_RUN.finditer(plain(query))]
    chinese = dict.fromkeys(each[1] for each in matches if each[1])
    words = dict.fromkeys(each[2] for each in matches if each[2])
    return Runs(tuple(chinese), tuple(words))


def indexed(text: str) -> tuple[str, str]:
    """The two columns of a text: words and pairs of characters, and single characters."""
    terms: list[str] = []
    singles: list[str] = []
    for match in _RUN.finditer(plain(text)):
        if match[1]:
            terms.extend(_pairs(match[1]))
            singles.extend(match[1])
        else:
            terms.append(match[2])
    return " ".join(terms), " ".join(singles)


def strict_matches(query: Runs) -> tuple[str, str]:
    """The questions for passages with all that is asked: whole runs, and only their pairs.

    Every term is quoted, so nothing in a query is an operator of the index.
    """
    whole = [*map(_phrase, query.chinese), *map(_word, query.words)]
    return " AND ".join(whole), " AND ".join(_pieces(query))


def loose_match(query: Runs) -> str:
    """The question for passages with anything of what is asked."""
    return " OR ".join(_pieces(query))


def pairs_of(query: Runs) -> tuple[str, ...]:
    """The pairs of characters in a query."""
    return tuple(dict.fromkeys(pair for run in query.chinese for pair in _pairs(run)))


def _pieces(query: Runs) -> list[str]:
    singles = [_single(run) for run in query.chinese if len(run) == 1]
    return [*singles, *map(_word, (query.words + pairs_of(query))[:_MOST_PIECES])]


def _phrase(run: str) -> str:
    return _single(run) if len(run) == 1 else _word(" ".join(_pairs(run)))


def _single(character: str) -> str:
    return f'{{singles title_singles}} : "{character}"'


def _word(term: str) -> str:
    return f'{{terms title heading}} : "{term}"'


def _pairs(run: str) -> Iterator[str]:
    return (first + second for first, second in pairwise(run))
