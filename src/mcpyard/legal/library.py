"""Reading a corpus: search, articles in their context, whole texts."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcpyard.legal.corpus import Corpus
from mcpyard.legal.excerpts import excerpt
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.query import numerals
from mcpyard.legal.query.asking import ParsedQuery, understand
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.terms import Runs, loose_match, strict_matches
from mcpyard.legal.query.titles import Law, LawNames

_NEAREST: Final = 4

# A chapter's heading says what its articles are about; a title is shared by all of a document.
# What an amendment says stands in the amended law too, and that is the one in force.
_FOUND: Final = """
SELECT cited.* FROM passage_index JOIN cited ON cited.id = passage_index.rowid
WHERE passage_index MATCH :match AND kind = :kind AND current
AND (:law = '' OR cited.title = :law) AND (:part = '' OR part = :part)
ORDER BY bm25(passage_index, 2.0, 2.0, 4.0, 1.0, 1.0)
    * CASE WHEN cited.title LIKE '%修正案%' THEN 0.5 ELSE 1.0 END,
    cited.id LIMIT :limit
"""
_ARTICLE: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND number = :number AND insertion = :insertion
AND (:law = '' OR title = :law) AND (:part = '' OR part = :part)
AND CASE WHEN :version = '' THEN current ELSE version_date = :version END
ORDER BY title, position LIMIT :limit
"""
_LABELLED: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND label = :label AND number IS NULL
AND title = :law AND (:part = '' OR part = :part)
AND CASE WHEN :version = '' THEN current ELSE version_date = :version END
ORDER BY document, position LIMIT 1
"""
_NEAR: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND current AND number IS NOT NULL
AND title = :law AND (:part = '' OR part = :part)
ORDER BY abs(number - :number), insertion LIMIT :limit
"""
_WHOLE: Final = """
SELECT * FROM cited WHERE kind = :kind AND title = :title
AND CASE WHEN :version = '' THEN current ELSE version_date = :version END
ORDER BY
    (SELECT min(first.number) FROM passage AS first WHERE first.document = cited.document),
    document, position
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the document it stands in; `why` shows the words that were found."""

    row: sqlite3.Row
    why: str = ""

    @property
    def law(self) -> Law:
        """The law, with its part."""
        return Law(self.row["title"], self.row["part"])


@dataclass(frozen=True, slots=True)
class InContext:
    """An article, with the ones around it, and the other versions of its law."""

    hit: Hit
    before: Hit | None
    after: Hit | None
    versions: tuple[str, ...]


class TextNotFound(LookupError):
    """There is no such text; `nearest` has what comes near, as it can be asked for."""

    def __init__(self, message: str, nearest: Sequence[str]) -> None:
        near = f" Nearest: {', '.join(nearest)}." if nearest else ""
        super().__init__(f"{message}{near}")
        self.nearest = tuple(nearest)


class Library:
    """A corpus for reading."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._names = LawNames(())
        self._seen = (-1, -1)

    def names(self) -> LawNames:
        """The names of all laws; looked up again when anybody has written."""
        with self._corpus.reading() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if self._seen != (seen := (version, connection.total_changes)):
                self._names = LawNames(self.laws())
                self._seen = seen
            return self._names

    def laws(self) -> list[Law]:
        """All laws, each part of a code by itself."""
        rows = self._rows(
            "SELECT title, part FROM document WHERE kind = 'statute' AND current ORDER BY id"
        )
        return [Law(row["title"], row["part"]) for row in rows]

    def law(self, name: str) -> Law:
        """The law of that name.

        Raises:
            NotFound: There is none.
        """
        names = self.names()
        if (law := names.find(name)) is not None:
            return law
        nearest = [each.name for each in names.alike(name)]
        raise TextNotFound(f"No law is called {name[:80]!r} here.", nearest)

    def statutes(self, query: str, law: str | None, limit: int) -> list[Hit]:
        """Articles: the one that the query names first, then those with its words.

        Raises:
            BadQuery: The query can't be answered.
            NotFound: There is no such law.
        """
        within = None if law is None else self.law(law)
        parsed = understand(query, self.names())
        best = {row["id"]: _hit(row, parsed.rest) for row in self._named(parsed, within, limit)}
        if best and parsed.rest.empty:
            return [*best.values()]
        for hit in self._search(DocumentKind.STATUTE, parsed, within, limit, loosely=not best):
            best.setdefault(hit.row["id"], hit)
        return [*best.values()][:limit]

    def cases(self, query: str, limit: int) -> list[Hit]:
        """Cases, each with the passage that fits best.

        Raises:
            BadQuery: The query can't be answered.
        """
        parsed = understand(query, self.names())
        best: dict[int, Hit] = {}
        # A case has several passages, and each of them may be found.
        for hit in self._search(DocumentKind.CASE, parsed, None, limit * 8):
            best.setdefault(hit.row["document"], hit)
        return [*best.values()][:limit]

    def article(self, law: str, article: str, version: str = "") -> InContext:
        """An article of a law by its number, or a preamble or annex by its name, in its context.

        Raises:
            NotFound: There is no such law, no such version, or no such article.
        """
        entry = self.law(law)
        number = numerals.read(article)
        if number is None:
            label = article.strip()
            rows = self._rows(_LABELLED, **_where(entry), label=label, version=version)
        else:
            rows = self._articles(number, entry, 1, version)
        if not rows:
            raise self._no_article(entry, number, article, version)
        row = rows[0]
        before, after = (self._adjacent_article(row, step) for step in (-1, 1))
        return InContext(Hit(row), before, after, self.versions(entry))

    def versions(self, law: Law) -> tuple[str, ...]:
        """The dates of all versions of a law, the newest first."""
        rows = self._rows(
            "SELECT DISTINCT version_date FROM document WHERE kind = 'statute'"
            " AND title = ? ORDER BY version_date DESC",
            law.title,
        )
        return tuple(row["version_date"] for row in rows)

    def whole(self, kind: DocumentKind, title: str, version: str = "") -> list[Hit]:
        """All passages of a law (with all its parts) or of a case, in order."""
        rows = self._rows(_WHOLE, kind=kind, title=title, version=version)
        return [Hit(row) for row in rows]

    def titles(self, kind: DocumentKind) -> list[str]:
        """The titles of all documents of a kind."""
        rows = self._rows("SELECT DISTINCT title FROM document WHERE kind = ? ORDER BY id", kind)
        return [row["title"] for row in rows]

    def _named(self, query: ParsedQuery, within: Law | None, limit: int) -> list[sqlite3.Row]:
        law = within or query.law
        # 合同法 第五十二条 of an unknown law is not article 52 of every other one.
        if query.number is None or (law is None and not query.rest.empty):
            return []
        if law and query.law and law.title != query.law.title:
            return []
        return self._articles(query.number, law, limit, "")

    def _articles(
        self, number: Number, law: Law | None, limit: int, version: str
    ) -> list[sqlite3.Row]:
        values = _where(law) | {"number": number.main, "insertion": number.insert}
        return self._rows(_ARTICLE, **values, limit=limit, version=version)

    def _search(
        self,
        kind: DocumentKind,
        query: ParsedQuery,
        law: Law | None,
        limit: int,
        *,
        loosely: bool = True,
    ) -> list[Hit]:
        """The passages with all that is asked; those with a part of it only if there are none."""
        values = _where(law) | {"kind": kind, "limit": limit}
        rows: dict[int, sqlite3.Row] = {}
        for match in strict_matches(query.words):
            for row in self._rows(_FOUND, **values, match=match):
                rows.setdefault(row["id"], row)
        if loosely and not rows:
            rows = {
                row["id"]: row
                for row in self._rows(_FOUND, **values, match=loose_match(query.words))
            }
        return [_hit(row, query.words) for row in rows.values()]

    def _adjacent_article(self, row: sqlite3.Row, step: int) -> Hit | None:
        rows = self._rows(
            "SELECT * FROM cited WHERE document = ? AND position = ?",
            *(row["document"], row["position"] + step),
        )
        return Hit(rows[0]) if rows else None

    def _no_article(
        self, law: Law, number: Number | None, article: str, version: str
    ) -> TextNotFound:
        versions = [each for each in self.versions(law) if each]
        if version and version not in versions:
            return TextNotFound(f"{law.name} has no version of {version[:20]!r} here.", versions)
        if number is None:
            no_number = (
                f"{article[:80]!r} is no article number: write 第九百九十条, 990 or Article 990."
            )
            return TextNotFound(no_number, ())
        rows = self._rows(_NEAR, **_where(law), number=number.main, limit=_NEAREST)
        message = f"{law.name} has no {number} (article {_digits(number)})."
        return TextNotFound(message, [f"{law.name} {row['label']}" for row in rows])

    def _rows(self, statement: str, *values: object, **named: object) -> list[sqlite3.Row]:
        with self._corpus.reading() as connection:
            return connection.execute(statement, named or values).fetchall()


def _hit(row: sqlite3.Row, query: Runs) -> Hit:
    return Hit(row, excerpt(row["text"], query))


def _where(law: Law | None) -> dict[str, object]:
    return {"law": law.title if law else "", "part": law.part if law else ""}


def _digits(number: Number) -> str:
    return f"{number.main}-{number.insert}" if number.insert else str(number.main)
