"""Chapters of laws that a query names."""

from collections.abc import Generator

import pytest

from mcpyard.legal.library import Library
from mcpyard.legal.notices import say
from mcpyard.legal.query.numerals import chinese
from mcpyard.legal.statutes import StatuteAnswer, search_statutes
from tests.legal.corpora import LAWS, library_of

CRIMINAL = """# 中华人民共和国刑法

<!-- INFO END -->

## 第一编 总 则

### 第一章 任务

第一条 为了示范。

### 第二章 犯罪

#### 第一节 一般

第二条 示范的犯罪。

## 第二编 分 则

### 第一章 分则的第一章

第三条 示范的罪名。

### 第十一章 最后

"""
LONG = "\n\n".join(f"第{chinese(n)}条 第{n}项。" for n in range(4, 20))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Generator[Library]:
    laws = LAWS | {"刑法(2023-12-29).md": f"{CRIMINAL}{LONG}\n"}
    library, corpus, _ = library_of(tmp_path_factory.mktemp("chapters"), laws)
    yield library
    corpus.close()


def ask(library: Library, query: str, law: str | None = None) -> StatuteAnswer:
    return search_statutes(library, query, law, 10)


def cited(answer: StatuteAnswer) -> list[str]:
    return [f"{hit.law.short_title}{hit.row['label']}" for hit in answer.hits]


@pytest.mark.parametrize(
    ("query", "articles"),
    [
        ("劳动合同法第二章", ["劳动合同法第五条", "劳动合同法第五条之一"]),
        ("劳动合同法第2章的规定", ["劳动合同法第五条", "劳动合同法第五条之一"]),
        ("Chapter 2 of the Labor Contract Law", ["劳动合同法第五条", "劳动合同法第五条之一"]),
        ("Labor Contract Law, chapter 2", ["劳动合同法第五条", "劳动合同法第五条之一"]),
        ("劳动合同法附则", ["劳动合同法第五条", "劳动合同法第五条之一"]),
        ("刑法第一编第一章", ["刑法第一条"]),
        ("刑法第二章第一节", ["刑法第二条"]),
        ("刑法总则", ["刑法第一条", "刑法第二条"]),
        ("刑法第二编第一章", ["刑法第三条"]),
    ],
)
def test_a_chapter_leads_to_its_first_articles(
    library: Library, query: str, articles: list[str]
) -> None:
    answer = ask(library, query)
    assert cited(answer) == articles
    assert answer.notices == []


def test_a_chapter_is_read_of_the_law_that_stands_beside_the_query(library: Library) -> None:
    assert cited(ask(library, "第二章", "劳动合同法"))[0] == "劳动合同法第五条"


def test_a_long_chapter_says_which_of_its_articles_are_shown(library: Library) -> None:
    answer = ask(library, "刑法第十一章")
    labels = [f"第{chinese(n)}条" for n in range(4, 14)]
    assert cited(answer) == [f"刑法{each}" for each in labels]
    assert answer.notices == [say("too_many", articles=", ".join(labels))]


def test_chapters_of_the_same_number_are_listed_and_each_begins(library: Library) -> None:
    answer = ask(library, "刑法第一章")
    assert cited(answer) == ["刑法第一条", "刑法第三条"]
    names = "第一编 总 则 > 第一章 任务; 第二编 分 则 > 第一章 分则的第一章"
    assert answer.notices == [say("chapters", law="刑法", chapter="第一章", names=names)]


@pytest.mark.parametrize("query", ["公司法第三章", "劳动合同法第九章"])
def test_a_chapter_that_the_text_has_not_is_said_and_nothing_answers_for_it(
    library: Library, query: str
) -> None:
    answer = ask(library, query)
    assert (answer.hits, answer.suggestions, answer.missing) == ([], [], True)
    assert f"has no heading {query[-3:]}" in answer.notices[0]


def test_words_beside_a_chapter_are_searched(library: Library) -> None:
    assert "劳动合同法第四条" in cited(ask(library, "劳动合同法第一章 试用期"))
