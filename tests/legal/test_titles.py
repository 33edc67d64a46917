import pytest

from mcpyard.legal.query.asking import LONGEST_QUERY, BadQuery, understand
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.titles import Law, LawNames, OutsideLaw

CODE = "中华人民共和国民法典"
NAMES = LawNames(
    [
        Law(CODE, "总则"),
        Law(CODE, "人格权编"),
        Law("中华人民共和国刑法"),
        Law("中华人民共和国刑法修正案(九)"),
        Law("中华人民共和国劳动合同法"),
        Law("中华人民共和国刑事诉讼法"),
        Law("Sample Tenancy Rules"),
    ]
)


@pytest.mark.parametrize(
    "name",
    ["民法典", CODE, "《民法典》", " 民 法典 ", "Civil Code", "the civil code of the PRC"],
)
def test_a_law_is_known_by_all_its_names(name: str) -> None:
    assert NAMES.find(name) == Law(CODE)


@pytest.mark.parametrize("name", ["民法典人格权编", "民法典 人格权编", "人格权编"])
def test_a_part_of_a_code_is_known_by_its_own_name(name: str) -> None:
    assert NAMES.find(name) == Law(CODE, "人格权编")


def test_brackets_of_both_widths_are_the_same() -> None:
    assert NAMES.find("刑法修正案\uff08九\uff09") == Law("中华人民共和国刑法修正案(九)")


def test_the_number_of_an_amendment_needs_no_brackets() -> None:
    (reference,) = understand("刑法修正案九第五条", NAMES).references
    assert reference.law == Law("中华人民共和国刑法修正案(九)")


def test_an_amendment_that_is_not_here_is_not_another() -> None:
    (reference,) = understand("刑法修正案九十第五条", NAMES).references
    assert reference.law == OutsideLaw("刑法修正案九十")


def test_a_short_name_counts_where_the_law_is_there() -> None:
    assert NAMES.find("刑诉法") == Law("中华人民共和国刑事诉讼法")
    assert NAMES.find("消法") is None


def test_a_name_that_is_a_piece_of_anothers_is_only_a_suggestion() -> None:
    assert NAMES.find("合同法") is None
    assert NAMES.alike("合同法")[0] == Law("中华人民共和国劳动合同法")


@pytest.mark.parametrize(
    ("query", "law", "number"),
    [
        ("民法典 第九百九十条", Law(CODE), Number(990)),
        ("民法典990", Law(CODE), Number(990)),
        ("请问民法典第990条怎么规定", Law(CODE), Number(990)),
        ("根据《刑法》第一百二十条之一", Law("中华人民共和国刑法"), Number(120, 1)),
        ("Article 6-1 of the Sample Tenancy Rules", Law("Sample Tenancy Rules"), Number(6, 1)),
        ("what says Sample Tenancy Rules Section 3", Law("Sample Tenancy Rules"), Number(3)),
        ("国际刑法 第五条", None, Number(5)),
        ("合同法 第五十二条", None, Number(52)),
        ("第五十二条", None, Number(52)),
        ("隐私权", None, None),
        ("合同 2020", None, None),
    ],
)
def test_a_query_names_a_law_and_an_article(
    query: str, law: Law | None, number: Number | None
) -> None:
    reference = next(iter(understand(query, NAMES).references), None)
    named = reference.law if reference and isinstance(reference.law, Law) else None
    assert (named, reference and reference.number) == (law, number)


def test_law_and_article_alone_leave_nothing_else_to_look_for() -> None:
    assert understand("中华人民共和国民法典 第九百九十条", NAMES).rest.strip() == ""
    assert understand("民法典 第九百九十条 隐私", NAMES).rest.strip() == "隐私"


@pytest.mark.parametrize("query", ["", "  \n", '"*:^()', "。、"])
def test_an_empty_query_is_refused(query: str) -> None:
    with pytest.raises(BadQuery, match="empty"):
        understand(query, NAMES)


def test_a_query_that_is_no_query_any_more_is_refused_with_its_size() -> None:
    understand("法" * LONGEST_QUERY, NAMES)
    with pytest.raises(BadQuery, match=r"102,400 characters; at most 1,000"):
        understand("x" * 102_400, NAMES)


@pytest.mark.parametrize(
    "name",
    [
        "2018年宪法修正案",
        "2018宪法修正案",
        "宪法修正案2018",
        "宪法修正案2018年",
        "宪法修正案(2018年)",
    ],
)
def test_an_amendment_of_a_year_is_known_with_the_year_before_or_after(name: str) -> None:
    law = Law("中华人民共和国宪法修正案\uff082018年\uff09")
    other = Law("中华人民共和国宪法修正案\uff082004年\uff09")
    names = LawNames([other, law])
    assert names.find(name) == law
    (reference,) = understand(f"{name}第三十六条", names).references
    assert reference.law == law
