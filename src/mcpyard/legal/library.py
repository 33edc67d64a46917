"""Reading a corpus: laws and their versions, articles in their context, whole texts."""

import sqlite3
from dataclasses import dataclass
from typing import Final

from mcpyard.legal import notices, times
from mcpyard.legal.article_argument import read_article
from mcpyard.legal.citations import Citation, citations
from mcpyard.legal.corpus import Corpus
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.paragraphs import paragraph_name, paragraph_of
from mcpyard.legal.query.folding import one_line
from mcpyard.legal.query.law_mentions import law_mentions
from mcpyard.legal.query.law_versions import read as read_version
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.titles import Law, LawNames, OutsideLaw
from mcpyard.legal.relevance import Relevance
from mcpyard.legal.version_choice import LawVersion, choose

_NEAREST: Final = 4
_AMENDMENT: Final = "修正案"
_LONGEST_NAME: Final = 200
_BEGINNING: Final = 24
_ARTICLE: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND number = :number AND insertion = :insertion
AND (:law = '' OR title = :law) AND (:part = '' OR part = :part)
AND CASE WHEN :version = '' THEN valid_from <= :as_of
    AND (valid_until = '' OR valid_until > :as_of) ELSE version_date = :version END
ORDER BY title, position LIMIT :limit
"""
_LABELLED: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND number IS NULL AND title = :law AND (:part = '' OR part = :part)
AND CASE WHEN :version = '' THEN valid_from <= :as_of
    AND (valid_until = '' OR valid_until > :as_of) ELSE version_date = :version END
AND replace(label, ' ', '') = :label
ORDER BY document, position LIMIT 1
"""
_CHAPTER: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND title = :law AND (:part = '' OR part = :part)
AND CASE WHEN :version = '' THEN valid_from <= :as_of
    AND (valid_until = '' OR valid_until > :as_of) ELSE version_date = :version END
AND (part = :label OR replace(headings, ' ', '') LIKE '%' || :label)
ORDER BY document, position LIMIT 20
"""
_NEAR: Final = """
SELECT * FROM cited
WHERE kind = 'statute' AND number IS NOT NULL AND version_date = :version
AND title = :law AND (:part = '' OR part = :part)
ORDER BY abs(number - :number), insertion LIMIT :limit
"""
_LAST: Final = """
SELECT label FROM cited WHERE kind = 'statute' AND number IS NOT NULL
AND title = :law AND (:part = '' OR part = :part) AND version_date = :version
ORDER BY number DESC, insertion DESC LIMIT 1
"""
_WHOLE: Final = """
SELECT * FROM cited WHERE kind = :kind AND title = :title
AND CASE WHEN :version = '' THEN valid_from <= :as_of
    AND (valid_until = '' OR valid_until > :as_of) ELSE version_date = :version END
ORDER BY
    (SELECT min(first.number) FROM passage AS first WHERE first.document = cited.document),
    document, position
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with the document it stands in.

    Attributes:
        row: The passage.
        why: The words that were found.
        paragraph: The paragraph or item that a query names.
        superseded_on: The first day of a newer version that is not in the collection.
    """

    row: sqlite3.Row
    why: str = ""
    paragraph: str = ""
    superseded_on: str = ""

    @property
    def law(self) -> Law:
        """The law, with its part."""
        return Law(self.row["title"], self.row["part"])


@dataclass(frozen=True, slots=True)
class CrossReference:
    """An article that another one cites; without a passage where it is not here."""

    law: str
    label: str
    hit: Hit | None


@dataclass(frozen=True, slots=True)
class InContext:
    """An article, with the ones around it, and the other versions of its law."""

    hit: Hit
    before: Hit | None
    after: Hit | None
    versions: tuple[str, ...]
    as_of: str
    notices: tuple[str, ...] = ()
    references: tuple[CrossReference, ...] = ()


class Library:
    """A corpus for reading."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._names = LawNames(())
        self._relevance: Relevance | None = None
        self._seen = (-1, -1)

    def names(self) -> LawNames:
        """The names of all laws."""
        self._refresh()
        return self._names

    def relevance(self) -> Relevance:
        """The ranking of the corpus as it is now."""
        self._refresh()
        assert self._relevance is not None  # noqa: S101  made by the refresh
        return self._relevance

    def laws(self) -> list[Law]:
        """All laws, each part of a code by itself."""
        rows = self.rows(
            "SELECT DISTINCT title, part FROM document WHERE kind = 'statute' ORDER BY id"
        )
        return [Law(row["title"], row["part"]) for row in rows]

    def law(self, name: str) -> Law:
        """The law of that name.

        Raises:
            TextNotFound: There is none.
        """
        law = self.names().look_up(name)
        if isinstance(law, Law):
            return law
        if law is not None:
            raise TextNotFound(self.outside_notice(law), self.nearest_laws(law))
        raise TextNotFound(
            notices.say("no_law", name=name[:80]), self.nearest_laws(OutsideLaw(name))
        )

    def law_and_version(self, name: str) -> tuple[Law, str]:
        """The law of a name, with the version that the name says: 2018年公司法.

        Raises:
            TextNotFound: There is no such law.
        """
        text = one_line(name[:_LONGEST_NAME])
        if self.names().look_up(text) is None:
            for mention in law_mentions(text, self.names(), ()):
                is_all = (mention.start, mention.end) == (0, len(text))
                if isinstance(mention.law, Law) and (mention.version or is_all):
                    return mention.law, mention.version
        return self.law(name), ""

    def outside_notice(self, law: OutsideLaw) -> str:
        """What is said of a law that is not here; an article here that ends it is cited."""
        rows = self.rows(
            "SELECT title, label FROM repeal JOIN document ON document.id = repeal.document"
            " WHERE name = ? ORDER BY version_date DESC LIMIT 1",
            law.name,
        )
        cited = [f"{Law(row['title']).short_title}{row['label']}" for row in rows]
        return notices.outside(law, "".join(cited))

    def nearest_laws(self, law: OutsideLaw) -> list[str]:
        """What could be asked for in the place of a law that is not here."""
        successor = law.repeal.successor if law.repeal else ""
        if successor and (law_here := self.names().find(successor)) is not None:
            return [law_here.name]
        return [each.name for each in self.names().alike(law.name)]

    def article(self, law: str, article: str, version: str = "", as_of: str = "") -> InContext:
        """An article of a law by its number, or a preamble or annex by its name, in its context.

        Raises:
            TextNotFound: There is no such law, no such version, or no such article.
            BadDate: The day is none.
        """
        day = times.read_day(as_of)
        entry, named_version = self.law_and_version(law)
        date, warnings = self._wanted_version(entry, version, named_version, day)
        argument = read_article(article, entry, self.names())
        rows = (
            self.articles(argument.number, entry, date, day)
            if argument.number is not None
            else self._labelled(entry, date, day, article.strip())
        )
        if not rows:
            raise self._no_article(entry, argument.number, article, date)
        before, after = (self._adjacent_article(rows[0], step) for step in (-1, 1))
        hit, missing = with_paragraph(rows[0], argument.paragraph, argument.item)
        return InContext(
            hit,
            before,
            after,
            self.version_dates(entry),
            day,
            (*warnings, *missing, *argument.notices),
            self._rest_of_chapter(rows) or self.cross_references(rows[0], day),
        )

    def cross_references(self, row: sqlite3.Row, as_of: str) -> tuple[CrossReference, ...]:
        """The articles that an article cites: of its own law in the same version, else of a day."""
        return tuple(
            self._followed(each, row, as_of)
            # A number alone in an amendment is one of the law that it amends.
            for each in citations(row["text"], bare=_AMENDMENT not in row["title"])
            if each.law or each.number != Number(row["number"] or 0, row["insertion"])
        )

    def articles(
        self, number: Number, law: Law | None, version: str, as_of: str, limit: int = 1
    ) -> list[sqlite3.Row]:
        """The articles of that number, of one law or of all."""
        values = _where(law, version, as_of)
        values |= {"number": number.main, "insertion": number.insert, "limit": limit}
        return self.rows(_ARTICLE, **values)

    def version(self, law: Law, version: str, as_of: str) -> tuple[str, tuple[str, ...]]:
        """The date of the version that is meant, and what has to be said of it.

        Raises:
            TextNotFound: There is no such version.
        """
        choice = choose(law, self.versions(law), version, as_of)
        if choice is None:
            dates = self.version_dates(law)
            raise TextNotFound(notices.no_version(law, version, dates), dates)
        return choice.version_date, choice.notices

    def versions(self, law: Law) -> list[LawVersion]:
        """All versions of a law, the newest first."""
        rows = self.rows(
            "SELECT DISTINCT version_date, valid_from, valid_until, ended_by FROM document"
            " WHERE kind = 'statute' AND title = :law AND (:part = '' OR part = :part)"
            " ORDER BY version_date DESC",
            law=law.title,
            part=law.part,
        )
        return [LawVersion(*row) for row in rows]

    def version_dates(self, law: Law) -> tuple[str, ...]:
        """The dates of all versions of a law, the newest first."""
        return tuple(dict.fromkeys(each.version_date for each in self.versions(law)))

    def whole(
        self, kind: DocumentKind, title: str, version: str = "", as_of: str = ""
    ) -> list[Hit]:
        """All passages of a law (with all its parts) or of a case, in order."""
        day = times.read_day(as_of)
        rows = self.rows(_WHOLE, kind=kind, title=title, version=version, as_of=day)
        return [Hit(row) for row in rows]

    def titles(self, kind: DocumentKind) -> list[str]:
        """The titles of all documents of a kind."""
        rows = self.rows("SELECT DISTINCT title FROM document WHERE kind = ? ORDER BY id", kind)
        return [row["title"] for row in rows]

    def near(self, law: Law, number: Number, version: str) -> list[str]:
        """The articles of a law whose numbers come nearest, as they can be asked for."""
        values = {**_where(law, version, ""), "number": number.main, "limit": _NEAREST}
        rows = self.rows(_NEAR, **values)
        return [f"{law.short_title} {row['label']}" for row in rows]

    def last_article(self, law: Law, version: str) -> str:
        """The label of the last article of a version."""
        rows = self.rows(_LAST, **_where(law, version, ""))
        return rows[0]["label"] if rows else ""

    def rows(self, statement: str, *values: object, **named: object) -> list[sqlite3.Row]:
        """What a statement selects."""
        with self._corpus.reading() as connection:
            return connection.execute(statement, named or values).fetchall()

    def _refresh(self) -> None:
        """Look at the laws and the words again when anybody has written."""
        with self._corpus.reading() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            if self._seen != (seen := (version, connection.total_changes)):
                self._names = LawNames(self.laws())
                self._relevance = Relevance(lambda statement, named: self.rows(statement, **named))
                self._seen = seen

    def _wanted_version(
        self, law: Law, version: str, named: str, day: str
    ) -> tuple[str, tuple[str, ...]]:
        """The version of an argument, or the one that the name of the law has."""
        if not version.strip():
            return self.version(law, named, day)
        version_read = read_version(version)
        if version_read is None:
            dates = self.version_dates(law)
            raise TextNotFound(notices.no_version(law, version, dates), dates)
        return self.version(law, version_read, day)

    def _labelled(self, law: Law, version: str, day: str, label: str) -> list[sqlite3.Row]:
        """A preamble or an annex by its name, or all articles of a chapter such as 附则."""
        where = _where(law, version, day) | {"label": label.replace(" ", "")}
        return self.rows(_LABELLED, **where) or (self.rows(_CHAPTER, **where) if label else [])

    def _rest_of_chapter(self, rows: list[sqlite3.Row]) -> tuple[CrossReference, ...]:
        return tuple(
            CrossReference(Law(row["title"]).short_title, row["label"], Hit(row))
            for row in rows[1:]
        )

    def _followed(self, citation: Citation, row: sqlite3.Row, as_of: str) -> CrossReference:
        law = self.names().look_up(citation.law) if citation.law else Law(row["title"])
        label = str(citation.number)
        if not isinstance(law, Law):
            return CrossReference(law.name if law else citation.law, label, None)
        version = "" if citation.law else row["version_date"]
        rows = self.articles(citation.number, law, version, as_of)
        return CrossReference(law.short_title, label, Hit(rows[0]) if rows else None)

    def _adjacent_article(self, row: sqlite3.Row, step: int) -> Hit | None:
        rows = self.rows(
            "SELECT * FROM cited WHERE document = ? AND position = ?",
            *(row["document"], row["position"] + step),
        )
        return Hit(rows[0]) if rows else None

    def _no_article(
        self, law: Law, number: Number | None, article: str, version: str
    ) -> TextNotFound:
        if number is None:
            return TextNotFound(notices.say("no_number", article=article[:80]), ())
        message = notices.no_article(law, number, version, self.last_article(law, version))
        return TextNotFound(message, self.near(law, number, version))


def with_paragraph(row: sqlite3.Row, paragraph: int, item: int) -> tuple[Hit, tuple[str, ...]]:
    """The passage with the paragraph that a reference names, and what is said where it is not."""
    if not paragraph and not item:
        return Hit(row), ()
    text = paragraph_of(row["text"], paragraph, item)
    name = paragraph_name(paragraph, item)
    if text is not None:
        return Hit(row, paragraph=f"{name}: {text[:_BEGINNING]}"), ()
    hit = Hit(row)
    notice = notices.say("no_paragraph", law=hit.law.name, label=row["label"], paragraph=name)
    return hit, (notice,)


def _where(law: Law | None, version: str, as_of: str) -> dict[str, object]:
    return {
        "law": law.title if law else "",
        "part": law.part if law else "",
        "version": version,
        "as_of": as_of,
    }
