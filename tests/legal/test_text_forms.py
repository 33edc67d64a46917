"""The forms in which texts come: styles of numbers, plain text, encodings; and what is left out."""

import re
from pathlib import Path, PurePosixPath

import pytest

from mcpyard.legal.collection import corpus_file
from mcpyard.legal.main import UNUSABLE, main
from mcpyard.legal.model import BrokenText, LegalDocument
from mcpyard.legal.notices import say_here
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.reading import markdown
from mcpyard.legal.reading.decoding import decode
from mcpyard.legal.reading.plain_text import to_markdown
from tests.legal.corpora import library_of


def read(text: str) -> LegalDocument:
    document = markdown.read(text, PurePosixPath("laws/示范法.md"))
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("line", "label", "text"),
    [
        ("**第十四条** 内容。", "第十四条", "内容。"),
        ("**第十四条　内容。**", "第十四条", "内容。"),
        ("第13条、内容。", "第十三条", "内容。"),
        ("第13条\uff0c内容。", "第十三条", "内容。"),
        ("第 1 條\n\n內容。", "第一条", "內容。"),
        ("第１３条 内容。", "第十三条", "内容。"),
        ("第133-1条 内容。", "第一百三十三条之一", "内容。"),
        ("### 第十四条\n\n内容。", "第十四条", "内容。"),
        ("第十四条【标题】内容。", "第十四条", "【标题】内容。"),
        ("Section 2A Text.", "Section 2A", "Text."),
        ("Section 2A. Text.", "Section 2A", "Text."),
        ("§ 12 Text.", "§ 12", "Text."),
    ],
)
def test_an_article_is_told_in_every_style(line: str, label: str, text: str) -> None:
    (passage,) = read(f"# 示范法\n\n{line}").passages
    assert (passage.label, passage.text) == (label, text)
    assert passage.number


def test_an_inserted_section_is_read_by_its_letter() -> None:
    (passage,) = read("# Rules\n\nSection 2A Text.").passages
    assert passage.number == Number(2, 1)


def test_annexes_are_read_by_their_names() -> None:
    passages = read("# 示范法\n\n第一条 内容。\n\n附件一\uff1a收费标准\n\n一百元。").passages
    assert [(each.label, each.text) for each in passages] == [
        ("第一条", "内容。"),
        ("附件一\uff1a收费标准", "一百元。"),
    ]


def test_an_annex_without_a_text_is_kept_by_its_name() -> None:
    passages = read("# 示范法\n\n第一条 内容。\n\n附件\n\n附件所列货物\n\n附录\uff1a略").passages
    assert [(each.label, each.text) for each in passages[1:]] == [
        ("附件", "附件"),
        ("附件所列货物", "附件所列货物"),
        ("附录\uff1a略", "附录\uff1a略"),
    ]


PLAIN = """中华人民共和国示范法

\uff082019年4月23日通过\uff09

目  录
第一章  总则
第二章  附则

第一章  总则

第一条　第一款。
第二款。

第二章  附则

第二条　本法自2020年1月1日起施行。
"""


def test_plain_text_is_read_with_its_title_dates_and_chapters() -> None:
    document = read(to_markdown(PLAIN))
    assert (document.title, document.version_date) == ("中华人民共和国示范法", "2019-04-23")
    assert [(each.label, each.headings) for each in document.passages] == [
        ("第一条", ("第一章 总则",)),
        ("第二条", ("第二章 附则",)),
    ]
    assert document.passages[0].text == "第一款。\n\n第二款。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "gbk", "utf-16"])
def test_texts_are_read_in_the_encodings_they_come_in(encoding: str) -> None:
    assert decode(PLAIN.encode(encoding)) == PLAIN


@pytest.mark.parametrize("content", [b"\xff\xff\xff", "标题\n".encode() + "内容".encode("gbk")])
def test_another_encoding_or_a_mixture_is_refused(content: bytes) -> None:
    with pytest.raises(BrokenText, match="not UTF-8"):
        decode(content)


def test_files_that_are_not_imported_are_named_and_gaps_are_noted(tmp_path: Path) -> None:
    laws = {
        "甲法.txt": "甲法\n第一条 内容。\n第三条 内容。\n",
        "乙法.docx": "binary",
        "README.md": "# About",
        ".hidden.md": "# x",
        "_index.md": "---\na: 1\n---\n",
    }
    _, corpus, report = library_of(tmp_path, laws)
    corpus.close()
    reasons = {each.file: each.reason for each in report.ignored}
    assert reasons == {
        "乙法.docx": ".docx is not imported; convert it to .md, .txt or .jsonl",
        "README.md": "a file about the collection, not a text of it",
        ".hidden.md": "hidden file",
        "laws/_index.md": "front matter only, no text",
    }
    (note,) = report.notes
    assert "no article between 第一条 and 第三条" in str(note)
    assert report.broken == []


def test_messages_are_in_the_language_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert say_here("empty_file") == "空文件"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert say_here("empty_file") == "empty"


BROKEN = {
    "a.md": "第一条 内容。",
    "b.md": "---\nkind: case\n# 法",
    "c.md": "---\nkind: case\n---\n# 某案\n",
    "d.md": "---\nkind: law\n---\n# 某法\n",
    "e.md": "# 某法\n\n没有条文。",
    "f.md": "",
    "g.jsonl": "[]\n{\n"
    '{"kind": "law"}\n'
    '{"kind": "case", "title": " ", "text": "b"}\n'
    '{"kind": "case", "title": "a", "text": "\\ud800"}\n'
    '{"kind": "statute", "title": "a", "version_date": "2020", "text": "b"}\n'
    '{"kind": "statute", "title": "a", "articles": []}\n'
    '{"kind": "statute", "title": "a", "articles": [1]}\n',
}


@pytest.mark.parametrize(("locale", "chinese"), [("zh_CN.UTF-8", True), ("C.UTF-8", False)])
def test_what_is_wrong_with_a_file_is_said_in_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, locale: str, chinese: bool
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    _, corpus, report = library_of(tmp_path, BROKEN)
    corpus.close()
    assert len(report.broken) == 14
    for each in report.broken:
        assert bool(re.search("[\u4e00-\u9fff]", each.message)) is chinese, each


def test_help_and_refusals_are_in_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with pytest.raises(SystemExit):
        main(["import", "--help"])
    assert "代替 MCPYARD_HOME 的状态文件夹" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--port", "99999"])
    assert "“99999”不是端口" in capsys.readouterr().err
    corpus_file(tmp_path).write_text("notes " * 200)
    assert main(["status", "--corpus", str(tmp_path)]) == UNUSABLE
    assert "不是语料库" in capsys.readouterr().err
