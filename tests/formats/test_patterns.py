"""What holds whatever the regular expressions of the running Python do."""

import re
from types import ModuleType

import pytest

from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.formats.editors import jsonc, jsonc_faults, jsonc_scan, toml, toml_scan
from mcpyard.formats.editors.patterns import COMMENT, NO_PROGRESS, NoProgress, advanced, repeated

NEVER = re.compile("(?!)")
EMPTY = re.compile("")
# They give the groups that the scanner reads, without consuming anything.
EMPTY_STATEMENT = re.compile(r"(?P<line>)(?P<header>)(?P<key>)(?P<value>)")
EMPTY_ELEMENT = re.compile(r"(?P<key>)(?P<value>)(?=1)")


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        (repeated(r"[ \t]*+\r?\n"), "  \n  a", 3),
        (repeated("ab"), "ababa", 4),
        (repeated("ab"), "b", 0),
        (COMMENT, "/* x */ y", 7),
        (COMMENT, "/***/ */", 5),
        (COMMENT, "// x\ny", 4),
        (rf"{repeated('a|b')}b?", "abab", 4),
    ],
)
def test_a_repeated_part_ends_where_its_last_success_ended(
    pattern: str, text: str, end: int
) -> None:
    match = re.match(pattern, text)
    assert match
    assert match.end() == end


def test_of_a_repeated_part_nothing_is_given_back() -> None:
    assert re.match(rf"{repeated('a|b')}b", "abab") is None
    assert re.match(COMMENT + "$", "/* x */ */") is None


def test_a_step_that_consumes_nothing_is_an_error() -> None:
    assert advanced(3, 4) == 4
    for after in (3, 2):
        with pytest.raises(NoProgress) as caught:
            advanced(3, after)
        assert caught.value.offset == 3


@pytest.mark.parametrize(
    ("scanner", "pattern", "text", "place"),
    [
        ((toml_scan, "_STATEMENT"), EMPTY_STATEMENT, "", (1, 1)),
        ((toml_scan, "_STATEMENT"), NEVER, "# x\n[a]\n", (1, 1)),
        ((toml_scan, "_BRACKET"), EMPTY, "x = 1\na = [1]", (2, 5)),
        ((toml_scan, "_BRACKET"), NEVER, "x = 1\na = [1]", (2, 5)),
        ((jsonc_faults, "_SKIP"), EMPTY, "{\n", (1, 1)),
    ],
)
def test_a_scanner_that_makes_no_progress_ends_and_says_where(
    scanner: tuple[ModuleType, str],
    pattern: re.Pattern[str],
    text: str,
    place: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = jsonc if scanner[0] is jsonc_faults else toml
    monkeypatch.setattr(*scanner, pattern)
    with pytest.raises(DocumentBroken) as caught:
        editor.parse(text, file="x")
    (problem,) = caught.value.problems
    assert problem == Problem("", NO_PROGRESS, SourceLocation("x", *place))


@pytest.mark.parametrize("pattern", [EMPTY_ELEMENT, NEVER])
def test_an_edit_that_makes_no_progress_is_refused(
    pattern: re.Pattern[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toml_scan, "_ELEMENT", pattern)
    with pytest.raises(NoProgress):
        toml.set_value("a = [1, 1]\n", ("a",), [2, 1])


def test_a_walk_that_makes_no_progress_is_a_broken_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonc_scan, "_NEXT", re.compile("(?=(,))"))
    with pytest.raises(DocumentBroken):
        jsonc_scan.read('{"a": 1, "b": 2}', ("b",))
