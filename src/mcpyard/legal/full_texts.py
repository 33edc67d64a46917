"""Whole texts as Markdown, for the resources."""

from mcpyard.legal.addresses import address
from mcpyard.legal.library import Hit, Library
from mcpyard.legal.model import SAMPLE_SOURCE, DocumentKind
from mcpyard.legal.newer_versions import marked
from mcpyard.legal.not_found import TextNotFound
from mcpyard.legal.notices import say
from mcpyard.legal.query.titles import STATE
from mcpyard.legal.times import today

_PLACES = {DocumentKind.STATUTE: "laws", DocumentKind.CASE: "cases"}


def index(library: Library, kind: DocumentKind) -> str:
    """The titles of all documents of a kind, each with the address of its text."""
    place = _PLACES[kind]
    lines = [
        f"- {title}: {address(place, title.removeprefix(STATE))}" for title in library.titles(kind)
    ]
    return "\n".join([f"# {place}", "", *lines])


def page(library: Library, kind: DocumentKind, name: str, version: str = "") -> str:
    """The whole text of a law or a case.

    Raises:
        TextNotFound: There is none of that name, or not in that version.
    """
    title = library.law(name).title if kind is DocumentKind.STATUTE else name
    if kind is DocumentKind.STATUTE and not version:
        version, _ = library.version(library.law(name), "", today())
    hits = library.whole(kind, title, version)
    if not hits:
        full_name = f"{name[:80]} {version[:20]}".strip()
        message = say("no_text", kind=kind, name=full_name)
        raise TextNotFound(message, _nearest(library, kind, name))
    return "\n\n".join([_head(_marked(library, hits[0])), *_body(hits)])


def article_page(library: Library, law: str, version: str, article: str) -> str:
    """One article of a version of a law.

    Raises:
        TextNotFound: There is none.
    """
    hit = library.article(law, article, version).hit
    return "\n\n".join([_head(_marked(library, hit)), *_body([hit])])


def _marked(library: Library, hit: Hit) -> Hit:
    return marked(library, hit, today())[0] if hit.row["kind"] == DocumentKind.STATUTE else hit


def _head(hit: Hit) -> str:
    row = hit.row
    lines = [f"# {row['title']}", "", f"- source: {row['source']}"]
    if row["version_date"]:
        lines.append(f"- version: {row['version_date']}")
    if row["valid_from"]:
        last = hit.superseded_on or row["valid_until"]
        until = f" until {last}" if last else ""
        lines.append(f"- in force: from {row['valid_from']}{until} ({row['basis']})")
    lines.append(f"- imported: {row['imported_at']}")
    if row["source"] == SAMPLE_SOURCE:
        lines.append("- SAMPLE: invented, not law")
    return "\n".join(lines)


def _body(hits: list[Hit]) -> list[str]:
    """The passages, each new heading before the first that stands in it."""
    lines: list[str] = []
    body = ""
    for hit in hits:
        row = hit.row
        heading = " > ".join(each for each in (row["part"], row["headings"]) if each)
        if heading and heading != body:
            lines.append(f"## {heading}")
        body = heading
        if row["kind"] == DocumentKind.CASE:
            lines.append(f"## {row['label']}")
        lines.append(f"{row['label']} {row['text']}" if row["number"] else row["text"])
    return lines


def _nearest(library: Library, kind: DocumentKind, name: str) -> list[str]:
    if kind is DocumentKind.CASE:
        return [title for title in library.titles(kind) if name and name in title][:5]
    return [each for each in library.version_dates(library.law(name)) if each]
