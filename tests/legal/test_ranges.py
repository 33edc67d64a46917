"""Ranges of articles: short ones are answered as a whole; what is left out of others is said."""

from collections.abc import Generator

import pytest

from mcpyard.legal.library import Library
from mcpyard.legal.notices import say
from mcpyard.legal.query.numerals import chinese
from mcpyard.legal.statutes import StatuteAnswer, search_statutes
from tests.legal.corpora import library_of


def ask(library: Library, query: str) -> StatuteAnswer:
    return search_statutes(library, query, None, 10)


def cited(answer: StatuteAnswer) -> list[str]:
    return [f"{hit.law.short_title}{hit.row['label']}" for hit in answer.hits]


@pytest.fixture(scope="module")
def long_law(tmp_path_factory: pytest.TempPathFactory) -> Generator[Library]:
    articles = "\n\n".join(f"第{chinese(n)}条 第{n}项规定。" for n in range(1, 61))
    text = f"# 中华人民共和国公司法\n\n<!-- INFO END -->\n\n{articles}\n"
    folder = tmp_path_factory.mktemp("long")
    library, corpus, _ = library_of(folder, {"公司法(2023-12-29).md": text})
    yield library
    corpus.close()


@pytest.mark.parametrize(
    "query",
    [
        "公司法第1条至第50条",
        "公司法第一至五十条",
        "公司法第1-50条",
        "Company Law Articles 1-50",
        "Company Law Articles 1 through 50",
        "Article 1 to Article 50 of the Company Law",
        "公司法第1条至第12条",
    ],
)
def test_a_range_that_is_too_long_says_which_of_its_articles_are_shown(
    long_law: Library, query: str
) -> None:
    answer = ask(long_law, query)
    assert cited(answer) == [f"公司法第{chinese(n)}条" for n in range(1, 11)]
    labels = ", ".join(f"第{chinese(n)}条" for n in range(1, 11))
    assert answer.notices == [say("too_many", articles=labels)]


@pytest.mark.parametrize("query", ["公司法第1条至第10条", "公司法第41条", "公司法 规定"])
def test_what_is_shown_as_a_whole_says_nothing_of_a_long_range(
    long_law: Library, query: str
) -> None:
    assert ask(long_law, query).notices == []


def test_a_list_longer_than_the_limit_says_which_articles_are_shown(long_law: Library) -> None:
    answer = search_statutes(long_law, "公司法第3条、第5条、第7条", None, 2)
    assert cited(answer) == ["公司法第三条", "公司法第五条"]
    assert answer.notices == [say("too_many", articles="第三条, 第五条")]


def test_an_argument_that_is_a_long_range_does_not_pass_for_its_beginning(
    long_law: Library,
) -> None:
    passage = long_law.article("公司法", "第1条至第50条")
    assert "第十一条, ..., 第五十条" in passage.notices[0]
