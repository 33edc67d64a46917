"""The subject index: which articles a description in ordinary words is about."""

import re
from pathlib import Path

import pytest

from mcpyard.legal import tables
from mcpyard.legal.query.article_questions import resemblances
from mcpyard.legal.query.concepts import concepts
from mcpyard.legal.query.subjects import subjects
from mcpyard.legal.statutes import search_statutes
from mcpyard.legal.tables import Subject, article_questions, law_names, word_groups
from mcpyard.legal.tables import subjects as index
from tests.legal.corpora import library_of

CAR_SPACES = Subject("民法典", "", 276, 0)
COMPANY = """# 中华人民共和国公司法

<!-- INFO END -->

第五十七条 股东享有的权利由本条示范。

第五十八条 股东享有的权利由本条另行示范。
"""


def weights(query: str) -> dict[Subject, float]:
    return dict(subjects(query))


def test_several_words_together_tell_the_article() -> None:
    assert next(iter(weights("开发商把地下车位卖给外面的人"))) == CAR_SPACES


def test_words_of_one_group_say_it_only_once() -> None:
    assert weights("车位 卖 停车位")[CAR_SPACES] == pytest.approx(weights("车位 卖")[CAR_SPACES])


def test_words_that_say_the_same_stand_for_each_other() -> None:
    pets = Subject("民法典", "", 1245, 0)
    assert pets in weights("隔壁的猫抓伤我")
    assert pets in weights("楼下的宠物抓伤我")


def test_a_character_inside_of_a_longer_word_is_no_word() -> None:
    lawsuit = weights("告")
    assert lawsuit
    assert not lawsuit.keys() & weights("广告").keys()


def test_question_words_are_about_nothing() -> None:
    assert subjects("怎么办 可以吗") == []


def test_an_article_of_another_version_has_another_subject(tmp_path: Path) -> None:
    laws = {f"公司法({version}).md": COMPANY for version in ("2018-10-26", "2023-12-29")}
    library, corpus, _ = library_of(tmp_path, laws)
    query = "小股东想查账本"
    old = search_statutes(library, query, None, 2, as_of="2020-01-01").hits
    new = search_statutes(library, query, None, 2, as_of="2026-01-01").hits
    corpus.close()
    assert [hit.row["label"] for hit in new] == ["第五十七条"]
    assert len(old) == 2, "the index does not know the older version"


def test_every_row_of_the_index_can_be_used() -> None:
    names = {row.name for row in law_names()}
    for subject, words in index().items():
        assert subject.law in names
        assert not subject.version or subject.version.count("-") == 2
        assert words
    for group in word_groups():
        assert len(group) == len(set(group)) > 1


def test_every_row_of_the_questions_names_one_article_and_its_questions() -> None:
    folder = Path(tables.__file__).parent / "data"
    lines = (folder / "article_questions.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for _, _, article, questions in rows:
        assert re.fullmatch(r"[1-9]\d*(-[1-9]\d*)?", article)
        assert len({*questions.split("、")} - {""}) == len(questions.split("、")) >= 2
    assert len(article_questions()) == len(rows)
    assert article_questions().keys() <= index().keys()


def test_a_query_resembles_the_questions_of_an_article() -> None:
    best = [article for article, _ in resemblances("装了监控拍到邻居家门口犯法吗")]
    assert len(best) == len(set(best)) > 1
    for article, questions in [*article_questions().items()][::500]:
        assert article in dict(resemblances(questions[0])[:3])


def test_a_query_that_resembles_a_question_raises_its_article(tmp_path: Path) -> None:
    law = COMPANY.replace("五十七", "六十二").replace("五十八", "六十三")
    library, corpus, _ = library_of(tmp_path, {"公司法(2023-12-29).md": law})
    hits = search_statutes(library, "股东自己想召集开个会议行吗", None, 2).hits
    corpus.close()
    assert [hit.row["label"] for hit in hits] == ["第六十三条", "第六十二条"]


def test_an_unknown_text_resembles_no_question() -> None:
    assert resemblances("zzz qqq") == []
    assert resemblances("") == []


def test_a_word_counts_less_as_a_part_of_a_phrase_than_by_itself() -> None:
    weight_of = weights("仓单")
    having = {each: words for each, words in index().items() if "仓单" in "、".join(words)}
    alone = [weight_of[each] for each, words in having.items() if "仓单" in words]
    inside = [weight_of[each] for each, words in having.items() if "仓单" not in words]
    assert alone
    assert inside
    assert min(alone) > max(inside) > 0


def test_what_people_say_of_an_article_counts_as_its_text(tmp_path: Path) -> None:
    library, corpus, _ = library_of(tmp_path, {"公司法(2023-12-29).md": COMPANY})
    where: dict[str, object] = {
        "kind": "statute",
        "law": "",
        "part": "",
        "version": "",
        "every": True,
        "as_of": "9999",
    }
    scored = library.relevance().search(concepts("股东 查账"), where)
    corpus.close()
    assert [each.row["label"] for each in scored] == ["第五十七条", "第五十八条"]
    assert scored[0].coverage > 1.5 * scored[1].coverage
