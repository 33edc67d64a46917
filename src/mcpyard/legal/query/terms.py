"""How text becomes the terms of the index, and a query the terms that are looked for.

The trigram tokenizer of SQLite finds no word of two characters, and those are the commonest ones in
Chinese. So a run of Chinese characters is indexed as its overlapping pairs in one column, where a
phrase of pairs is exactly a substring, and as its single characters in another.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from mcpyard.legal.query.folding import plain

_HAN: Final = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN: Final = re.compile(rf"([{_HAN}]+)|([^\W_{_HAN}]+)")


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
            terms.extend(pairs(match[1]))
            singles.extend(match[1])
        else:
            terms.append(match[2])
    return " ".join(terms), " ".join(singles)


def pairs_of(query: Runs) -> tuple[str, ...]:
    """The pairs of characters in a query."""
    return tuple(dict.fromkeys(pair for run in query.chinese for pair in pairs(run)))


def pairs(run: str) -> Iterator[str]:
    """The overlapping pairs of characters of a run."""
    return (first + second for first, second in pairwise(run))
