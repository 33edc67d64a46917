"""The names of laws: with and without 中华人民共和国, short names, English names, parts of a code.

Nothing is guessed: a name that only resembles a law's leads to suggestions. A repealed law
often has a name that is a piece of another's (合同法, 劳动合同法), and other article numbers.
"""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcpyard.legal.query.terms import plain

_STATE: Final = "中华人民共和国"
_AROUND: Final = re.compile(r"[\s《》〈〉「」『』“”\"'\u2018\u2019·,.。:;、的]+")
_ARTICLES: Final = re.compile(r"\b(?:the|of|in|prc|people's republic of china|chinese)\b")
_POLITE: Final = re.compile("^(?:请问|请|查询|查找|查|根据|依据|依照|按照|关于|我国|中国)+")
_ALIKE: Final = 0.34
_MOST_ALIKE: Final = 5
_PART: Final = "编"

# Names in common use; each counts where the corpus holds that law.
_SHORT: Final = {
    "刑诉法": "刑事诉讼法",
    "民诉法": "民事诉讼法",
    "行诉法": "行政诉讼法",
    "消法": "消费者权益保护法",
    "消保法": "消费者权益保护法",
    "未保法": "未成年人保护法",
    "妇保法": "妇女权益保障法",
    "反家暴法": "反家庭暴力法",
    "反电诈法": "反电信网络诈骗法",
    "破产法": "企业破产法",
    "土地承包法": "农村土地承包法",
    "个独法": "个人独资企业法",
    "civilcode": "民法典",
    "criminallaw": "刑法",
    "criminalcode": "刑法",
    "constitution": "宪法",
    "companylaw": "公司法",
    "labourlaw": "劳动法",
    "laborlaw": "劳动法",
    "labourcontractlaw": "劳动合同法",
    "laborcontractlaw": "劳动合同法",
    "civilprocedurelaw": "民事诉讼法",
    "criminalprocedurelaw": "刑事诉讼法",
    "consumerprotectionlaw": "消费者权益保护法",
    "patentlaw": "专利法",
    "trademarklaw": "商标法",
    "copyrightlaw": "著作权法",
}


@dataclass(frozen=True, slots=True)
class Law:
    """A law that the corpus holds, or one part of a code."""

    title: str
    part: str = ""

    @property
    def name(self) -> str:
        """How it is shown: without the name of the state, with its part."""
        return f"{self.title.removeprefix(_STATE)} {self.part}".strip()


def key(title: str) -> str:
    """What two spellings of one title have in common."""
    return _AROUND.sub("", _ARTICLES.sub(" ", plain(title))).removeprefix(_STATE)


class LawNames:
    """Finds laws by any of their names."""

    def __init__(self, laws: Iterable[Law]) -> None:
        self._laws: dict[str, Law] = {}
        for law in laws:
            self._laws.setdefault(key(law.title), Law(law.title))
            if law.part:
                self._laws.setdefault(key(law.title + law.part), law)
            if law.part.endswith(_PART):
                self._laws.setdefault(key(law.part), law)
        for short, full in _SHORT.items():
            if full in self._laws:
                self._laws.setdefault(short, self._laws[full])

    def find(self, name: str) -> Law | None:
        """The law that bears that very name, or a short name for it."""
        return self._laws.get(key(name))

    def ending(self, text: str) -> Law | None:
        """The law whose name a text ends with; the longest name counts."""
        words = _words(text)
        return self._first(words[start:] for start in range(len(words)))

    def beginning(self, text: str) -> Law | None:
        """The law whose name a text begins with; the longest name counts."""
        words = _words(text)
        return self._first(words[:end] for end in range(len(words), 0, -1))

    def alike(self, name: str) -> list[Law]:
        """The laws whose names come nearest."""
        wanted_key = key(name)
        near = difflib.get_close_matches(wanted_key, self._laws, _MOST_ALIKE, _ALIKE)
        holding = [
            each for each in self._laws if wanted_key and (wanted_key in each or each in wanted_key)
        ]
        return [*dict.fromkeys(self._laws[each] for each in holding + near)][:_MOST_ALIKE]

    def _first(self, candidates: Iterable[list[str]]) -> Law | None:
        titles = (self.find(" ".join(words)) for words in candidates)
        return next((law for law in titles if law is not None), None)


def _words(text: str) -> list[str]:
    """The words of a text; a name in Chinese is one, without the polite words before it."""
    return [_POLITE.sub("", word) for word in re.split(_AROUND, text) if word]
