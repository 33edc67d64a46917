"""The names of laws: with and without 中华人民共和国, short names, English names, parts of a code.

Nothing is guessed: a name that only resembles a law's leads to suggestions. A repealed law
often has a name that is a piece of another's (合同法, 劳动合同法), and other article numbers.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcpyard.legal import tables
from mcpyard.legal.query.folding import plain
from mcpyard.legal.tables import Repeal

STATE: Final = "中华人民共和国"
_AROUND: Final = re.compile(r"[\s《》〈〉「」『』“”\"'\u2018\u2019·,.。:;、的]+")
ENGLISH_FILLERS: Final = frozenset(
    ("the", "of", "in", "on", "prc", "people's", "republic", "china", "chinese")
)
_FILLERS: Final = re.compile(rf"\b(?:{'|'.join(ENGLISH_FILLERS)})(?![\w'])")
_BRACKETS: Final = re.compile("[()\uff08\uff09]")
# The amendments of the constitution are told apart by their years only.
_OF_A_YEAR: Final = re.compile(r"(.+)[(\uff08](\d{4})年[)\uff09]")
_ALIKE: Final = 0.34
_MOST_ALIKE: Final = 5
_PART: Final = "编"


@dataclass(frozen=True, slots=True)
class Law:
    """A law that the corpus holds, or one part of a code."""

    title: str
    part: str = ""

    @property
    def name(self) -> str:
        """How it is shown: without the name of the state, with its part."""
        return f"{self.short_title} {self.part}".strip()

    @property
    def short_title(self) -> str:
        """Its title without the name of the state."""
        return self.title.removeprefix(STATE)


@dataclass(frozen=True, slots=True)
class OutsideLaw:
    """A law that the corpus does not hold: one of the tables, or a name that looks like a law's."""

    name: str
    repeal: Repeal | None = None


def key(title: str) -> str:
    """What two spellings of one title have in common."""
    return _AROUND.sub("", _FILLERS.sub(" ", plain(title))).removeprefix(STATE)


class LawNames:
    """Finds laws by any of their names."""

    def __init__(self, laws: Iterable[Law]) -> None:
        self._laws: dict[str, Law] = {}
        self._outside: dict[str, OutsideLaw] = {}
        for law in laws:
            self._laws.setdefault(key(law.title), Law(law.title))
            self._laws.setdefault(_BRACKETS.sub("", key(law.title)), Law(law.title))
            if match := _OF_A_YEAR.fullmatch(law.title):
                name, year = match.groups()
                for other in (f"{year}年{name}", f"{year}{name}", f"{name}{year}"):
                    self._laws.setdefault(key(other.replace(STATE, "")), Law(law.title))
            if law.part:
                self._laws.setdefault(key(law.title + law.part), law)
                self._laws.setdefault(key(law.title + law.part + _PART), law)
            if law.part.endswith(_PART):
                self._laws.setdefault(key(law.part), law)
        for row in tables.law_names():
            self._add(row.name, (*row.short, *row.english))
        for name in tables.repeals():
            self._add(name, ())
        self.lengths = sorted({len(each) for each in (*self._laws, *self._outside)}, reverse=True)

    def find(self, name: str) -> Law | None:
        """The law of the corpus that bears that very name, or a short name for it."""
        return self._laws.get(key(name))

    def look_up(self, name: str) -> Law | OutsideLaw | None:
        """The law that bears that name, in the corpus or outside it."""
        return self._laws.get(name_key := key(name)) or self._outside.get(name_key)

    def alike(self, name: str) -> list[Law]:
        """The laws whose names come nearest."""
        name_key = key(name)
        near = difflib.get_close_matches(name_key, self._laws, _MOST_ALIKE, _ALIKE)
        holding = [
            each for each in self._laws if name_key and (name_key in each or each in name_key)
        ]
        return [*dict.fromkeys(self._laws[each] for each in holding + near)][:_MOST_ALIKE]

    def _add(self, name: str, others: Iterable[str]) -> None:
        """The names of a law of the tables; those of the corpus' own laws stay."""
        if (law := self._laws.get(key(name))) is not None:
            for other in others:
                self._laws.setdefault(key(other), law)
            return
        outside = OutsideLaw(name, tables.repeals().get(name))
        for each in (name, *others):
            self._outside.setdefault(key(each), outside)
