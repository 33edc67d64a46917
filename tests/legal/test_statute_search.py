"""Laws and articles that a query names: those that are here, and those that are not."""

from collections.abc import Generator

import pytest

from mcpyard.legal.library import Library
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.statutes import StatuteAnswer, search_statutes
from mcpyard.legal.tables import UNVERIFIED, law_names, messages, repeals, topics
from mcpyard.legal.times import BadDate
from tests.legal.corpora import library_of


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Generator[Library]:
    library, corpus, _ = library_of(tmp_path_factory.mktemp("laws"))
    yield library
    corpus.close()


def ask(library: Library, query: str, as_of: str = "") -> StatuteAnswer:
    return search_statutes(library, query, None, 10, as_of)


def cited(answer: StatuteAnswer) -> list[str]:
    return [f"{hit.law.short_title}{hit.row['label']}" for hit in answer.hits]


@pytest.mark.parametrize(
    ("query", "notice", "suggestion"),
    [
        ("合同法第二条", "合同法 is not in this collection: repealed 2021-01-01", "民法典"),
        ("合同法 第2条", "by 民法典第二条", "民法典"),
        ("合同法关于试用期的规定", "本库没有收录《合同法》\uff1a2021-01-01 废止", "民法典"),
        ("婚姻法第三十二条", "see 民法典 婚姻家庭编", None),
        ("民总第一百八十八条", "民法总则 is not in this collection: repealed 2021-01-01", None),
        ("个保法第十三条", "个人信息保护法 is not in this collection.", None),
        ("Contract Law Article 2", "合同法 is not in this collection", "民法典"),
        ("火星开发法第三条", "火星开发法 is not in this collection.", None),
        ("国际公司法第一条", "国际公司法 is not in this collection.", "公司法"),
        ("《月球居住条例》怎么规定", "月球居住条例 is not in this collection.", None),
        ("Lunar Mining Law Article 4", "Lunar Mining Law is not in this collection.", None),
        ("公司法第三百条", "公司法 has no 第三百条 (article 300)", "公司法 第二条"),
        ("公司法第一条之三", "公司法 has no 第一条之三 (article 1-3)", "公司法 第一条"),
        ("2005年公司法第一条", "公司法 has no version of '2005' here", "公司法(2023-12-29)"),
        ("公司法2005年第一条", "公司法 has no version of '2005' here", "公司法(2023-12-29)"),
        ("公司法司法解释三第一条", "公司法司法解释三 is not in this collection.", "公司法"),
        ("《公司法司法解释\uff08三\uff09》第一条", "公司法司法解释(三) is not in", "公司法"),
        ("公司法\uff08修订草案\uff09第一条", "公司法(修订草案) is not in this", "公司法"),
        ("《公司法(2021年修订草案)》第一条", "公司法(2021年修订草案) is not in", "公司法"),
        ("宠物法怎么规定", "宠物法 is not in this collection.", None),
        ("宠物法是如何规定的", "宠物法 is not in this collection.", None),
        ("公司法解释(三)第一条", "公司法解释(三) is not in this collection.", "公司法"),
        ("公司法的解释 第一条", "公司法的解释 is not in this collection.", "公司法"),
        (
            "最高人民法院关于适用《中华人民共和国公司法》若干问题的规定\uff08三\uff09第一条",
            "公司法若干问题的规定(三) is not in this collection.",
            "公司法",
        ),
        (
            "最高人民法院关于审理劳动争议案件适用法律问题的解释\uff08一\uff09第一条",
            "关于审理劳动争议案件适用法律问题的解释(一) is not in this collection.",
            None,
        ),
        ("劳动合同法实施条例第二条", "劳动合同法实施条例 is not in", "劳动合同法"),
        ("公司法修订草案第一条", "公司法修订草案 is not in this collection.", "公司法"),
        ("Japanese Civil Code Article 1", "Japanese Civil Code is not in this", "民法典"),
        ("article 1 of the german civil code", "german civil code is not in this", "民法典"),
        ("Civil Code of Utopia section 1", "Civil Code of Utopia is not in this", "民法典"),
        ("civil code of japan article 1", "civil code of japan is not in this", "民法典"),
        ("民法典总则编解释 诉讼时效", "民法典总则编解释 is not in this collection.", "民法典"),
        ("2013年公司法 出资", "公司法 has no version of '2013' here", "公司法(2018-10-26)"),
        ("2013年公司法", "公司法 has no version of '2013' here", "公司法(2018-10-26)"),
        ("税法第一条", "税法 is not in this collection.", None),
        ("民法典总则编司法解释第一条", "民法典总则编司法解释 is not in this collection.", "民法典"),
        ("民法典担保制度解释第一条", "民法典担保制度解释 is not in this collection.", "民法典"),
        ("公司法时间效力规定第一条", "公司法时间效力规定 is not in this collection.", "公司法"),
        ("公司法有关问题的规定第一条", "公司法有关问题的规定 is not in this", "公司法"),
        ("公司法解释三1条", "公司法解释三 is not in this collection.", "公司法"),
        ("公司法修正案第一条", "公司法修正案 is not in this collection.", "公司法"),
        ("公司法修正案\uff082012年\uff09第一条", "公司法修正案(2012年) is not in this", "公司法"),
        ("某某市实施劳动合同法办法第二条", "某某市实施劳动合同法办法 is not in this", "劳动合同法"),
        (
            "某某省实施《中华人民共和国劳动合同法》办法第二条",
            "某某省实施劳动合同法办法 is not in this collection.",
            "劳动合同法",
        ),
        ("企业登记管理办法第一条", "企业登记管理办法 is not in this collection.", None),
        ("劳动保护法第二条", "劳动保护法 is not in this collection.", None),
        ("行政程序法第二条", "行政程序法 is not in this collection.", None),
        ("98年公司法第一条", "公司法 has no version of '1998' here", "公司法(2023-12-29)"),
        ("Company Law of 2005 Article 1", "公司法 has no version of '2005'", "公司法(2023-12-29)"),
    ],
)
def test_what_is_named_and_not_here_is_said_first_and_nothing_answers_for_it(
    library: Library, query: str, notice: str, suggestion: str | None
) -> None:
    answer = ask(library, query)
    assert answer.hits == []
    assert notice in answer.notices[0]
    assert suggestion is None or suggestion in " ".join(answer.suggestions)


@pytest.mark.parametrize(
    ("query", "articles"),
    [
        ("劳合法第二条", ["劳动合同法第二条"]),
        ("勞動合同法第二條", ["劳动合同法第二条"]),
        ("劳动合同法2条", ["劳动合同法第二条"]),
        ("劳动合同法 2", ["劳动合同法第二条"]),
        ("劳动合同法第5-1条", ["劳动合同法第五条之一"]),
        ("劳动合同法第二条、第四条", ["劳动合同法第二条", "劳动合同法第四条"]),
        ("劳动合同法第2、4条", ["劳动合同法第二条", "劳动合同法第四条"]),
        (
            "劳动合同法第二条至第四条",
            ["劳动合同法第二条", "劳动合同法第三条", "劳动合同法第四条"],
        ),
        (
            "劳动合同法第2-4条",
            ["劳动合同法第二条", "劳动合同法第三条", "劳动合同法第四条"],
        ),
        ("劳动合同法第4条 民法典第1条", ["劳动合同法第四条", "民法典第一条"]),
        ("劳动合同法4条、民法典1条", ["劳动合同法第四条", "民法典第一条"]),
        ("劳动合同法4条民法典1条", ["劳动合同法第四条", "民法典第一条"]),
        ("老板违反劳动合同法第二条", ["劳动合同法第二条"]),
        ("Labor Contract Law Articles 2 and 4", ["劳动合同法第二条", "劳动合同法第四条"]),
        ("Article 1 of the Civil Code", ["民法典第一条"]),
        ("Civil Code of the People's Republic of China Article 1", ["民法典第一条"]),
        ("Chinese Civil Code Article 1 of Mr Li", ["民法典第一条"]),
        ("民法典第1", ["民法典第一条"]),
        ("劳动合同法第四", ["劳动合同法第四条"]),
        ("劳动合同法关于试用期的规定第四条", ["劳动合同法第四条"]),
        ("劳动合同法规定第四条", ["劳动合同法第四条"]),
        ("贯彻劳动合同法第四条", ["劳动合同法第四条"]),
        (
            "Labor Contract Law Article 4, Company Law Article 1",
            ["劳动合同法第四条", "公司法第一条"],
        ),
        (
            "Article 4 Labor Contract Law, Article 1 Company Law",
            ["劳动合同法第四条", "公司法第一条"],
        ),
        (
            "Company Law art. 1 and Labor Contract Law art. 4",
            ["公司法第一条", "劳动合同法第四条"],
        ),
        ("公司法第一条、第四条劳动合同法", ["公司法第一条", "劳动合同法第四条"]),
        ("第一条公司法、第四条劳动合同法", ["公司法第一条", "劳动合同法第四条"]),
        ("公司法第一条、第二条民法典第一条", ["公司法第一条", "公司法第二条", "民法典第一条"]),
    ],
)
def test_a_reference_is_read_in_every_form(
    library: Library, query: str, articles: list[str]
) -> None:
    answer = ask(library, query)
    assert cited(answer)[: len(articles)] == articles
    assert not answer.missing


@pytest.mark.parametrize(
    "query",
    [
        *("合同法律关系", "公司法人独立地位", "计算方法", "合同法定解除", "违法的合同"),
        *(
            "解释一下公司法第一条",
            "公司法解释一下出资",
            "本法第一条",
            "公司法2021年1月1日以前的出资",
        ),
    ],
)
def test_words_that_only_contain_the_name_of_a_law_name_none(library: Library, query: str) -> None:
    assert not ask(library, query).missing


@pytest.mark.parametrize(
    ("query", "articles"),
    [
        ("劳动合同法第四条和民法典第一条", ["劳动合同法第四条", "民法典第一条"]),
        ("新公司法第一条", ["公司法第一条"]),
        ("请问劳动合同法第四条是什么", ["劳动合同法第四条"]),
    ],
)
def test_words_around_references_ask_for_nothing_else(
    library: Library, query: str, articles: list[str]
) -> None:
    assert cited(ask(library, query)) == articles


@pytest.mark.parametrize("query", ["劳动合同法", "《劳动合同法》的规定", "劳合法"])
def test_the_name_of_a_law_alone_leads_to_its_beginning(library: Library, query: str) -> None:
    answer = ask(library, query)
    assert cited(answer) == ["劳动合同法第一条", "劳动合同法第二条", "劳动合同法第三条"]
    assert answer.notices == []


def test_a_paragraph_and_an_item_are_found_and_missed_by_number(library: Library) -> None:
    (hit,) = ask(library, "劳动合同法第二条第二款").hits
    assert hit.paragraph.startswith("第二款: 用人单位不得有下列行为")
    (hit,) = ask(library, "劳动合同法第2条第2款第(二)项").hits
    assert hit.paragraph.startswith("第二款第二项: \uff08二\uff09收取财物")
    answer = ask(library, "劳动合同法第二条第三款")
    assert "劳动合同法 第二条 has no 第三款." in answer.notices[0]
    assert cited(answer) == ["劳动合同法第二条"]


@pytest.mark.parametrize(
    ("query", "as_of", "version"),
    [
        ("公司法第一条", "", "2023-12-29"),
        ("新公司法第一条", "", "2023-12-29"),
        ("旧公司法第一条", "", "2018-10-26"),
        ("2018年公司法第一条", "", "2018-10-26"),
        ("公司法\uff082018年修正\uff09第一条", "", "2018-10-26"),
        ("公司法(2018-10-26)第一条", "", "2018-10-26"),
        ("公司法2018第一条", "", "2018-10-26"),
        ("公司法2018年第1条", "", "2018-10-26"),
        ("公司法2018年版第一条", "", "2018-10-26"),
        ("公司法2018修正第1条", "", "2018-10-26"),
        ("公司法 2018 1", "", "2018-10-26"),
        ("公司法2018年1条", "", "2018-10-26"),
        ("公司法 2018", "", "2018-10-26"),
        ("公司法2018年10月26日第一条", "", "2018-10-26"),
        ("公司法第1条(2018年)", "", "2018-10-26"),
        ("《公司法》第一条\uff082018年修正\uff09", "", "2018-10-26"),
        ("公司法2018年版 出资", "", "2018-10-26"),
        ("根据2018年修正的《中华人民共和国公司法》第一条", "", "2018-10-26"),
        ("二\u3007一八年公司法第一条", "", "2018-10-26"),
        ("二零一八年公司法第一条", "", "2018-10-26"),
        ("18年公司法第一条", "", "2018-10-26"),
        ("公司法\uff08旧\uff09第1条", "", "2018-10-26"),
        ("公司法\uff08修订前\uff09第1条", "", "2018-10-26"),
        ("公司法旧法第1条", "", "2018-10-26"),
        ("公司法第1条\uff08旧\uff09", "", "2018-10-26"),
        ("公司法第1条2018年版", "", "2018-10-26"),
        ("公司法第一条 2018年修正", "", "2018-10-26"),
        ("公司法第1条 2018", "", "2018-10-26"),
        ("公司法第1条、第2条\uff082018年\uff09", "", "2018-10-26"),
        ("Company Law 2018 Article 1", "", "2018-10-26"),
        ("Company Law of the People\u2019s Republic of China (2018) Article 1", "", "2018-10-26"),
        ("Company Law of the PRC (Revised in 2018) art. 1", "", "2018-10-26"),
        ("2018 PRC Company Law Article 1", "", "2018-10-26"),
        ("Article 1 of the Company Law of 2018", "", "2018-10-26"),
        ("Company Law art. 1 as amended in 2018", "", "2018-10-26"),
        ("Article 1 of the 2018 version of the Company Law", "", "2018-10-26"),
        ("the old Company Law article 1", "", "2018-10-26"),
        ("the current Company Law article 1", "", "2023-12-29"),
        ("2024年公司法第一条", "", "2023-12-29"),
        ("公司法第一条", "2005-01-01", "2018-10-26"),
        ("公司法第一条", "2024-06-30", "2018-10-26"),
        ("公司法第一条", "2024-07-01", "2023-12-29"),
        ("公司法 出资", "2020-01-01", "2018-10-26"),
        ("2018年公司法 出资", "", "2018-10-26"),
        ("出资规定", "2020-01-01", "2018-10-26"),
    ],
)
def test_the_version_is_that_of_the_query_or_of_the_day(
    library: Library, query: str, as_of: str, version: str
) -> None:
    assert ask(library, query, as_of).hits[0].row["version_date"] == version


@pytest.mark.parametrize(
    "query", ["我2018年入职\uff0c公司法第一条", "干了18年 公司法第一条", "公司法第一条 2018年入职"]
)
def test_a_year_that_is_not_of_the_law_names_no_version(library: Library, query: str) -> None:
    assert ask(library, query).hits[0].row["version_date"] == "2023-12-29"


def test_a_version_named_by_the_year_it_came_into_force_is_told(library: Library) -> None:
    (notice,) = ask(library, "2024年公司法第一条").notices
    assert "no version of 2024; the version 2023-12-29 came into force on 2024-07-01" in notice


def test_a_number_that_several_laws_have_is_said_to_name_none(library: Library) -> None:
    (notice,) = ask(library, "第二条").notices
    assert "The query names no law; several laws have a 第二条." in notice
    assert ask(library, "第四条").notices == []


@pytest.mark.parametrize(
    ("law", "version"),
    [("2018年公司法", "2018-10-26"), ("公司法", "2023-12-29"), ("新公司法", "2023-12-29")],
)
def test_a_search_within_a_law_is_in_the_version_that_its_name_says(
    library: Library, law: str, version: str
) -> None:
    for query in ("出资", "第一条"):
        hits = search_statutes(library, query, law, 10).hits
        assert {(hit.law.short_title, hit.row["version_date"]) for hit in hits} == {
            ("公司法", version)
        }


def test_a_version_that_is_not_yet_in_force_is_not_current(library: Library) -> None:
    assert {hit.law.short_title for hit in ask(library, "出资规定").hits} == {"公司法"}
    article = library.article("未来法", "1")
    assert "未来法 is not in force on" in article.notices[0]
    assert "未来法" in {hit.law.short_title for hit in ask(library, "出资", "2099-01-01").hits}


def test_a_law_that_is_not_in_force_is_shown_with_a_notice(library: Library) -> None:
    for query in ("未来法", "未来法 出资", "未来法第一条"):
        answer = ask(library, query)
        assert "未来法 is not in force on" in answer.notices[0]
        assert cited(answer)[0] == "未来法第一条"
        assert len(answer.notices) == 1


def test_a_law_that_another_text_repeals_is_in_force_until_then(library: Library) -> None:
    assert "示范旧法第一条" in cited(ask(library, "诉讼时效", "2020-12-31"))
    assert "示范旧法第一条" not in cited(ask(library, "诉讼时效"))
    (version,) = library.versions(library.law("示范旧法"))
    assert (version.valid_until, version.status("2021-01-01")) == ("2021-01-01", "repealed")


def test_the_first_day_of_an_amended_text_is_not_that_of_the_law_as_it_once_was(
    library: Library,
) -> None:
    newer, older = library.versions(library.law("公司法"))
    assert (older.valid_from, older.valid_until) == ("2018-10-26", "2024-07-01")
    assert (newer.valid_from, newer.valid_until) == ("2024-07-01", "")


def test_the_parts_of_a_code_come_into_force_together(library: Library) -> None:
    assert [each.valid_from for each in library.versions(library.law("民法典"))] == ["2021-01-01"]


def test_a_day_that_is_none_is_refused(library: Library) -> None:
    with pytest.raises(BadDate, match="'next May' is no day"):
        ask(library, "出资", "next May")


def test_the_articles_that_an_article_refers_to_are_followed(library: Library) -> None:
    references = library.article("劳动合同法", "第三条").references
    assert [(each.law, each.label, each.hit is not None) for each in references] == [
        ("劳动合同法", "第二条", True),
        ("民法典", "第一条", True),
    ]


def test_a_chapter_is_read_by_its_name(library: Library) -> None:
    article = library.article("劳动合同法", "附则")
    assert article.hit.row["label"] == "第五条"
    assert [each.label for each in article.references] == ["第五条之一"]
    assert library.article("民法典", "附则").hit.row["label"] == "第二条"
    with pytest.raises(TextNotFound, match="is no article number"):
        library.article("劳动合同法", "第九章")


@pytest.mark.parametrize("law", ["2018年公司法", "公司法(2018)"])
def test_the_name_of_a_law_may_have_its_version(library: Library, law: str) -> None:
    assert library.article(law, "1").hit.row["version_date"] == "2018-10-26"


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("入职的时候公司要收我押金怎么办", "劳动合同法第二条"),
        ("借錢給朋友他不還過了幾年還能起訴嗎", "民法典第一条"),
        ("how long is the limitation period", "民法典第一条"),
        ("试用期最长可以多久", "劳动合同法第四条"),
    ],
)
def test_questions_in_ordinary_words_find_what_statutes_call_otherwise(
    library: Library, question: str, article: str
) -> None:
    assert cited(ask(library, question))[0] == article


def test_a_query_that_nothing_fits_is_told_so(library: Library) -> None:
    answer = ask(library, "火星移民的签证规定")
    assert not answer.hits or "Nothing in this collection fits" in answer.notices[0]


def test_every_row_of_the_tables_can_be_relied_on() -> None:
    names = [row.name for row in law_names()]
    assert len(names) == len(set(names))
    for row in repeals().values():
        assert row.day.count("-") == 2
        assert row.basis.startswith(UNVERIFIED) or "条" in row.basis
    for law, part in topics():
        assert law in names
        assert not part or law == "民法典"
    for english, chinese in messages().values():
        assert english
        assert chinese
