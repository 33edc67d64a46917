import json
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.legal.cases import search_cases
from mcpyard.legal.corpus import Corpus, StoreResult
from mcpyard.legal.library import Hit, Library
from mcpyard.legal.reading.loading import NothingToImport, Report, find, load
from mcpyard.legal.schema import NotACorpus
from mcpyard.legal.statutes import search_statutes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "laws"
    made.mkdir()
    return made


@pytest.fixture
def corpus(tmp_path: Path) -> Generator[Corpus]:
    made = Corpus(tmp_path / "state" / "corpus.db")
    yield made
    made.close()


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def law(title: str, *articles: str) -> str:
    return f"# {title}\n\n" + "\n\n".join(articles or ("第一条 内容。",))


def loaded(path: Path, corpus: Corpus) -> Report:
    return load(find(path), corpus, lambda _done, _of: None)


def articles(corpus: Corpus, query: str) -> list[Hit]:
    return search_statutes(Library(corpus), query, None, 9).hits


def test_importing_twice_changes_nothing(folder: Path, corpus: Corpus) -> None:
    write(folder, "a.md", law("甲法"))
    write(folder, "sub/b.md", law("乙法"))
    assert loaded(folder, corpus).changes == {StoreResult.ADDED: 2}
    before = [tuple(hit.row) for hit in articles(corpus, "内容")]
    assert before
    assert loaded(folder, corpus).changes == {StoreResult.UNCHANGED: 2}
    assert [tuple(hit.row) for hit in articles(corpus, "内容")] == before


def test_a_changed_text_takes_the_place_of_the_old_one(folder: Path, corpus: Corpus) -> None:
    write(folder, "a.md", law("甲法", "第一条 旧的规定。"))
    loaded(folder, corpus)
    write(folder, "a.md", law("甲法", "第一条 新的条文。"))
    assert loaded(folder, corpus).changes == {StoreResult.REPLACED: 1}
    assert [hit.row["text"] for hit in articles(corpus, "条文")] == ["新的条文。"]
    assert articles(corpus, "旧") == []


def test_the_newest_version_is_current_whatever_order_they_came_in(
    folder: Path, corpus: Corpus
) -> None:
    for date in ("2023-12-29", "2018-10-26"):
        write(folder, f"甲法({date}).md", law("甲法", f"第一条 {date} 的内容。"))
        loaded(folder, corpus)
    library = Library(corpus)
    assert library.article("甲法", "1").hit.row["version_date"] == "2023-12-29"
    assert library.article("甲法", "1", "2018-10-26").hit.row["text"] == "2018-10-26 的内容。"
    assert [hit.row["version_date"] for hit in articles(corpus, "内容")] == ["2023-12-29"]


def test_each_broken_file_is_named_with_its_line_and_the_rest_is_imported(
    folder: Path, corpus: Corpus
) -> None:
    write(folder, "good.md", law("甲法"))
    write(folder, "no-article.md", "# 乙法\n\n文字。")
    write(folder, "empty.md", " \n")
    write(folder, "same.md", law("甲法"))
    (folder / "gbk.md").write_bytes("# 丙法\n\n".encode() + "第一条 内容".encode("gbk"))
    (folder / "gone.md").symlink_to(folder.parent / "nowhere.md")
    (folder / "lines.jsonl").write_bytes(b'{"kind": "case"}\nno json\n"\xff"\n')
    report = loaded(folder, corpus)
    assert report.changes == {StoreResult.ADDED: 1}
    assert [str(each).split(" ", 1)[0] for each in report.broken] == [
        "laws/empty.md:1:",
        "laws/gbk.md:3:",
        "laws/gone.md:1:",
        "laws/lines.jsonl:1:",
        "laws/lines.jsonl:2:",
        "laws/lines.jsonl:3:",
        "laws/no-article.md:3:",
        "laws/same.md:1:",
    ]
    assert "the same document as in laws/good.md" in str(report.broken[-1])


def test_pages_without_text_and_readmes_are_no_fault(folder: Path, corpus: Corpus) -> None:
    write(folder, "_index.md", "---\nweight: 1\n---\n")
    write(folder, "README.md", "# About these texts")
    write(folder, "a.md", law("甲法"))
    report = loaded(folder, corpus)
    assert (report.files, report.skipped, report.broken) == (2, 1, [])


def test_json_lines_hold_statutes_cases_and_templates(folder: Path, corpus: Corpus) -> None:
    rows = [
        {"kind": "statute", "title": "甲法", "articles": [{"article": 7, "text": "内容。"}]},
        {
            "kind": "statute",
            "title": "乙法",
            "text": "## 第一章 总则\n\n第一条 文字。",
            "version_date": "2020-01-02",
            "source": "the gazette",
        },
        {"kind": "case", "title": "某案", "text": "## 基本案情\n\n事实。"},
        {"kind": "template", "title": "letter", "text": "Dear {{name}}"},
    ]
    file = write(folder, "all.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert loaded(file, corpus).changes == {StoreResult.ADDED: 4}
    library = Library(corpus)
    assert library.article("甲法", "第七条").hit.row["source"] == "laws/all.jsonl"
    article = library.article("乙法", "1").hit.row
    assert (article["source"], article["version_date"]) == ("the gazette", "2020-01-02")
    assert article["headings"] == "第一章 总则"
    assert [hit.row["title"] for hit in search_cases(library, "事实", 9).hits] == ["某案"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[]", "not a JSON object"),
        ('{"kind": "song", "title": "a", "text": "b"}', "kind is 'song'"),
        ('{"kind": "case", "title": " ", "text": "b"}', "title must be a text"),
        ('{"kind": "case", "title": "a", "text": 3}', "text must be a text"),
        ('{"kind": "case", "title": "a", "text": "\\ud800"}', "surrogate"),
        ('{"kind": "statute", "title": "a", "articles": []}', "articles must be a list"),
        ('{"kind": "statute", "title": "a", "articles": [1]}', "an article must be an object"),
        (
            '{"kind": "case", "title": "a", "text": "b", "version_date": "May"}',
            "version_date is 'May'",
        ),
    ],
)
def test_a_broken_line_is_said_and_the_next_one_imported(
    folder: Path, corpus: Corpus, row: str, message: str
) -> None:
    good = '{"kind": "case", "title": "某案", "text": "事实。"}'
    report = loaded(write(folder, "a.jsonl", f"{row}\n\n{good}\n"), corpus)
    assert report.changes == {StoreResult.ADDED: 1}
    assert [each.line for each in report.broken] == [1]
    assert message in report.broken[0].message


def test_a_document_that_comes_twice_in_one_import_is_stored_once(
    folder: Path, corpus: Corpus
) -> None:
    lines = [f'{{"kind": "case", "title": "某案", "text": "{text}"}}' for text in ("先", "后")]
    file = write(folder, "a.jsonl", "\n".join(lines))
    for change in (StoreResult.ADDED, StoreResult.UNCHANGED):
        report = loaded(file, corpus)
        assert report.changes == {change: 1}
        assert "the same document as in laws/a.jsonl" in report.broken[0].message


def test_a_long_file_of_lines_is_stored_batch_by_batch(folder: Path, corpus: Corpus) -> None:
    lines = [f'{{"kind": "case", "title": "第{n}号案", "text": "事实。"}}' for n in range(70)]
    file = folder / "all.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8-sig")
    assert loaded(file, corpus).changes == {StoreResult.ADDED: 70}
    assert loaded(file, corpus).changes == {StoreResult.UNCHANGED: 70}


def test_progress_is_told_up_to_the_last_file(folder: Path, corpus: Corpus) -> None:
    for number in range(40):
        write(folder, f"{number}.md", law(f"第{number}号法"))
    progress: list[tuple[int, int]] = []
    load(find(folder), corpus, lambda done, of: progress.append((done, of)))
    assert progress == [(32, 40), (40, 40)]


def test_an_import_that_is_stopped_leaves_whole_batches(folder: Path, corpus: Corpus) -> None:
    for number in range(40):
        write(folder, f"{number}.md", law(f"第{number}号法"))

    def stop(_done: int, _of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(find(folder), corpus, stop)
    assert corpus.counts()["statute"] == 32
    assert loaded(folder, corpus).changes == {StoreResult.UNCHANGED: 32, StoreResult.ADDED: 8}


def test_nothing_to_import_is_said(folder: Path) -> None:
    with pytest.raises(NothingToImport, match="holds no Markdown"):
        find(folder)
    with pytest.raises(NothingToImport, match="no such file"):
        find(folder / "nowhere")


def test_a_file_that_is_no_corpus_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "corpus.db"
    file.write_text("somebody's notes, long enough to be read as the head of a database" * 20)
    before = file.read_bytes()
    with pytest.raises(NotACorpus):
        Corpus(file)
    assert file.read_bytes() == before


def test_what_is_gone_from_the_folder_is_taken_out_when_that_is_said(
    folder: Path, corpus: Corpus
) -> None:
    for date in ("2018-10-26", "2023-12-29"):
        newest = write(folder, f"甲法({date}).md", law("甲法", f"第一条 {date} 的内容。"))
    loaded(folder, corpus)
    newest.unlink()
    assert loaded(folder, corpus).removed == 0
    assert corpus.counts()["statute"] == 2
    assert replaced(folder, corpus).removed == 1
    assert Library(corpus).article("甲法", "1").hit.row["version_date"] == "2018-10-26"
    assert replaced(folder, corpus).removed == 0


def test_nothing_is_taken_out_while_a_file_is_broken(folder: Path, corpus: Corpus) -> None:
    file = write(folder, "a.md", law("甲法"))
    write(folder, "b.md", law("乙法"))
    loaded(folder, corpus)
    file.write_text("")
    report = replaced(folder, corpus)
    assert (report.removed, len(report.broken), corpus.counts()["statute"]) == (0, 1, 2)


def replaced(path: Path, corpus: Corpus) -> Report:
    return load(find(path), corpus, lambda _done, _of: None, replace=True)
