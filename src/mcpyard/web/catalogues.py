"""The page's words: flat catalogues, by language.

What the page itself says has the same keys in every language. What it passes on, the words of the
badges and the sentences of the program, is English where it arises, so that only the other
languages have texts of it: `messages` by the codes of findings and errors, `sentences` by their
English.
"""

import json
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from mcpyard.domain.display_status import DisplayStatus
from mcpyard.web.sentences import Pattern, Sentences

LANGUAGES: Final = {"en": "English", "zh-Hans": "简体中文", "zh-Hant": "繁體中文"}
"""Every language by its tag, under its own name."""

FALLBACK: Final = "en"

ONE: Final = "#one"
"""Ends the key of an English text about one of something; Chinese has no plural."""

_FOLDER: Final = Path(__file__).with_name("catalogues")
_STATUSES: Final = {each.key: each.capitalize() for each in DisplayStatus}
_TRADITIONAL: Final = frozenset({"hant", "tw", "hk", "mo"})


class Catalogue:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._catalogue = catalogue(language)

    def __call__(self, key: str, **values: object) -> str:
        """The text of a key, with its blanks filled in."""
        text = self._catalogue[key]
        if not values:
            return text
        if self.native and 1 in values.values():
            text = self._catalogue.get(f"{key}{ONE}", text)
        return text.format_map(values) if self.native else Pattern(text).format_map(values)

    @property
    def native(self) -> bool:
        """Whether the program's own sentences are in this language."""
        return self.language == FALLBACK

    def say(self, text: str) -> str:
        """A sentence of the program in this language; what it did not write stays as it is."""
        return text if self.native else self._sentences.say(text)

    @cached_property
    def _sentences(self) -> Sentences:
        return Sentences(self.language)

    def get(self, key: str, otherwise: str) -> str:
        """The text of a key that may be missing."""
        return self._catalogue.get(key, otherwise)


@cache
def catalogue(language: str) -> dict[str, str]:
    """Every text of a language by its key.

    In English the words of the badges are those of the commands, and what the program has to say of
    itself is said already; the other languages have these besides.
    """
    if language == FALLBACK:
        return _STATUSES | _read(language)
    return _read(language) | _read(f"messages.{language}")


def _read(name: str) -> dict[str, str]:
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


@cache
def words_in(language: str) -> Catalogue:
    """The words of a language, read once."""
    return Catalogue(language)


def choose_language(chosen: str | None, accepted: str) -> str:
    """The language to answer in: the chosen one, else the best that the browser accepts."""
    if chosen in LANGUAGES:
        return chosen
    for tag in _by_preference(accepted):
        primary, *rest = tag.lower().split("-")
        if primary == "zh":
            return "zh-Hant" if _TRADITIONAL.intersection(rest) else "zh-Hans"
        if primary in LANGUAGES:
            return primary
    return FALLBACK


def _by_preference(accepted: str) -> list[str]:
    ranked: list[tuple[float, str]] = []
    for each in accepted.split(","):
        tag, _, weight = each.strip().partition(";q=")
        try:
            rank = float(weight) if weight else 1.0
        except ValueError:
            continue
        if tag and rank > 0:
            ranked.append((-rank, tag))
    return [tag for _, tag in sorted(ranked, key=lambda each: each[0])]
