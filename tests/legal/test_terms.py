from hypothesis import given
from hypothesis import strategies as st

from mcpyard.legal.cases import search_cases
from mcpyard.legal.corpus import Corpus
from mcpyard.legal.excerpts import excerpt
from mcpyard.legal.library import Library
from mcpyard.legal.model import DocumentKind, LegalDocument, Passage
from mcpyard.legal.query.terms import indexed, runs


def test_chinese_is_indexed_by_pairs_and_by_single_characters() -> None:
    assert indexed("合同法。Contract Law 2") == ("合同 同法 contract law 2", "合 同 法")


def test_a_query_is_its_runs_and_words_and_nothing_else() -> None:
    query = runs('"合同" OR NEAR(隐私 a*) ^-{}:')
    assert query.chinese == ("合同", "隐私")
    assert query.words == ("or", "near", "a")


def test_full_width_letters_and_digits_are_ordinary_ones() -> None:
    assert runs("\uff21\uff22\uff23\u3000\uff11\uff12") == runs("abc 12")


@given(st.text(max_size=200))
def test_no_query_is_more_than_text_to_the_index(query: str) -> None:
    corpus = Corpus()
    library = Library(corpus)
    try:
        if not runs(query).empty:
            assert search_cases(library, query, 3).hits == []
    finally:
        corpus.close()


@given(st.text("合同法律责任第一二条", min_size=1, max_size=12), st.data())
def test_every_substring_of_a_text_finds_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    corpus = Corpus()
    corpus.add([LegalDocument(DocumentKind.CASE, "名", "here", (Passage("段", text),))])
    try:
        hits = search_cases(Library(corpus), text[start:end], 1).hits
    finally:
        corpus.close()
    assert [hit.row["text"] for hit in hits] == [text]


def test_a_short_text_is_its_own_excerpt() -> None:
    assert excerpt("当事人订立合同、写明价款。", runs("合同"), 40) == "当事人订立合同、写明价款。"


def test_an_excerpt_of_a_long_text_is_around_most_of_the_matches() -> None:
    text = "违约" + "前" * 500 + "违约金的约定与违约责任" + "后" * 500
    passage = excerpt(text, runs("违约金 责任"), 200)
    assert "违约金的约定与违约责任" in passage
    assert passage.startswith("…")
    assert passage.endswith("…")
    assert len(passage) <= 202


@given(st.text(max_size=300), st.text(max_size=20))
def test_an_excerpt_is_a_piece_of_the_text(text: str, query: str) -> None:
    plain = text.replace("…", " ")
    assert excerpt(plain, runs(query), 50).strip("…") in plain
