"""Whether answers are right: those of the server, and of two plain indexes of the same passages."""

import re
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from bench.legal_questions import Question
from mcpyard.legal.cases import search_cases
from mcpyard.legal.library import Library
from mcpyard.legal.query import numerals
from mcpyard.legal.query.titles import STATE
from mcpyard.legal.statutes import search_statutes

FIRST = 3
SEGMENTER = Path(__file__).parents[1] / ".venv-segmenter"
ANSWER = re.compile(r"(?P<law>.*?)(?P<article>第\d+条(?:之.)?)(?:@(?P<version>.*))?")


class CitedArticle(NamedTuple):
    """A law without the name of the state, an article, a version."""

    law: str
    number: int
    insertion: int
    version: str


def right(library: Library, question: Question) -> bool:
    """Whether the server answers a question rightly."""
    if question.kind == "cases":
        hits = search_cases(library, question.query, 10).hits[:FIRST]
        return any(hit.row["title"] == question.answers[0] for hit in hits)
    answer = search_statutes(library, question.query, None, 10)
    articles = [_cited(hit.row) for hit in answer.hits]
    if question.kind == "unknown":
        return not articles and question.answers[0] in " ".join(answer.notices)
    if question.kind == "references":
        named = question.answers[0].split("+")
        return len(articles) >= len(named) and all(map(_matches, articles, named))
    return among_the_first(articles, question)


def among_the_first(articles: Iterable[CitedArticle], question: Question) -> bool:
    """Whether one of the right articles is among the first three."""
    first = [*articles][:FIRST]
    return any(_matches(each, answer) for each in first for answer in question.answers)


def _matches(article: CitedArticle, answer: str) -> bool:
    match = ANSWER.fullmatch(answer)
    number = numerals.read(match["article"]) if match else None
    assert match
    assert number
    named = (match["law"], number.main, number.insert)
    return article[:3] == named and match["version"] in {None, article.version}


def _cited(row: sqlite3.Row) -> CitedArticle:
    number = row["number"] or 0
    title = row["title"].removeprefix(STATE)
    return CitedArticle(title, number, row["insertion"], row["version_date"])


class PlainIndex:
    """FTS5 over the current passages as any program would make it, asked for any of the words."""

    def __init__(self, library: Library, tokenizer: str, terms: Callable[[str], list[str]]) -> None:
        self._terms = terms
        self._rows = {
            row["id"]: row
            for row in library.rows(
                "SELECT * FROM cited WHERE kind = 'statute' AND number IS NOT NULL"
                " AND (valid_until = '' OR valid_until > date())"
            )
        }
        self._index = sqlite3.connect(":memory:")
        self._index.execute(f"CREATE VIRTUAL TABLE words USING fts5 (text, tokenize='{tokenizer}')")
        for key, row in self._rows.items():
            text = f"{row['title']} {row['headings']} {row['text']}"
            words = text if tokenizer == "trigram" else " ".join(terms(text))
            self._index.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (key, words))

    def right(self, question: Question) -> bool:
        """Whether the index finds a right article."""
        words = [each.replace('"', "") for each in self._terms(question.query)]
        match = " OR ".join(f'"{each}"' for each in dict.fromkeys(words) if each.strip())
        if not match:
            return False
        rows = self._index.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?",
            (match, FIRST),
        )
        return among_the_first([_cited(self._rows[key]) for (key,) in rows], question)


def trigrams(text: str) -> list[str]:
    """What the trigram tokenizer can look for."""
    runs = re.findall(r"\w+", text)
    return [run[start : start + 3] for run in runs for start in range(max(1, len(run) - 2))]


def segmenter() -> Callable[[str], list[str]] | None:
    """The words of a text as jieba cuts them, if it is installed beside the project."""
    sys.path.append(str(SEGMENTER))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import jieba  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
        except ImportError:
            return None
    jieba.setLogLevel(60)
    return lambda text: [word for word in jieba.cut_for_search(text) if re.search(r"\w", word)]
