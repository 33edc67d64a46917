"""The days that files state: read as what they are, and refused where they are none."""

import json
from pathlib import Path

import pytest

from mcpyard.legal.library import Library
from tests.legal.corpora import library_of


def days(library: Library) -> list[tuple[str, str, str]]:
    rows = library.rows("SELECT version_date, valid_from, basis FROM document ORDER BY id")
    return [(row["version_date"], row["valid_from"], row["basis"]) for row in rows]


@pytest.mark.parametrize(
    ("line", "days_of_it"),
    [
        (
            "\uff082018年8月31日通过 自2019年1月1日起施行\uff09",
            ("2018-08-31", "2019-01-01", "file"),
        ),
        (
            "1993年2月22日通过 2009年8月27日修正 2014年11月1日第二次修正 2015年1月1日起施行",
            ("2014-11-01", "2015-01-01", "file"),
        ),
        ("2020年5月28日 通过\n\n2021年1月1日 施行", ("2020-05-28", "2021-01-01", "file")),
        ("1999年3月15日公布施行", ("1999-03-15", "1999-03-15", "file")),
        ("2020年5月28日 通过", ("2020-05-28", "2020-05-28", "assumed")),
        ("2020-05-28 passed, in force from 2021-01-01", ("2020-05-28", "2020-05-28", "assumed")),
    ],
)
def test_the_day_of_a_version_is_not_the_one_it_came_into_force(
    tmp_path: Path, line: str, days_of_it: tuple[str, str, str]
) -> None:
    text = f"# 示范法\n\n{line}\n\n<!-- INFO END -->\n\n第一条 示范。\n"
    library, corpus, _ = library_of(tmp_path, {"示范法.md": text})
    assert days(library) == [days_of_it]
    corpus.close()


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"version_date": "2020-13-01"}, "version_date is '2020-13-01'; it must be YYYY-MM-DD"),
        ({"in_force_from": "2020-02-30"}, "in_force_from is '2020-02-30'"),
        ({"in_force_until": "2020/01/01"}, "in_force_until is '2020/01/01'"),
        (
            {"in_force_from": "2021-01-01", "in_force_until": "2020-01-01"},
            "in_force_until is 2020-01-01, which is not after 2021-01-01",
        ),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "md"])
def test_what_is_no_day_is_refused_with_its_name(
    tmp_path: Path, members: dict[str, str], message: str, form: str
) -> None:
    if form == "jsonl":
        text = json.dumps({"kind": "statute", "title": "示范法", "text": "第一条 x", **members})
    else:
        lines = "\n".join(f"{name}: {day}" for name, day in members.items())
        text = f"---\n{lines}\n---\n# 示范法\n\n第一条 x\n"
    library, corpus, report = library_of(tmp_path, {f"x.{form}": text})
    assert message in report.broken[0].message
    assert days(library) == []
    corpus.close()


def test_articles_with_one_number_are_noted(tmp_path: Path) -> None:
    text = "# 示范法\n\n<!-- INFO END -->\n\n第一条 甲。\n\n第二条 乙。\n\n第二条 丙。\n"
    _, corpus, report = library_of(tmp_path, {"示范法.md": text})
    assert [each.message for each in report.notes] == [
        "示范法: 第二条 is there more than once; only the first is read by its number"
    ]
    corpus.close()
