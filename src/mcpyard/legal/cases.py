"""Searching cases: by words, by name, by the article they cite, by court, day and number."""

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

from mcpyard.legal import times
from mcpyard.legal.excerpts import excerpt
from mcpyard.legal.library import Hit, Library
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.notices import say
from mcpyard.legal.query.asking import (
    ArticleReference,
    BadQuery,
    ParsedQuery,
    understand,
)
from mcpyard.legal.query.concepts import Concept, concepts
from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.terms import runs
from mcpyard.legal.query.titles import Law, OutsideLaw, key

_COURT: Final = re.compile(r"[\u3400-\u9fff]{2,20}?(?:人民法院|仲裁委员会|海事法院|法院)")
_NUMBER: Final = re.compile(r"\((?:19|20)\d\d\)[\u3400-\u9fff0-9]{2,20}号")
_DAY: Final = re.compile(
    r"((?:19|20)\d\d)(?:年(?:(\d{1,2})月)?(?:(\d{1,2})日)?|-(\d\d)(?:-(\d\d))?)"
)
_ABOUT: Final = re.compile("引用|援引|适用|的?案例|判例|案件|判决书?|裁定|审理|作出")
_RELATIVE: Final = 0.34
_SECTIONS: Final = 60
_WIDTH: Final = 600


@dataclass(frozen=True, slots=True)
class CaseFilter:
    """What a case must have besides the words: an article it cites, a court, days."""

    cites: str = ""
    court: str = ""
    decided_from: str = ""
    decided_to: str = ""


@dataclass(slots=True)
class CaseAnswer:
    """What a search found, and what has to be said first."""

    hits: list[Hit] = field(default_factory=list[Hit])
    notices: list[str] = field(default_factory=list[str])


def search_cases(
    library: Library, query: str, limit: int, limits: CaseFilter | None = None
) -> CaseAnswer:
    """Cases, each with the section that fits best.

    Raises:
        BadQuery: The query can't be answered.
        BadDate: A day is none.
    """
    return _CaseSearch(library, query, limits or CaseFilter()).run(limit)


class _CaseSearch:
    def __init__(self, library: Library, query: str, limits: CaseFilter) -> None:
        self._library = library
        self._limits = limits
        self._answer = CaseAnswer()
        # Whoever names an article, a court or days need not say anything else.
        is_limited = self._limits != CaseFilter()
        is_bare = is_limited and not query.strip()
        self._parsed = ParsedQuery("", "") if is_bare else understand(query, library.names())
        self._rest = self._parsed.rest
        self._cited: dict[int, sqlite3.Row] = {}
        self._days = tuple(
            times.read_day(each) if each else ""
            for each in (self._limits.decided_from, self._limits.decided_to)
        )

    def run(self, limit: int) -> CaseAnswer:
        documents = self._documents()
        named = concepts(_ABOUT.sub(" ", self._rest))
        if documents is not None and not documents:
            return self._answer
        best: dict[int, Hit] = {}
        if documents is None or named:
            # A name in a query may be that of a case, so its laws count as words too.
            text = self._rest if documents is not None else self._parsed.text
            for row in self._ranked(concepts(_ABOUT.sub(" ", text)), documents):
                best.setdefault(row["document"], self._hit(row))
        for document in documents or ():
            if document not in best and (row := self._section(document)) is not None:
                best[document] = self._hit(row)
        self._answer.hits = [*best.values()][:limit]
        return self._answer

    def _documents(self) -> set[int] | None:
        """The cases that have what is asked besides words; None where nothing is."""
        sets = [self._citing(reference) for reference in self._references()]
        court, number, day = self._said()
        if court or number or day or any(self._days):
            decided = self._decided(court, number, day)
            if not decided:
                days = " - ".join(each or "..." for each in self._days) if any(self._days) else ""
                what = " ".join(filter(None, (court, number, day, days)))
                self._answer.notices.append(say("no_decision", what=what))
            sets.append(decided)
        return reduce(set[int].intersection, sets) if sets else None

    def _references(self) -> Iterable[ArticleReference]:
        named = [each for each in self._parsed.references if each.mention]
        if not (text := self._limits.cites):
            return named
        cited = understand(text, self._library.names()).references
        cited = [each for each in cited if each.mention]
        if not cited:
            raise BadQuery(say("no_reference", text=text[:80]))
        return [*named, *cited]

    def _citing(self, reference: ArticleReference) -> set[int]:
        names, law = self._library.names(), reference.law
        assert law is not None  # noqa: S101  references without a law are left out
        own = {key(law.title if isinstance(law, Law) else law.name)}
        rows = self._library.rows(
            "SELECT citation.law, cited.* FROM citation JOIN cited ON cited.id = citation.passage"
            " WHERE citation.number = ? AND citation.insertion = ?",
            *(reference.number.main, reference.number.insert),
        )
        citing: set[int] = set()
        for row in rows:
            cited = names.look_up(row["law"])
            if row["law"] in own or (cited is not None and _same(cited, law)):
                citing.add(row["document"])
                self._cited.setdefault(row["document"], row)
        if not citing:
            name = f"{law.name} {reference.number}"
            self._answer.notices.append(say("not_cited", article=name))
        return citing

    def _said(self) -> tuple[str, str, str]:
        """The court, the number and the day that the query or the arguments name."""
        number = next(iter(_NUMBER.findall(self._rest)), "")
        self._rest = self._rest.replace(number, " ") if number else self._rest
        court = normal(self._limits.court) or next(iter(_COURT.findall(self._rest)), "")
        match = _DAY.search(self._rest)
        day = _written_day(match) if match else ""
        for piece in (court, match[0] if match else ""):
            self._rest = self._rest.replace(piece, " ") if piece else self._rest
        return court, number, day

    def _decided(self, court: str, number: str, day: str) -> set[int]:
        first, last = self._days
        rows = self._library.rows(
            "SELECT DISTINCT document FROM decision"
            " WHERE (:court = '' OR instr(court, :court)) AND (:number = '' OR number = :number)"
            " AND (:day = '' OR day LIKE :day || '%') AND (:first = '' OR day >= :first)"
            " AND (:last = '' OR (day != '' AND day <= :last))",
            court=court,
            number=number,
            day=day,
            first=first,
            last=last,
        )
        return {row["document"] for row in rows}

    def _ranked(self, named: list[Concept], documents: set[int] | None) -> list[sqlite3.Row]:
        where: dict[str, object] = {"kind": DocumentKind.CASE, "law": "", "part": ""}
        where |= {"version": "", "every": True, "as_of": "9999"}
        scored = self._library.relevance().search(named, where, limit=_SECTIONS * 4)
        if documents is not None:
            return [each.row for each in scored if each.row["document"] in documents]
        best = scored[0].score if scored else 0.0
        return [each.row for each in scored if each.score >= _RELATIVE * best]

    def _section(self, document: int) -> sqlite3.Row | None:
        """The section of a case to show: the one that cites, or the first."""
        if document in self._cited:
            return self._cited[document]
        rows = self._library.rows(
            "SELECT * FROM cited WHERE document = ? ORDER BY position LIMIT 1", document
        )
        return rows[0] if rows else None

    def _hit(self, row: sqlite3.Row) -> Hit:
        return Hit(row, excerpt(row["text"], runs(self._parsed.text), _WIDTH))


def _same(cited: Law | OutsideLaw, law: Law | OutsideLaw) -> bool:
    if isinstance(cited, Law) and isinstance(law, Law):
        return cited.title == law.title
    return cited == law


def _written_day(match: re.Match[str]) -> str:
    return "-".join([match[1], *(f"{int(each):02}" for each in match.groups()[1:] if each)])
