import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.legal.query.numerals import Number, chinese, find, read, value


@given(st.integers(1, 9_999))
def test_a_number_survives_being_written_in_chinese(number: int) -> None:
    assert value(chinese(number)) == number


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (10, "十"),
        (15, "十五"),
        (101, "一百零一"),
        (110, "一百一十"),
        (990, "九百九十"),
        (1001, "一千零一"),
        (1260, "一千二百六十"),
    ],
)
def test_numbers_are_written_as_statutes_write_them(number: int, written: str) -> None:
    assert chinese(number) == written


@pytest.mark.parametrize(
    "text",
    ["第九百九十条", "第990条", "第９９０条", "九九〇条", "Article 990", "art. 990", "§ 990"],
)
def test_an_article_is_found_in_every_style(text: str) -> None:
    mention = find(f"民法典 {text}")
    assert mention is not None
    assert mention.number == Number(990)


@pytest.mark.parametrize(
    "text", ["第一百二十条之一", "第120条之1", "120之一", "Article 120-1", "120-1"]
)
def test_an_inserted_article_is_read_in_every_style(text: str) -> None:
    assert read(text) == Number(120, 1)


@pytest.mark.parametrize("text", ["990", "九百九十", " 990 ", "第九百九十条"])
def test_a_bare_number_is_enough_where_an_article_is_asked_for(text: str) -> None:
    assert read(text) == Number(990)


@pytest.mark.parametrize("text", ["", "条", "合同条款", "article", "第条", "9百条"])
def test_what_names_no_article_is_none(text: str) -> None:
    assert read(text) is None


def test_an_inserted_article_is_shown_after_its_number() -> None:
    assert str(Number(120, 1)) == "第一百二十条之一"
    assert sorted([Number(121), Number(120, 1), Number(120)])[1] == Number(120, 1)
