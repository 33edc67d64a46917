from pathlib import PurePosixPath

import pytest

from mcpyard.legal.model import BrokenText, DocumentKind, LegalDocument
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.reading import markdown

STATUTE = """# 中华人民共和国示范法

2001年2月3日 某会议通过

2019年4月23日 某会议修正

2020年1月1日 施行

<!-- INFO END -->

中华人民共和国示范法

## 第一编 总 则

### 第一章 一般规定

第一条 第一款。

第二款。

第二条　全角空格之后。

### 第二章 其他

第二条之一 插入的一条。

第一条规定的事项仍属本条。

第三条没有空格的一条。

## 附件一

附件的内容。
"""


def read(text: str, path: str = "laws/示范法.md") -> LegalDocument:
    document = markdown.read(text, PurePosixPath(path))
    assert document is not None
    return document


def test_a_statute_is_its_articles_in_their_chapters() -> None:
    passages = read(STATUTE).passages
    assert [each.label for each in passages] == [
        "第一条",
        "第二条",
        "第二条之一",
        "第三条",
        "附件一",
    ]
    assert passages[0].text == "第一款。\n\n第二款。"
    assert passages[0].headings == ("第一编 总 则", "第一章 一般规定")
    assert passages[2].headings == ("第一编 总 则", "第二章 其他")
    assert passages[2].number == Number(2, 1)
    assert passages[4].number is None


def test_a_paragraph_that_begins_with_a_reference_is_no_article() -> None:
    assert "第一条规定的事项仍属本条。" in read(STATUTE).passages[2].text


def test_the_version_is_the_day_of_the_last_amendment_not_of_coming_into_force() -> None:
    assert read(STATUTE).version_date == "2019-04-23"


def test_a_date_in_the_name_of_the_file_is_the_version() -> None:
    assert read(STATUTE, "laws/示范法(2024-04-26).md").version_date == "2024-04-26"


def test_the_second_title_is_the_part_of_a_code() -> None:
    document = read("# 法典\n\n# 人格权编\n\n第一条 内容。")
    assert (document.title, document.part) == ("法典", "人格权编")


def test_an_amendment_has_its_items_as_articles() -> None:
    document = read("# 修正案\n\n一、在第一条后增加一条。\n\n二、删去第三条。")
    assert [(each.label, each.number) for each in document.passages] == [
        ("一", Number(1)),
        ("二", Number(2)),
    ]


def test_english_articles_are_articles() -> None:
    document = read("# Rules\n\nArticle 1. First.\n\nArticle 1-1. Inserted.\n\nSection 2: Second.")
    assert [(each.label, each.number) for each in document.passages] == [
        ("Article 1", Number(1)),
        ("Article 1-1", Number(1, 1)),
        ("Section 2", Number(2)),
    ]


def test_a_case_is_known_by_its_folder_or_its_headings() -> None:
    text = "# 某案\n\n## 基本案情\n\n事实。\n\n第一条 引用的法条。"
    assert read(text).kind is DocumentKind.CASE
    assert read("# 某案\n\n事实。", "x/案例/某案.md").kind is DocumentKind.CASE


def test_a_case_whose_title_is_a_maxim_keeps_both() -> None:
    document = read("# 一句要旨\n\n## 甲诉乙案\n\n## 基本案情\n\n事实。", "x/案例/甲诉乙案.md")
    assert (document.title, document.headline) == ("甲诉乙案", "一句要旨")
    assert [each.label for each in document.passages] == ["基本案情"]


def test_front_matter_decides() -> None:
    facts = "---\nkind: case\ntitle: '某案'\nversion_date: 2026-01-02\nsource: a court\n---\n"
    document = read(f"{facts}# other\n\n第一条 内容。")
    assert (document.kind, document.title) == (DocumentKind.CASE, "某案")
    assert (document.version_date, document.source) == ("2026-01-02", "a court")


def test_a_page_of_front_matter_alone_is_no_document() -> None:
    text = "---\nbookCollapseSection: true\n---\n"
    assert markdown.read(text, PurePosixPath("laws/_index.md")) is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("第一条 内容。", 1, "no title"),
        ("# 法\n\n没有编号的文字。", 3, "no article"),
        ("---\nkind: case\n# 法", 1, "front matter has no end"),
        ("---\nkind: song\n---\n# 法\n\n第一条 内容。", 1, "kind is 'song'"),
        ("---\nkind: case\n---\n# 某案\n", 1, "without any text"),
    ],
)
def test_what_is_broken_is_said_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(BrokenText, match=message) as caught:
        markdown.read(text, PurePosixPath("laws/x.md"))
    assert caught.value.line == line
