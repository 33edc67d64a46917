"""Versions that the shipped table knows and the collection does not hold.

A collection is as old as its files: its newest version of a law is not in force for ever.
"""

from dataclasses import replace

from mcpyard.legal import notices, tables, times
from mcpyard.legal.library import Hit, InContext, Library
from mcpyard.legal.query.titles import Law, key
from mcpyard.legal.tables import ListedVersion
from mcpyard.legal.times import LawStatus


def newer_version(library: Library, law: Law, as_of: str) -> ListedVersion | None:
    """The version in force on a day that came after all those that are here, if any is known."""
    listed = tables.versions_of(key(law.title))
    if not listed:
        return None
    newest = max(library.version_dates(law), default="")
    later = [each for each in listed if each.version_date > newest and each.valid_from <= as_of]
    return max(later, key=lambda each: each.valid_from, default=None)


def marked(library: Library, hit: Hit, as_of: str) -> tuple[Hit, str]:
    """The hit with the day that ended it, where a newer version did, and what is said of that."""
    row = hit.row
    status = times.status(row["valid_from"], row["valid_until"], row["ended_by"], as_of)
    newer = newer_version(library, hit.law, as_of) if status is LawStatus.IN_FORCE else None
    if newer is None:
        return hit, ""
    notice = notices.say(
        "newer_unverified" if newer.basis == tables.UNVERIFIED else "newer",
        law=hit.law.short_title,
        version=row["version_date"],
        newer=newer.version_date,
        start=newer.valid_from,
        basis=newer.basis,
    )
    return replace(hit, superseded_on=newer.valid_from), notice


def marked_article(library: Library, article: InContext) -> InContext:
    """An article in its context, marked in the same way."""
    hit, notice = marked(library, article.hit, article.as_of)
    return replace(article, hit=hit, notices=(*filter(None, [notice]), *article.notices))
