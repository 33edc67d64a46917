"""Finding and ranking passages: candidates from the index, scored by what they have of a query.

The index finds passages with any of the words. Its own ranking can't know that two words mean the
same, or that a word is a heading's; so the best few hundred are scored again, concept by concept.
"""

import json
import math
import re
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Final

from mcpyard.legal import tables
from mcpyard.legal.query.article_questions import resemblances
from mcpyard.legal.query.concepts import Concept
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.subjects import rarity, subjects, words_of
from mcpyard.legal.query.terms import pairs
from mcpyard.legal.query.titles import STATE
from mcpyard.legal.tables import Subject

_CANDIDATES: Final = 150
_MOST_TERMS: Final = 64
_WEAK: Final = 0.3
_COMMON: Final = 2.5
_FEW: Final = 3
_HEADING: Final = 0.35
_TITLE: Final = 0.3
_PIECE: Final = 0.6
_REPEATED: Final = 0.12
_MOST_REPEATS: Final = 4
_SPOKEN: Final = 0.3
_SUBJECT: Final = 1.0
_QUESTION: Final = 0.5
_ONE_WORD: Final = 0.4
_MOST_ARTICLES: Final = 20
_LENGTH: Final = 0.1
_USUAL_LENGTH: Final = 120
_ABOUT: Final = 1.2
_ALIKE: Final = 0.7
_INTRODUCTION: Final = 1.15
_GENERAL: Final = 2
_AMENDMENT: Final = 0.6
_SAME_LAW: Final = 0.5
_BEST_OF_LAW: Final = 5
_HAN: Final = re.compile("[\u3007\u3400-\u9fff]")

# The rows are fetched after the sort: texts in it would cost more than the search.
_FOUND: Final = """
SELECT cited.* FROM (
    SELECT passage_index.rowid AS best FROM passage_index
    JOIN passage ON passage.id = passage_index.rowid
    JOIN document ON document.id = passage.document
    WHERE passage_index MATCH :match AND kind = :kind
    AND valid_from <= :as_of AND (valid_until = '' OR valid_until > :as_of OR :every)
    AND (:law = '' OR document.title = :law) AND (:part = '' OR part = :part)
    AND (:version = '' OR version_date = :version)
    ORDER BY bm25(passage_index, 2.0, 1.0, 2.0, 1.0, 1.0) LIMIT :limit
) JOIN cited ON cited.id = best
"""

# Whatever its words, an article that the subject index names is a candidate. The cross
# join keeps the order of the tables: the other way round, every passage is looked at.
_ABOUT_IT: Final = """
SELECT cited.* FROM json_each(:articles) AS article
CROSS JOIN passage
    ON passage.number = article.value ->> 1 AND passage.insertion = article.value ->> 2
JOIN cited ON cited.id = passage.id
WHERE kind = :kind AND title = article.value ->> 0
AND valid_from <= :as_of AND (valid_until = '' OR valid_until > :as_of OR :every)
AND (:law = '' OR title = :law) AND (:part = '' OR part = :part)
AND (:version = '' OR version_date = :version)
"""

Rows = Callable[[str, dict[str, object]], list[sqlite3.Row]]


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage, its score, and the share of what was asked that it has."""

    row: sqlite3.Row
    score: float
    coverage: float


class Relevance:
    """Ranks the passages of one state of a corpus."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        ((self._size,),) = rows("SELECT count(*) FROM passage", {})
        self._weights: dict[str, float] = {}

    def search(
        self,
        concepts: Sequence[Concept],
        where: dict[str, object],
        query: str = "",
        limit: int = _CANDIDATES,
    ) -> list[ScoredPassage]:
        """The passages that fit, the best first; the query's own words say what it is about."""
        terms = self._present(concepts)
        if not terms:
            return []
        match = " OR ".join(_match(each) for each in terms[:_MOST_TERMS])
        rows = self._rows(_FOUND, where | {"match": match, "limit": limit})
        # One word is a word of the law rather than the description of a situation.
        factor = _SUBJECT if len(concepts) > 1 else _ONE_WORD
        about = _Subjects(query, factor * math.log(self._size + 1))
        ids = {row["id"] for row in rows}
        more = self._rows(_ABOUT_IT, where | {"articles": about.articles})
        rows += [row for row in more if row["id"] not in ids]
        most = sum(self._best_weight(each) for each in concepts) or 1.0
        likely = _Likelihood(query)
        scored = [self._score(row, concepts, most, likely.of(row)) for row in rows]
        scored = [replace(each, score=each.score + about.of(each.row)) for each in scored]
        if len(concepts) > 1:
            scored = _with_their_laws(scored)
        # A word or two ask for a subject in general, more words for one case of it.
        return _introductions_first(scored, _INTRODUCTION if len(concepts) <= _GENERAL else 1.0)

    def mentions(self, row: sqlite3.Row, concepts: Sequence[Concept]) -> bool:
        """Whether a passage has anything of what is asked."""
        return self._score(row, concepts, 1.0, 1.0).score > 0

    def weight(self, term: str) -> float:
        """How much a term says: the fewer passages have it, the more. 0 where none has it."""
        if term not in self._weights:
            ((count,),) = self._rows(
                "SELECT count(*) FROM passage_index WHERE passage_index MATCH :match",
                {"match": _match(term)},
            )
            rarity = math.log((self._size + 1) / (count + 0.5)) if count else 0.0
            self._weights[term] = max(rarity, 0.0)
        return self._weights[term]

    def _present(self, concepts: Sequence[Concept]) -> list[str]:
        """The terms that the corpus has, the rarest first; common ones only where few are rare."""
        terms = {term for each in concepts for term, weight in each.terms if weight > _WEAK}
        terms |= {piece for each in concepts for piece in each.pieces}
        weighted = sorted(((self.weight(term), term) for term in terms), reverse=True)
        rare = [term for weight, term in weighted if weight > _COMMON]
        return rare if len(rare) > _FEW else [term for weight, term in weighted if weight]

    def _best_weight(self, concept: Concept) -> float:
        """What the concept is worth at best; an unknown word is worth as much as a rare one.

        Weak terms only break ties: nobody misses them.
        """
        if all(weight <= _WEAK for _, weight in concept.terms):
            return 0.0
        best = max((self.weight(term) * weight for term, weight in concept.terms), default=0.0)
        rarest = math.log(self._size + 1)
        pieces = _PIECE * sum(self.weight(each) or rarest for each in concept.pieces)
        return max(best, pieces) or rarest

    def _score(
        self, row: sqlite3.Row, concepts: Sequence[Concept], most: float, likelihood: float
    ) -> ScoredPassage:
        text, headings, title = row["folded"], row["folded_headings"], row["title"] + row["part"]
        spoken = _spoken(row)
        total = 0.0
        for concept in concepts:
            values = [
                self._weight_in(term, spoken)
                * weight
                * _presence(term, text, headings, title, spoken)
                for term, weight in concept.terms
            ]
            values.append(
                _PIECE
                * sum(
                    self._weight_in(each, spoken)
                    for each in concept.pieces
                    if each in text or each in spoken
                )
            )
            total += max(values) + _REPEATED * (sum(values) - max(values))
        length = 1 + _LENGTH * math.log(max(len(text), 20) / _USUAL_LENGTH)
        amendment = _AMENDMENT if "修正案" in row["title"] else 1.0
        return ScoredPassage(row, total / length * amendment * likelihood, total / most)

    def _weight_in(self, term: str, spoken: str) -> float:
        """The weight of a term; if no text has it, as rare as it is in the subject index."""
        if (weight := self.weight(term)) or term not in spoken:
            return weight
        return rarity(term) * math.log(self._size + 1)


def _spoken(row: sqlite3.Row) -> str:
    """What people say who ask about a passage, by the subject index."""
    law = row["title"].removeprefix(STATE)
    return words_of(Subject(law, row["version_date"], row["number"] or 0, row["insertion"]))


class _Subjects:
    """The articles that a query is about by the subject index and by questions, with weights."""

    def __init__(self, query: str, factor: float) -> None:
        weights = dict(subjects(query))
        for subject, weight in resemblances(query):
            weights[subject] = weights.get(subject, 0.0) + _QUESTION * weight
        best = nsmallest(_MOST_ARTICLES, weights.items(), key=lambda each: -each[1])
        self._weights = {
            (STATE + subject.law, subject.number, subject.insertion): (
                factor * weight,
                subject.version,
            )
            for subject, weight in best
        }

    @property
    def articles(self) -> str:
        """Law, number and insertion of each, as JSON."""
        return json.dumps([*self._weights])

    def of(self, row: sqlite3.Row) -> float:
        """The weight of a passage; 0 of one that is about something else."""
        key = (row["title"], row["number"], row["insertion"])
        weight, version = self._weights.get(key, (0.0, ""))
        return weight if version in {"", row["version_date"]} else 0.0


class _Likelihood:
    """How likely a query is about a law: some are asked about more, and words tell."""

    def __init__(self, query: str) -> None:
        self._query = plain(query)
        self._laws: dict[tuple[str, str], float] = {}

    def of(self, row: sqlite3.Row) -> float:
        """The factor for the passages of a law; 1 where nothing is known of it."""
        law = (row["title"].removeprefix(STATE), row["part"])
        if law not in self._laws:
            topic = tables.topics().get(law)
            about = topic is not None and any(word in self._query for word in topic.triggers)
            weight = topic.weight if topic else 1.0
            self._laws[law] = max(weight, 1.0) * _ABOUT if about else weight
        return self._laws[law]


def _with_their_laws(scored: list[ScoredPassage]) -> list[ScoredPassage]:
    """The passages, those of a text with several good ones raised: the query is about its law."""
    scores: dict[int, list[float]] = {}
    for each in scored:
        scores.setdefault(each.row["document"], []).append(each.score)
    share = _SAME_LAW / _BEST_OF_LAW
    raised = {law: share * sum(sorted(each)[-_BEST_OF_LAW:]) for law, each in scores.items()}
    return [replace(each, score=each.score + raised[each.row["document"]]) for each in scored]


def _introductions_first(scored: list[ScoredPassage], factor: float) -> list[ScoredPassage]:
    """The passages by score; of those of one text that fit alike, the first is the introduction."""
    best: dict[int, float] = {}
    for each in scored:
        document = each.row["document"]
        best[document] = max(best.get(document, 0.0), each.score)
    first: dict[int, int] = {}
    for each in scored:
        document, position = each.row["document"], each.row["position"]
        if each.score >= _ALIKE * best[document]:
            first[document] = min(first.get(document, position), position)

    def order(each: ScoredPassage) -> tuple[float, int]:
        introduces = first.get(each.row["document"]) == each.row["position"]
        return -each.score * (factor if introduces else 1.0), each.row["id"]

    return sorted(scored, key=order)


def _presence(term: str, text: str, headings: str, title: str, spoken: str) -> float:
    """How clearly a passage has a term: in its text, more than once, in headings and title.

    What people say of it counts as its text, and a little more if the text says the same.
    """
    stem = term if _HAN.match(term) else _stem(term)
    count = text.count(stem)
    value = 1 + _REPEATED * min(count - 1, _MOST_REPEATS) if count else 0.0
    value += _HEADING * (stem in headings) + _TITLE * (stem in title)
    return max(value, 1.0) + _SPOKEN * min(value, 1.0) if stem in spoken else value


def _stem(word: str) -> str:
    """The beginning that the forms of a word share; the index looks for stems too."""
    return word if len(word) <= 4 else word[: max(4, len(word) - 2)]  # noqa: PLR2004


def _match(term: str) -> str:
    """The question for a term; it is quoted, so nothing in it is an operator of the index."""
    if not _HAN.match(term):
        return f'{{terms title heading}} : "{term}"'
    runs = re.findall("[\u3007\u3400-\u9fff]+|[^\u3007\u3400-\u9fff\\s]+", term)
    if len(term) == 1:
        return f'{{singles title_singles}} : "{term}"'
    return f'{{terms title heading}} : "{" ".join(" ".join(pairs(run)) or run for run in runs)}"'
