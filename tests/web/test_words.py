"""The catalogues: every key in every language, and every key that is used there."""

import re
import string
from pathlib import Path

import pytest

from mcpyard.domain.cause import Code
from mcpyard.domain.model import Scope
from mcpyard.web.looks import EVERY_LOOK
from mcpyard.web.words import LANGUAGES, catalogue, choose_language

WEB = Path(__file__).parents[2] / "src" / "mcpyard" / "web"
ENGLISH = catalogue("en")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_the_same_blanks(language: str) -> None:
    words = catalogue(language)
    assert words.keys() == ENGLISH.keys()
    assert [key for key in words if not words[key].strip()] == []
    assert [key for key in words if blanks(words[key]) != blanks(ENGLISH[key])] == []


def test_every_word_that_a_template_says_is_in_the_catalogue() -> None:
    said = {
        key
        for template in WEB.rglob("*.html")
        for key in re.findall(r"""\bt\(['"]([^'"]+)['"][,)]""", template.read_text())
    }
    assert said - ENGLISH.keys() == set()


def test_every_status_cause_and_scope_has_its_word() -> None:
    assert {each.word for each in EVERY_LOOK} <= ENGLISH.keys()
    assert {f"cause.{code}" for code in Code} <= ENGLISH.keys()
    assert {f"scope.{scope}" for scope in Scope} <= ENGLISH.keys()


@pytest.mark.parametrize(
    ("chosen", "accepted", "language"),
    [
        (None, "", "en"),
        (None, "zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        (None, "zh-TW,zh;q=0.9", "zh-Hant"),
        (None, "zh-Hant-HK", "zh-Hant"),
        (None, "zh", "zh-Hans"),
        (None, "fr;q=0.9, zh-HK;q=0.5, en;q=0.1", "zh-Hant"),
        (None, "en;q=0.1, zh-CN;q=0.9", "zh-Hans"),
        (None, "fr, de;q=x", "en"),
        ("zh-Hant", "en", "zh-Hant"),
        ("xx", "zh-CN", "zh-Hans"),
    ],
)
def test_the_language_is_the_chosen_one_else_what_the_browser_likes_best(
    chosen: str | None, accepted: str, language: str
) -> None:
    assert choose_language(chosen, accepted) == language
