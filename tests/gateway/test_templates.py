"""Which addresses fit a resource template, and what it may cost to find out."""

import logging
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcpyard.gateway import uri_templates
from mcpyard.gateway.uri_templates import LONGEST, MOST_EXPRESSIONS, UriText, template_of

if TYPE_CHECKING:
    from _typeshed import TraceFunction

PARTS = ["{a}", "{+a}", "{#a}", "{/a}", "{?a,b}", "{", "}", "/", "?", "#", "a", "b", "\n", "é"]


def fits(template: str, uri: str) -> bool:
    made = template_of(template)
    return made is not None and made.fits(UriText(uri))


def pattern_of(template: str) -> re.Pattern[str]:
    """What a template means, as a pattern: right, and for some templates endless."""
    pattern, end = "", 0
    for match in re.finditer(r"\{([+#./;?&]?)[^{}]*\}", template):
        pattern += re.escape(template[end : match.start()])
        pattern += "[^/?#]*" if match[1] == "" else ".*"
        end = match.end()
    return re.compile(pattern + re.escape(template[end:]))


@given(
    st.lists(st.sampled_from(PARTS), max_size=8).map("".join),
    st.text(alphabet="ab/?#\né{}", max_size=12),
)
@example("{+a}a{b}b", "a/ab")
@example("a{b}a", "a")
@example("{a}", "")
def test_a_template_fits_what_its_pattern_fits(template: str, uri: str) -> None:
    assert fits(template, uri) == (pattern_of(template).fullmatch(uri) is not None)


@given(st.data())
def test_an_address_made_from_a_template_fits_it(data: st.DataObject) -> None:
    parts = data.draw(st.lists(st.sampled_from(PARTS), max_size=10))
    values = {"{a}": st.text("abé", max_size=5)}
    other = st.text("ab/?#", max_size=5)
    made = [
        data.draw(values.get(part, other)) if len(part) > 1 else part
        for part in parts
        if part not in "{}"
    ]
    assert fits("".join(part for part in parts if part not in "{}"), "".join(made))


@pytest.mark.spec("F2.2")
@given(
    st.lists(st.sampled_from([*PARTS, "aaaa", "{+a}{+b}"]), max_size=300).map("".join),
    st.text(alphabet="ab/", max_size=400),
)
@example("{+a}" * MOST_EXPRESSIONS + "!", "a" * LONGEST)
@example("{+a}" * MOST_EXPRESSIONS + "!" + "{+a}", "a" * LONGEST)
@example("{+a}a" * MOST_EXPRESSIONS + "b", "a" * LONGEST + "b")
@example("{+a}a" * (MOST_EXPRESSIONS - 1) + "{+a}", "a" * LONGEST)
@example("{+a}a{b}b" * (MOST_EXPRESSIONS // 2), "ab/" * (LONGEST // 3))
@example("{+a}" + "a" * (LONGEST - 10) + "{+b}", "a" * LONGEST)
@example("{" * LONGEST, "{" * LONGEST)
def test_the_work_grows_with_the_length_of_template_and_address(template: str, uri: str) -> None:
    template_of.cache_clear()
    assert steps(lambda: fits(template, uri)) <= 12 * (len(template) + len(uri)) + 200


def steps(work: Callable[[], object]) -> int:
    """How many lines of the matcher run; each does a bounded amount of work."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> "TraceFunction | None":
        nonlocal count
        if frame.f_code.co_filename != uri_templates.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.spec("F2.2")
def test_a_template_beyond_the_limits_fits_nothing_and_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    template_of.cache_clear()
    with caplog.at_level(logging.WARNING, uri_templates.__name__):
        for _ in range(3):
            assert not fits("x://" + "{a}" * (MOST_EXPRESSIONS + 1), "x://a")
        assert len(caplog.records) == 1
    assert fits("x://" + "{a}" * MOST_EXPRESSIONS, "x://a")
    assert not fits("x" * (LONGEST + 1), "x" * (LONGEST + 1))
    assert not fits("{+a}", "x" * (LONGEST + 1))
