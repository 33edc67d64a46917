"""Cases by the articles they cite, by court, day and number."""

from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.legal.cases import CaseFilter, search_cases
from mcpyard.legal.citations import Citation, citations, decisions
from mcpyard.legal.library import Library
from mcpyard.legal.query.asking import BadQuery
from mcpyard.legal.query.numerals import Number
from tests.legal.corpora import library_of

CASE = "甲诉乙劳动合同纠纷案"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Generator[Library]:
    library, corpus, _ = library_of(tmp_path_factory.mktemp("laws"))
    yield library
    corpus.close()


@pytest.mark.parametrize(
    "query",
    [
        "劳动合同法第四条",
        "引用劳合法第2条的案例",
        "示范市中级人民法院",
        "示范市中级人民法院 押金",
        "(2020)示民终字第12号",
        "2021年3月的判决",
        "押金",
        "甲诉乙",
    ],
)
def test_a_case_is_found_by_what_it_says_of_itself(library: Library, query: str) -> None:
    assert [hit.row["title"] for hit in search_cases(library, query, 5).hits] == [CASE]


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        (CaseFilter(cites="劳动合同法第四条"), 1),
        (CaseFilter(cites="劳动合同法第一条"), 0),
        (CaseFilter(court="中级人民法院"), 1),
        (CaseFilter(court="最高人民法院"), 0),
        (CaseFilter(decided_from="2021-03-04", decided_to="2021-03-04"), 1),
        (CaseFilter(decided_from="2021-03-05"), 0),
    ],
)
def test_a_search_for_cases_can_be_limited(
    library: Library, limits: CaseFilter, count: int
) -> None:
    assert len(search_cases(library, "押金", 5, limits).hits) == count


def test_an_article_a_court_or_days_are_enough_to_ask_for(library: Library) -> None:
    for limits in (CaseFilter(cites="劳动合同法第四条"), CaseFilter(decided_from="2021-01-01")):
        assert [hit.row["title"] for hit in search_cases(library, "", 5, limits).hits] == [CASE]
    with pytest.raises(BadQuery, match="The query is empty"):
        search_cases(library, " ", 5)


def test_a_case_cites_every_article_that_is_asked_for(library: Library) -> None:
    for query in ("劳动合同法第四条、民法典第一条", "民法典第一条、劳动合同法第四条"):
        answer = search_cases(library, query, 5)
        assert answer.hits == []
        assert "No case here cites 民法典 第一条." in answer.notices[0]


def test_cites_without_an_article_is_refused(library: Library) -> None:
    with pytest.raises(BadQuery, match="'劳动合同法' names no article of a law"):
        search_cases(library, "押金", 5, CaseFilter(cites="劳动合同法"))


def test_days_without_a_decision_are_said(library: Library) -> None:
    answer = search_cases(library, "押金", 5, CaseFilter(decided_from="2022-01-01"))
    assert "No case here was decided as asked: 2022-01-01 - ...." in answer.notices[0]


def test_an_article_that_no_case_cites_is_said(library: Library) -> None:
    answer = search_cases(library, "合同法第九条", 5)
    assert answer.hits == []
    assert "No case here cites 合同法 第九条." in answer.notices[0]


def test_the_articles_of_a_contract_are_not_those_of_a_law() -> None:
    assert citations("合同第七条约定,依照《合同法》第八条和第九条") == [
        Citation("合同法", Number(8)),
        Citation("合同法", Number(9)),
    ]


def test_the_words_before_a_name_are_not_a_part_of_it() -> None:
    assert citations("在刑法第三条后增加一条,将《公司法》第四条修改为") == [
        Citation("刑法", Number(3)),
        Citation("公司法", Number(4)),
    ]


def test_a_number_alone_is_of_the_statute_itself() -> None:
    assert citations("违反第三条规定的,依照本法第四条处罚", bare=True) == [
        Citation("", Number(3)),
        Citation("", Number(4)),
    ]


def test_a_decision_is_told_with_court_day_and_number() -> None:
    (decision,) = decisions(
        "示范省高级人民法院于2016年5月31日作出\uff082016\uff09示民再98号民事判决。"
    )
    assert (decision.court, decision.day, decision.number) == (
        "示范省高级人民法院",
        "2016-05-31",
        "(2016)示民再98号",
    )


def test_a_corpus_of_the_first_version_is_read_anew(tmp_path: Path) -> None:
    library, corpus, _ = library_of(tmp_path)
    before = [tuple(row) for row in library.rows("SELECT title, valid_from, basis FROM document")]
    with corpus.reading() as connection:
        _make_old(connection.execute)
    corpus.close()
    library, corpus, report = library_of(tmp_path)
    after = [tuple(row) for row in library.rows("SELECT title, valid_from, basis FROM document")]
    assert sorted(after) == sorted(before)
    assert library.article("劳动合同法", "2").hit.row["number"] == 2
    assert not report.broken
    corpus.close()


def _make_old(execute: object) -> None:
    assert callable(execute)
    execute("DROP VIEW cited")
    for column in ("valid_from", "valid_until", "ended_by", "stated_from", "stated_until", "basis"):
        execute(f"ALTER TABLE document DROP COLUMN {column}")
    execute("ALTER TABLE document ADD COLUMN current INTEGER NOT NULL DEFAULT 1")
    for column in ("folded", "folded_headings"):
        execute(f"ALTER TABLE passage DROP COLUMN {column}")
    for table in ("citation", "decision", "repeal"):
        execute(f"DROP TABLE {table}")
    execute("CREATE VIEW cited AS SELECT passage.id FROM passage")
    execute("PRAGMA user_version = 1")
