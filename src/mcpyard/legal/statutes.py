"""Searching statutes: the articles that a query names, or those that fit its words.

A law or an article that is named and not here is said first, and what comes near is only suggested:
the article of that number in another law is never the answer.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mcpyard.legal import notices, times
from mcpyard.legal.chapters import chapters
from mcpyard.legal.library import Hit, Library, with_paragraph
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.newer_versions import marked
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.query.asking import ArticleReference, ParsedQuery, understand
from mcpyard.legal.query.concepts import concepts
from mcpyard.legal.query.law_versions import may_name_a_version
from mcpyard.legal.query.titles import Law, OutsideLaw

_MOST_SUGGESTIONS: Final = 5
_MOST_OF_A_LAW: Final = 3
_RELATIVE: Final = 0.42
_FITS: Final = 0.3


@dataclass(slots=True)
class StatuteAnswer:
    """What a search found: results, what has to be said first, and what else could be asked."""

    as_of: str
    hits: list[Hit] = field(default_factory=list[Hit])
    notices: list[str] = field(default_factory=list[str])
    suggestions: list[str] = field(default_factory=list[str])
    missing: bool = False

    def miss(self, notice: str, suggestions: list[str]) -> None:
        """Something that was named is not here."""
        self.missing = True
        self.notices.append(notice)
        self.suggestions += suggestions


def search_statutes(
    library: Library, query: str, law: str | None, limit: int, as_of: str = ""
) -> StatuteAnswer:
    """Articles: those that the query names first, then those that fit its words.

    Raises:
        BadQuery: The query can't be answered.
        BadDate: The day is none.
        TextNotFound: There is no such law.
    """
    within = None if law is None else library.law_and_version(law)
    parsed = understand(query, library.names())
    search = _StatuteSearch(library, parsed, within, times.read_day(as_of))
    return search.run(limit)


class _StatuteSearch:
    def __init__(
        self, library: Library, parsed: ParsedQuery, within: tuple[Law, str] | None, as_of: str
    ) -> None:
        self._library = library
        self._parsed = parsed
        self._within, self._version = within or (None, "")
        self._answer = StatuteAnswer(as_of)
        is_all = not parsed.references and not parsed.laws
        self._concepts = concepts(parsed.rest, is_all=is_all)

    def run(self, limit: int) -> StatuteAnswer:
        answer = self._answer
        for mention in {each.law: each for each in self._parsed.outside}.values():
            assert isinstance(mention.law, OutsideLaw)  # noqa: S101  that is what outside means
            nearest = self._library.nearest_laws(mention.law)
            answer.miss(self._library.outside_notice(mention.law), nearest)
        for unread in self._parsed.unread_numbers:
            answer.miss(notices.say("no_number", article=unread), [])
        for reference in self._parsed.references:
            if not isinstance(reference.law, OutsideLaw):
                self._read(reference, limit)
        self._say_what_is_left_out(limit)
        self._read_chapter(limit)
        self._go_on(limit)
        answer.suggestions = [*dict.fromkeys(answer.suggestions)][:_MOST_SUGGESTIONS]
        answer.hits = [self._marked(hit) for hit in answer.hits[:limit]]
        return answer

    def _go_on(self, limit: int) -> None:
        """What fits the words of the query, besides what it names."""
        answer = self._answer
        if self._parsed.chapter and (answer.missing or answer.hits):
            return
        if answer.missing and not answer.hits:
            answer.suggestions += self._similar()
        elif self._concepts:
            self._search(limit)
        elif not self._parsed.references:
            self._begin(limit)

    def _say_what_is_left_out(self, limit: int) -> None:
        """A range that is too long is answered in part, which nobody may take for the whole."""
        hits = self._answer.hits
        is_cut = self._parsed.has_long_range or (
            len(self._parsed.references) > 1 and len(hits) > limit
        )
        if hits and is_cut:
            self._say_which(hits[:limit])

    def _say_which(self, hits: Sequence[Hit]) -> None:
        labels = ", ".join(hit.row["label"] for hit in hits)
        self._say(notices.say("too_many", articles=labels))

    def _marked(self, hit: Hit) -> Hit:
        marked_hit, notice = marked(self._library, hit, self._answer.as_of)
        if notice:
            self._say(notice)
        return marked_hit

    def _read(self, reference: ArticleReference, limit: int) -> None:
        """The article that a reference names; without a law it may be of any."""
        law = reference.law if isinstance(reference.law, Law) else None
        if law and self._within and law.title != self._within.title:
            message = notices.say("two_laws", other=law.name, law=self._within.name)
            self._answer.miss(message, [f"{law.short_title} {reference.number}"])
            return
        law = law or self._within
        if law is None:
            self._read_everywhere(reference, limit)
            return
        try:
            named_version = reference.mention.version if reference.mention else ""
            wanted_version = named_version or self._version
            version, warnings = self._library.version(law, wanted_version, self._answer.as_of)
        except TextNotFound as error:
            self._answer.miss(str(error), [f"{law.short_title}({each})" for each in error.nearest])
            return
        for each in warnings:
            self._say(each)
        rows = self._library.articles(reference.number, law, version, self._answer.as_of)
        if rows:
            self._take(reference, rows[0])
            if not wanted_version and may_name_a_version(self._parsed.rest):
                self._say(notices.say("version_read", law=law.name, version=version))
            return
        last = self._library.last_article(law, version)
        notice = notices.no_article(law, reference.number, version, last)
        self._answer.miss(notice, self._elsewhere(reference, law, version))

    def _say(self, notice: str) -> None:
        if notice not in self._answer.notices:
            self._answer.notices.append(notice)

    def _elsewhere(self, reference: ArticleReference, law: Law, version: str) -> list[str]:
        """Where the number is, if another part of the code has it; otherwise what is nearest."""
        whole = Law(law.title)
        rows = self._library.articles(reference.number, whole, version, self._answer.as_of)
        there = [f"{whole.short_title} {row['label']}" for row in rows]
        return there + self._library.near(law, reference.number, version)

    def _read_everywhere(self, reference: ArticleReference, limit: int) -> None:
        rows = self._library.articles(reference.number, None, "", self._answer.as_of, 50)
        if len(rows) > 1:
            self._answer.notices.append(notices.say("no_law_named", number=reference.number))
        if self._concepts:
            # 第十条 收养 is the one about that, not the tenth of every law.
            relevance = self._library.relevance()
            rows = [row for row in rows if relevance.mentions(row, self._concepts)]
        for row in rows[:limit]:
            self._take(reference, row)

    def _take(self, reference: ArticleReference, row: sqlite3.Row) -> None:
        hit, missing = with_paragraph(row, reference.paragraph, reference.item)
        self._answer.notices += missing
        if row["id"] not in {each.row["id"] for each in self._answer.hits}:
            self._answer.hits.append(hit)

    def _search(self, limit: int) -> None:
        answer = self._answer
        if (scope := self._scope()) is None:
            return
        law, version = scope
        where: dict[str, object] = {
            "kind": DocumentKind.STATUTE,
            "law": law.title if law else "",
            "part": law.part if law else "",
            "version": version,
            "every": bool(version),
            "as_of": answer.as_of if not version else "9999",
        }
        scored = self._library.relevance().search(self._concepts, where, self._parsed.text)
        taken = {hit.row["id"] for hit in answer.hits}
        best = scored[0] if scored else None
        if best is not None and best.coverage < _FITS and not answer.hits:
            answer.notices.append(notices.say("nothing_fits"))
        answer.hits += [
            Hit(each.row)
            for each in scored
            if best and each.score >= _RELATIVE * best.score and each.row["id"] not in taken
        ][:limit]

    def _read_chapter(self, limit: int) -> None:
        """The first articles of the chapter of a law, or of each that the label may mean."""
        labels = () if self._answer.missing else self._parsed.chapter
        law, version = (self._scope() if labels else None) or (None, "")
        if law is None:
            return
        by_heading = chapters(self._library, law, version, self._answer.as_of, labels)
        name = "".join(labels)
        if not by_heading and name.startswith("第"):
            self._answer.miss(notices.say("no_chapter", law=law.name, chapter=name), [])
        elif len(by_heading) > 1:
            names = "; ".join(by_heading)
            message = notices.say("chapters", law=law.name, chapter=name, names=names)
            self._answer.notices.append(message)
        most = limit if len(by_heading) == 1 else _MOST_OF_A_LAW
        hits = [hit for each in by_heading.values() for hit in each[:most]]
        self._answer.hits += hits[:limit]
        if sum(map(len, by_heading.values())) > len(hits[:limit]):
            self._say_which(self._answer.hits)

    def _begin(self, limit: int) -> None:
        """The beginning of a law that is named without anything else."""
        law, version = self._scope() or (None, "")
        if law is not None:
            as_of = self._answer.as_of
            hits = self._library.whole(DocumentKind.STATUTE, law.title, version, as_of)
            own = [hit for hit in hits if law.part in {"", hit.law.part}]
            self._answer.hits = own[: min(limit, _MOST_OF_A_LAW)]

    def _scope(self) -> tuple[Law | None, str] | None:
        """The law and the version that the search stays in; None if there is no such version."""
        law, version = self._within, self._version
        if law is None:
            mention = next((each for each in self._parsed.laws if isinstance(each.law, Law)), None)
            if mention is None or not isinstance(mention.law, Law):
                return None, ""
            law, version = mention.law, mention.version
        try:
            date, warnings = self._library.version(law, version, self._answer.as_of)
        except TextNotFound as error:
            self._answer.miss(str(error), [f"{law.short_title}({each})" for each in error.nearest])
            return None
        for each in warnings:
            self._say(each)
        # The parts of a code may have several dates, so only a version that is meant is named.
        return law, date if version or warnings else ""

    def _similar(self) -> list[str]:
        """Articles that fit the words, to be suggested: of what took the law's place, if any."""
        if not self._concepts:
            return []
        names = self._library.names()
        successors = [names.find(each) for each in self._answer.suggestions[:1]]
        law = next((each for each in successors if each is not None), None)
        where: dict[str, object] = {"kind": DocumentKind.STATUTE, "version": ""}
        where["law"] = law.title if law else ""
        where |= {"part": law.part if law else "", "every": False, "as_of": self._answer.as_of}
        scored = self._library.relevance().search(self._concepts, where, self._parsed.text)[:3]
        return [f"{Hit(each.row).law.short_title} {each.row['label']}" for each in scored]
