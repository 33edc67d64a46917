"""The catalogues: every key in every language, and every key that is used there."""

import re
import string
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from mcpyard.domain.cause import Code
from mcpyard.domain.display_status import DisplayStatus
from mcpyard.domain.edges import EDGES
from mcpyard.domain.model import Scope
from mcpyard.formats.finding import ADVICE, SAYS
from mcpyard.web.badges import EVERY_BADGE
from mcpyard.web.catalogues import LANGUAGES, ONE, catalogue, choose_language, words_in
from mcpyard.web.sentences import Pattern
from mcpyard.yard.calls.accounts import OK, TOOL_ERROR
from mcpyard.yard.calls.attempt import CANCELLED

WEB = Path(__file__).parents[2] / "src" / "mcpyard" / "web"
ENGLISH = catalogue("en")
OTHERS = [each for each in LANGUAGES if each != "en"]


def program_keys() -> dict[str, set[str]]:
    """Every sentence of the program itself by its key in a catalogue, with what can fill it."""
    texts = {f"lint.{key}": blanks(text) | {"program"} for key, text in SAYS.items()}
    texts |= {f"advice.{key}": blanks(text) | {"program"} for key, text in ADVICE.items()}
    texts |= {f"outcome.{each}": set() for each in (OK, TOOL_ERROR, CANCELLED)}
    codes = {"internal", *(each.problem for each in EDGES.values())}
    texts |= {f"{kind}.{code}": set() for kind in ("error", "remedy") for code in codes}
    return texts


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


SAID = program_keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys_and_the_same_blanks(language: str) -> None:
    words = catalogue(language)
    own = {key for key in words if key not in SAID and not key.endswith(ONE)}
    assert own == {key for key in ENGLISH if not key.endswith(ONE)}
    assert [key for key in words if not words[key].strip()] == []
    assert [key for key in own if blanks(words[key]) != blanks(ENGLISH[key])] == []


def test_english_tells_one_from_several() -> None:
    t = words_in("en")
    assert t("card.tool_count", count=1) == "1 tool"
    assert t("card.tool_count", count=0) == "0 tools"
    assert t("trial.ok", version="2025-11-25", count=1).endswith("1 tool found.")
    assert words_in("zh-Hans")("card.tool_count", count=1) == "1 个工具"
    singular = [key for key in ENGLISH if key.endswith(ONE)]
    assert [
        key for key in singular if blanks(ENGLISH[key]) - blanks(ENGLISH[key[: -len(ONE)]])
    ] == []


def fillings() -> list[tuple[str, str, set[str]]]:
    """Every text that a template names, with the template and what it fills in."""
    reader = Environment(autoescape=True)
    return [
        (path.name, call.args[0].value, {each.key for each in call.kwargs})
        for path in (WEB / "templates").rglob("*.html")
        for call in reader.parse(path.read_text()).find_all(nodes.Call)
        if isinstance(call.node, nodes.Name)
        and call.node.name == "t"
        and isinstance(call.args[0], nodes.Const)
    ]


def test_a_template_fills_every_blank_of_a_text_and_nothing_else() -> None:
    texts = fillings()
    assert len(texts) > 300
    # What a template fills in at no place is for a script.
    filled = [each for each in texts if each[2]]
    assert [each for each in filled if blanks(ENGLISH[each[1]]) != each[2]] == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_other_language_says_whatever_the_program_says_in_english(language: str) -> None:
    words = catalogue(language)
    assert SAID.keys() - words.keys() == set()
    assert [key for key in SAID if not blanks(words[key]) <= SAID[key]] == []


@pytest.mark.parametrize("language", ["en", *OTHERS])
def test_a_reference_stands_in_a_text_with_one_pair_of_braces(language: str) -> None:
    words = words_in(language)
    assert "${TOKEN}" in words("fix.set_text", name="TOKEN")
    assert "{{" not in words("fix.set_text", name="TOKEN")
    if not words.native:
        assert "${keyring:NAME}" in str(Pattern(words("advice.use-keyring")).format_map({}))


@pytest.mark.parametrize("language", OTHERS)
def test_no_fact_of_a_finding_gets_lost_in_another_language(language: str) -> None:
    words = catalogue(language)
    for prefix, texts in (("lint", SAYS), ("advice", ADVICE)):
        for key, text in texts.items():
            allowed = blanks(words[f"{prefix}.{key}"]) | {"detail", "program"}
            assert blanks(text) <= allowed, key


def test_every_word_that_a_template_says_is_in_the_catalogue() -> None:
    keys = {
        key
        for template in WEB.rglob("*.html")
        for key in re.findall(r"""\bt\(['"]([^'"]+)['"][,)]""", template.read_text())
    }
    assert keys - ENGLISH.keys() == set()


def test_the_page_says_in_english_what_the_commands_say() -> None:
    assert [ENGLISH[each.key].lower() for each in DisplayStatus] == [*DisplayStatus]


def test_every_status_cause_and_scope_has_its_word() -> None:
    assert {each.word for each in EVERY_BADGE} <= ENGLISH.keys()
    assert {f"{kind}.{code}" for kind in ("cause", "todo") for code in Code} <= ENGLISH.keys()
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
