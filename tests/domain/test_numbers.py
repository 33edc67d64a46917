import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.definition.numbers import MOST, whole_number


@given(st.integers(0, MOST), st.integers(0, MOST))
def test_a_number_is_read_up_to_the_most_there_may_be(number: int, most: int) -> None:
    assert whole_number(str(number), most) == (number if number <= most else None)


@given(st.text())
def test_any_other_text_is_no_number(text: str) -> None:
    number = whole_number(text)
    assert number is None or (text.isascii() and int(text) == number)


@pytest.mark.parametrize(
    "text", ["", " 1", "1\n", "-1", "+1", "1.0", "1e3", "1_0", "0x1", "\u0663", "\u00b2", "\uff11"]
)
def test_only_plain_digits_are_a_number(text: str) -> None:
    assert whole_number(text) is None


def test_however_long_a_text_is_it_costs_nothing() -> None:
    assert whole_number("9" * 5000) is None
    assert whole_number("0" * 5000) is None
    assert whole_number(str(MOST)) == MOST
