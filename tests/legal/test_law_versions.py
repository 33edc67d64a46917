"""Which version of a law a query means: never silently another one."""

from collections.abc import Generator

import pytest

from mcpyard.legal.library import Library
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.statutes import StatuteAnswer, search_statutes
from tests.legal.corpora import LAWS, library_of

CITING = {
    "示范证券法(2010-01-01).md": (
        "# 中华人民共和国示范证券法\n\n<!-- INFO END -->\n\n第一条 出资依照公司法第一条办理。\n"
    )
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Generator[Library]:
    library, corpus, _ = library_of(tmp_path_factory.mktemp("laws"), LAWS | CITING)
    yield library
    corpus.close()


def ask(library: Library, query: str, law: str | None = None) -> StatuteAnswer:
    return search_statutes(library, query, law, 10)


def versions(answer: StatuteAnswer) -> list[str]:
    return [hit.row["version_date"] for hit in answer.hits]


@pytest.mark.parametrize(
    "query",
    [
        "《中华人民共和国公司法》\uff082018年10月26日修正\uff09第一条",
        "公司法(1993年通过,2018年10月26日第四次修正)第一条",
        "公司法(根据2018年10月26日通过的第四次修正)第一条",
        "2018年10月26日公司法第一条",
        "2018年10月26日修正的公司法第一条",
        "二\u3007一八年十月二十六日修正的公司法第一条",
        "2018年第四次修正的公司法第一条",
        "2018.10.26公司法第一条",
        "2018/10/26 公司法第一条",
        "公司法(2018.10.26)第一条",
        "2018年10月公司法第一条",
        "2018年修正后的公司法第一条",
        "老版公司法第一条",
        "老版的公司法第一条",
        "以前的公司法第一条",
        "之前的公司法第一条",
        "旧版本的公司法第一条",
        "修改之前的公司法第一条",
        "公司法老版第一条",
        "公司法第一条(2018年10月26日)",
        "Company Law (2018 Amendment) Article 1",
        "Company Law (2018 Revision) Article 1",
        "Company Law (as last amended in 2018) Article 1",
        "Company Law (as amended on October 26, 2018) Article 1",
        "Company Law as amended on 26 October 2018, Article 1",
    ],
)
def test_the_old_version_is_read_however_it_is_named(library: Library, query: str) -> None:
    answer = ask(library, query)
    assert versions(answer)[:1] == ["2018-10-26"]
    assert {hit.row["label"] for hit in answer.hits} == {"第一条"}


@pytest.mark.parametrize(
    ("query", "version", "notice"),
    [
        ("2024年7月1日前的公司法第一条", "2018-10-26", "2018-10-26 was in force on 2024-06-30"),
        ("2024年7月1日之前的公司法第一条", "2018-10-26", "2018-10-26 was in force on 2024-06-30"),
        ("2020年5月1日的公司法第一条", "2018-10-26", "2018-10-26 was in force on 2020-05-01"),
        ("2025年1月1日有效的公司法第一条", "2023-12-29", "2023-12-29 was in force on 2025-01-01"),
        ("2024年7月1日起施行的公司法第一条", "2023-12-29", "came into force on 2024-07-01"),
    ],
)
def test_a_day_names_the_version_that_was_in_force_and_that_is_said(
    library: Library, query: str, version: str, notice: str
) -> None:
    answer = ask(library, query)
    assert versions(answer)[0] == version
    assert notice in answer.notices[0]


@pytest.mark.parametrize(
    "query",
    [
        "2010年之前的公司法第一条",
        "2018年修正前的公司法第一条",
        "公司法(2018年修正前)第一条",
        "公司法\uff082005年10月27日修订\uff09第一条",
        "2005年10月27日修订的公司法第一条",
        "2018年13月45日公司法第一条",
    ],
)
def test_a_version_that_is_not_here_is_told_and_no_other_answers(
    library: Library, query: str
) -> None:
    answer = ask(library, query)
    assert "公司法 has no version of" in answer.notices[0]
    assert not answer.hits


@pytest.mark.parametrize(
    "query", ["第四次修正的公司法第一条", "公司法第一条 2018年入职", "从前 公司法第一条 此前"]
)
def test_words_that_may_mean_a_version_and_were_not_read_so_are_told(
    library: Library, query: str
) -> None:
    answer = ask(library, query)
    assert versions(answer)[0] == "2023-12-29"
    assert "公司法 is read in the version 2023-12-29" in answer.notices[0]
    assert ask(library, "公司法第一条").notices == []


def test_both_versions_are_read_where_old_and_new_are_compared(library: Library) -> None:
    answer = ask(library, "新旧公司法第一条对比")
    assert versions(answer) == ["2018-10-26", "2023-12-29"]


@pytest.mark.parametrize(
    ("version", "read"),
    [
        *((each, "2018-10-26") for each in ("2018", "2018年", "2018-10", "2018年10月26日")),
        *((each, "2018-10-26") for each in ("2018修正", "\uff082018年修正\uff09", "2018版", "旧")),
        *((each, "2018-10-26") for each in ("old", "修订前", "2018.10.26", "2018 version")),
        *((each, "2023-12-29") for each in ("current", "现行", "latest", "2023", "新法")),
    ],
)
def test_the_version_of_an_article_is_read_in_every_form(
    library: Library, version: str, read: str
) -> None:
    assert library.article("公司法", "1", version).hit.row["version_date"] == read


@pytest.mark.parametrize("version", ["2", "20", "201", "-", "next", "2018-10-26 or so", "2019"])
def test_what_names_no_version_is_refused(library: Library, version: str) -> None:
    with pytest.raises(TextNotFound, match="has no version of"):
        library.article("公司法", "1", version)


def test_an_explicit_version_counts_more_than_that_of_the_name(library: Library) -> None:
    assert library.article("旧公司法", "1", "current").hit.row["version_date"] == "2023-12-29"
    assert library.article("旧公司法", "1").hit.row["version_date"] == "2018-10-26"


@pytest.mark.parametrize("article", ["劳动合同法第1条", "Article 1 of the Labor Contract Law"])
def test_an_article_of_another_law_than_the_one_named_is_refused(
    library: Library, article: str
) -> None:
    with pytest.raises(TextNotFound, match="劳动合同法 is named, but only 公司法 is searched"):
        library.article("公司法", article)
    assert library.article("公司法", "公司法第1条").notices == ()


def test_an_article_outside_of_the_law_that_is_searched_is_told(library: Library) -> None:
    answer = ask(library, "劳动合同法第一条", "公司法")
    assert "劳动合同法 is named, but only 公司法 is searched" in answer.notices[0]
    assert (answer.hits, answer.suggestions[0]) == ([], "劳动合同法 第一条")


def test_the_articles_that_are_not_read_are_told(library: Library) -> None:
    (notice,) = library.article("公司法", "第一条、第二条和第三条").notices
    assert "ask for these too: 第二条, 第三条" in notice


@pytest.mark.parametrize(
    ("query", "articles"),
    [
        ("劳动合同法第1条与2条", ["第一条", "第二条"]),
        ("劳动合同法第1条、2条和第4条", ["第一条", "第二条", "第四条"]),
        ("劳动合同法第1条到3条", ["第一条", "第二条", "第三条"]),
        ("劳动合同法第1到3条", ["第一条", "第二条", "第三条"]),
        ("劳动合同法第一至三条", ["第一条", "第二条", "第三条"]),
        ("劳动合同法第1\u20143条", ["第一条", "第二条", "第三条"]),
        ("劳动合同法第1\uff5e3条", ["第一条", "第二条", "第三条"]),
        ("Articles 1-3 of the Labor Contract Law", ["第一条", "第二条", "第三条"]),
        ("Articles 1 to 3 of the Labor Contract Law", ["第一条", "第二条", "第三条"]),
        ("Article 5-1 of the Labor Contract Law", ["第五条之一"]),
        ("劳动合同法第贰条", ["第二条"]),
        ("劳动合同法 第 二 条", ["第二条"]),
    ],
)
def test_several_articles_and_other_numerals_are_read(
    library: Library, query: str, articles: list[str]
) -> None:
    answer = ask(library, query)
    assert [hit.row["label"] for hit in answer.hits] == articles
    assert {hit.law.short_title for hit in answer.hits} == {"劳动合同法"}


@pytest.mark.parametrize(
    "query", ["公司法第-5条", "公司法第1.5条", "公司法第某某条", "公司法第x条"]
)
def test_what_is_no_number_of_an_article_is_told(library: Library, query: str) -> None:
    answer = ask(library, query)
    assert "is no article number" in answer.notices[0]
    assert not answer.hits


def test_the_procedure_laws_are_known_by_two_characters_before_a_number(library: Library) -> None:
    assert "民事诉讼法 is not in this collection" in ask(library, "民诉第一百条").notices[0]
    assert not ask(library, "人民诉讼的权利").missing


@pytest.mark.parametrize(
    ("as_of", "text"), [("2020-01-01", "二零一八年"), ("2025-01-01", "二零二三年")]
)
def test_references_to_other_laws_are_read_as_of_the_same_day(
    library: Library, as_of: str, text: str
) -> None:
    (reference,) = library.article("示范证券法", "1", as_of=as_of).references
    assert reference.hit
    assert reference.hit.row["text"].startswith(text)
