"""From which day versions are in force, and what that rests on."""

from pathlib import Path

from mcpyard.legal import answers
from mcpyard.legal.full_texts import page
from mcpyard.legal.library import Library
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.newer_versions import marked_article
from mcpyard.legal.reading.loading import find, load
from mcpyard.legal.statutes import search_statutes
from tests.legal.corpora import library_of

_LAW = "# 中华人民共和国{name}\n\n<!-- INFO END -->\n\n第一条 示范。\n\n第二条 {last}\n"
_AMENDMENT = "# 中华人民共和国{name}\n\n<!-- INFO END -->\n\n一、修改第一条。\n\n二、{last}\n"
_LAWS = {
    # As published: the last article is that of the first text, of 1992.
    "工会法(2021-12-24).md": _LAW.format(name="工会法", last="本法自公布之日起施行。"),
    "示范法(2023-12-29).md": _LAW.format(name="示范法", last="本法自1997年10月1日起施行。"),
    "示范法修正案\uff08二\uff09(2023-12-29).md": _AMENDMENT.format(
        name="示范法修正案\uff08二\uff09", last="本修正案自2024年3月1日起施行。"
    ),
}


def begin(library: Library, law: str) -> tuple[str, str]:
    (row,) = library.rows(
        "SELECT valid_from, basis FROM document WHERE title = ?", f"中华人民共和国{law}"
    )
    return row["valid_from"], row["basis"]


def test_a_later_import_changes_no_day(tmp_path: Path) -> None:
    library, corpus, _ = library_of(tmp_path, _LAWS)
    assert begin(library, "工会法") == ("2022-01-01", "table")
    file = tmp_path / "more" / "另法(2020-01-01).md"
    file.parent.mkdir()
    file.write_text(_LAW.format(name="另法", last="本法自2021年1月1日起施行。"))
    load(find(file), corpus, lambda _done, _of: None)
    assert begin(library, "工会法") == ("2022-01-01", "table")
    assert begin(library, "另法") == ("2021-01-01", "text")
    corpus.close()


def test_an_amended_text_begins_with_the_amendment_of_its_date(tmp_path: Path) -> None:
    library, corpus, _ = library_of(tmp_path, _LAWS)
    assert begin(library, "示范法") == ("2024-03-01", "text")
    corpus.close()


def test_an_import_without_changes_brings_days_up_to_date(tmp_path: Path) -> None:
    library, corpus, _ = library_of(tmp_path, _LAWS)
    with corpus.reading() as connection:
        connection.execute("UPDATE document SET valid_from = '1992-04-03'")
    library_of(tmp_path, _LAWS)[1].close()
    assert begin(library, "工会法") == ("2022-01-01", "table")
    corpus.close()


def test_a_newer_version_that_is_not_here_is_told_and_the_text_is_not_current(
    tmp_path: Path,
) -> None:
    old = {"公司法(2018-10-26).md": _LAW.format(name="公司法", last="出资的规定。")}
    library, corpus, _ = library_of(tmp_path, old)
    notice = (
        "公司法: the version of 2023-12-29, in force from 2024-07-01 (公司法第二百六十六条), is not"
    )
    for query in ("公司法第二条", "公司法 出资", "出资的规定"):
        answer = search_statutes(library, query, None, 3)
        assert notice in answer.notices[0]
        (result, *_) = answers.statutes(answer).structured_content["results"]
        assert (result["status"], result["in_force_until"]) == ("superseded", "2024-07-01")
    article = marked_article(library, library.article("公司法", "2"))
    assert "the text here is that of 2018-10-26" in article.notices[0]
    assert answers.article(article).structured_content["current"] is False
    assert "until 2024-07-01" in page(library, DocumentKind.STATUTE, "公司法")
    assert search_statutes(library, "公司法第二条", None, 3, "2024-06-30").notices == []
    corpus.close()


def test_a_version_that_is_here_and_listed_is_current(tmp_path: Path) -> None:
    laws = {
        f"公司法({day}).md": _LAW.format(name="公司法", last="出资的规定。")
        for day in ("2018-10-26", "2023-12-29")
    }
    library, corpus, _ = library_of(tmp_path, laws)
    for query in ("公司法第二条", "2018年公司法第二条"):
        assert search_statutes(library, query, None, 3).notices == []
    corpus.close()


def test_a_newer_version_that_nobody_verified_is_told_as_such(tmp_path: Path) -> None:
    old = {"仲裁法(2017-09-01).md": _LAW.format(name="仲裁法", last="仲裁协议的规定。")}
    library, corpus, _ = library_of(tmp_path, old)
    (notice,) = search_statutes(library, "仲裁法第二条", None, 3, "2026-03-01").notices
    assert "in force from 2026-03-01 (unverified), is not in this collection" in notice
    assert "自 2026-03-01 起施行\uff0c未核实" in notice
    corpus.close()
