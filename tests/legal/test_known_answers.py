"""The laws of the shared data: all imported, and questions with known answers."""

from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.legal.cases import search_cases
from mcpyard.legal.corpus import Corpus, StoreResult
from mcpyard.legal.library import Library
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.query.titles import STATE
from mcpyard.legal.reading.loading import Report, find, load
from mcpyard.legal.statutes import search_statutes
from mcpyard.legal.tables import subjects
from tests.legal.examples import CASES, LAWS, STATUTES, Example, needs_laws

pytestmark = [pytest.mark.real, needs_laws]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Generator[Corpus]:
    made = Corpus(tmp_path_factory.mktemp("corpus") / "corpus.db")
    imported(made)
    yield made
    made.close()


@pytest.fixture
def library(corpus: Corpus) -> Library:
    return Library(corpus)


def imported(corpus: Corpus) -> Report:
    return load(find(LAWS), corpus, lambda _done, _of: None)


def test_all_files_are_imported_and_a_second_import_changes_nothing(
    tmp_path: Path,
) -> None:
    corpus = Corpus(tmp_path / "corpus.db")
    first, second = imported(corpus), imported(corpus)
    corpus.close()
    texts = sum(1 for file in LAWS.rglob("*.md") if file.name != "_index.md")
    assert (first.files, first.broken) == (158, [])
    assert first.changes == {StoreResult.ADDED: texts}
    assert second.changes == {StoreResult.UNCHANGED: texts}


@pytest.mark.parametrize("example", STATUTES, ids=lambda example: example.query)
def test_the_first_statute_is_the_known_answer(library: Library, example: Example) -> None:
    first = search_statutes(library, example.query, None, 5).hits[0]
    assert first.law.name == example.law
    assert example.article in {None, first.row["label"]}
    assert example.article or example.query in first.row["text"]


def test_the_subject_index_names_articles_that_are_there(library: Library) -> None:
    rows = library.rows("SELECT title, version_date, number, insertion FROM cited")
    there = {(row["title"].removeprefix(STATE), *row[1:]) for row in rows}
    there |= {(title, "", *article) for title, _, *article in there}
    assert not subjects().keys() - there


@pytest.mark.parametrize("query", CASES)
def test_the_first_case_is_the_known_answer(library: Library, query: str) -> None:
    assert search_cases(library, query, 3).hits[0].row["title"] == CASES[query]


def test_every_article_can_be_asked_for_by_law_and_number(library: Library) -> None:
    for title in library.titles(DocumentKind.STATUTE):
        for hit in library.whole(DocumentKind.STATUTE, title)[::5]:
            if hit.row["number"] is None:
                continue
            article = library.article(hit.law.name, hit.row["label"]).hit.row
            assert (article["title"], article["number"]) == (title, hit.row["number"])


def test_an_older_version_of_a_law_is_there_when_asked_for(library: Library) -> None:
    now = library.article("公司法", "第一条")
    assert now.versions == ("2023-12-29", "2018-10-26")
    assert now.hit.row["version_date"] == "2023-12-29"
    then = library.article("公司法", "1", "2018-10-26")
    assert then.hit.row["ended_by"] == "superseded"
    assert then.hit.row["text"] != now.hit.row["text"]


def test_a_code_in_several_files_is_one_text(library: Library) -> None:
    text = library.whole(DocumentKind.STATUTE, "中华人民共和国民法典")
    numbers = [hit.row["number"] for hit in text if hit.row["number"]]
    assert numbers == [*range(1, 1261)]


def test_an_article_that_is_not_there_leads_to_the_nearest(library: Library) -> None:
    with pytest.raises(TextNotFound, match="民法典 has no 第一千三百条") as caught:
        library.article("民法典", "Article 1300")
    assert caught.value.nearest[0] == "民法典 第一千二百六十条"


def test_a_preamble_is_read_by_its_name(library: Library) -> None:
    assert library.article("宪法", "序言").after is not None
