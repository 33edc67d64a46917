"""The subject index: which articles a description in ordinary words is about."""

from pathlib import Path

import pytest

from mcpyard.legal.query.subjects import subjects
from mcpyard.legal.statutes import search_statutes
from mcpyard.legal.tables import Subject, law_names, word_groups
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
