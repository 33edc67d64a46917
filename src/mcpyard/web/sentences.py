"""The program's own sentences in another language, found by their English.

A sentence is English where it arises and stays so in records, logs and the interface. The page
finds it again among the templates of a catalogue, takes its parameters out and puts them into the
template of the other language. What no template fits was written by a server, a parser or the
system: it stays as it is and is marked so that nobody translates it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

_FOLDER: Final = Path(__file__).with_name("catalogues")
_BLANK: Final = re.compile(r"\{(\w+)\}")
_BRACES: Final = re.compile(r"(\{\{|\}\})|\{(\w+)\}")
"""Doubled braces, each of which stands for one, and blanks."""

_LONGEST: Final = 2000
"""Characters of a text that are looked at; no sentence of the program is longer."""

_DEEPEST: Final = 4
"""Sentences inside each other."""

_COLON: Final = "\uff1a"
_SEMICOLON: Final = "\uff1b"
_SENTENCE: Final = ("why", "then")
"""Begins the names of parameters that are sentences themselves."""


class Translated(str):
    """A text whose parts know whether they are the program's own words.

    Attributes:
        parts: The text in parts, each with whether it is foreign.
    """

    __slots__ = ("parts",)

    parts: tuple[tuple[str, bool], ...]

    @classmethod
    def of(cls, *parts: tuple[str, bool]) -> "Translated":
        """A text out of its parts."""
        made = cls("".join(text for text, _ in parts))
        made.parts = tuple(each for each in parts if each[0])
        return made

    @property
    def foreign(self) -> bool:
        """Whether nothing of it is the program's own."""
        return all(foreign for _, foreign in self.parts)

    def markup(self, longest: int) -> Markup:
        """Its beginning as HTML, in which nobody translates what is foreign."""
        made, left = Markup(), longest
        for text, foreign in self.parts:
            piece = text[:left]
            made += Markup('<span translate="no">{}</span>').format(piece) if foreign else piece
            left -= len(piece)
        return made if len(self) <= longest else made + "…"


class Pattern(str):
    """A template whose blanks are filled with foreign texts, or with translated ones."""

    __slots__ = ()

    def format_map(self, mapping: Mapping[str, object], /) -> Translated:  # type: ignore[override]
        """The template with its blanks filled in."""
        parts: list[tuple[str, bool]] = []
        end = 0
        for token in _BRACES.finditer(self):
            parts.append((self[end : token.start()], False))
            end = token.end()
            braces, blank = token.groups()
            value = braces[0] if braces else mapping[blank]
            if isinstance(value, Translated):
                parts.extend(value.parts)
            else:
                parts.append((str(value), not braces))
        return Translated.of(*parts, (self[end:], False))


@dataclass(frozen=True, slots=True)
class _Template:
    """An English sentence: what stands around its blanks, their names, its translation."""

    literals: tuple[str, ...]
    blanks: tuple[str, ...]
    other: Pattern

    @classmethod
    def of(cls, english: str, other: str) -> "_Template":
        pieces = _BLANK.split(english)
        return cls(tuple(pieces[::2]), tuple(pieces[1::2]), Pattern(other))

    def match(self, text: str) -> dict[str, str] | None:
        """What fills the blanks in a text; in one pass, since anybody may have written the text."""
        first, *between = self.literals
        if not between:
            return {} if text == first else None
        last = between.pop()
        if len(text) < len(first) + len(last):
            return None
        if not (text.startswith(first) and text.endswith(last)):
            return None
        end, at = len(text) - len(last), len(first)
        values: list[str] = []
        for literal in between:
            index = text.find(literal, at, end)
            if index < 0:
                return None
            values.append(text[at:index])
            at = index + len(literal)
        values.append(text[at:end])
        # What a sentence is about stands before it, and is no part of its first word.
        if not first and ": " in values[0]:
            return None
        return dict(zip(self.blanks, values, strict=True))


class Sentences:
    """The program's sentences in one language."""

    def __init__(self, language: str) -> None:
        text = (_FOLDER / f"sentences.{language}.json").read_text(encoding="utf-8")
        entries: dict[str, str] = json.loads(text)
        templates = [_Template.of(english, other) for english, other in entries.items()]
        # Where several fit, the one that says most is meant.
        templates.sort(key=lambda each: -sum(map(len, each.literals)))
        self._templates = templates
        self.say = lru_cache(1024)(self._say)

    def _say(self, text: str) -> Translated:
        """A sentence in this language, or the text itself as something foreign."""
        translation = self._translate(text, 0) if len(text) <= _LONGEST else None
        return translation or Translated.of((text, True))

    def _translate(self, text: str, depth: int) -> Translated | None:
        if depth > _DEEPEST or not text:
            return None
        for template in self._templates:
            values = template.match(text)
            if values is not None:
                filled = {
                    name: self._inner(name, value, depth + 1) for name, value in values.items()
                }
                return template.other.format_map(filled)
        return self._pieces(text, depth + 1)

    def _inner(self, name: str, value: str, depth: int) -> str:
        if not name.startswith(_SENTENCE):
            return value
        return self._translate(value, depth) or value

    def _pieces(self, text: str, depth: int) -> Translated | None:
        """A sentence behind the name of what it is about, or several in a row."""
        for between, other in ((": ", _COLON), ("; ", _SEMICOLON)):
            head, separator, rest = text.partition(between)
            sentence = self._translate(rest, depth) if separator else None
            if sentence:
                before = self._translate(head, depth) or Translated.of((head, True))
                return Translated.of(*before.parts, (other, False), *sentence.parts)
        return None
