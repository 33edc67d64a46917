"""From what was found to the answer of a tool: structure, the same as text, attribution.

The text is the structure as JSON, as the protocol recommends: a client that gives its model either
has given it all, and no passage can pass for a citation, as it is a string between quotes.
"""

import json
from collections.abc import Sequence
from typing import Final

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from mcpyard.legal import notices, times
from mcpyard.legal.addresses import address
from mcpyard.legal.cases import CaseAnswer
from mcpyard.legal.collection import LegalTemplate
from mcpyard.legal.library import CrossReference, Hit, InContext, Library
from mcpyard.legal.model import SAMPLE_SOURCE, DocumentKind
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.shapes import (
    AdjacentArticle,
    Article,
    Case,
    Cases,
    CitedArticle,
    Statute,
    Statutes,
)
from mcpyard.legal.statutes import StatuteAnswer
from mcpyard.legal.times import DateBasis, LawStatus

ATTRIBUTION: Final = "mcpyard/attribution"
ATTRIBUTIONS: Final = "mcpyard/attributions"
SUGGESTIONS: Final = "mcpyard/suggestions"
_MOST_LISTED: Final = 5
_MOST_REFERENCES: Final = 8
_NOTICE: Final = (
    "SAMPLE: this text is invented and is not law. "
    "Import a corpus with `mcpyard-legal import FOLDER`. 示例文本 并非法律"
)


def attributed(hit: Hit) -> dict[str, object]:
    """The members that every result has."""
    row = hit.row
    return {
        "source": row["source"],
        "version_date": row["version_date"] or None,
        "imported_at": row["imported_at"],
        "sample": row["source"] == SAMPLE_SOURCE,
    }


def attribution(hit: Hit) -> dict[str, str]:
    """Where a passage comes from, for the reader's program."""
    row = hit.row
    what = {"law": hit.law.name, "article": row["label"]}
    return {
        "source": row["source"],
        "updated_at": row["version_date"] or row["imported_at"],
        "retrieved_at": row["imported_at"],
        **(what if row["kind"] == DocumentKind.STATUTE else {row["kind"]: row["title"]}),
    }


def statutes(outcome: StatuteAnswer) -> CallToolResult:
    """The answer to a search for statutes."""
    messages = outcome.notices or ([] if outcome.hits else [notices.say("nothing")])
    shape = Statutes(
        notice=_joined(outcome.hits, messages),
        suggestions=outcome.suggestions or None,
        imported_at=min((hit.row["imported_at"] for hit in outcome.hits), default=None),
        results=[_result(hit, outcome.as_of) for hit in outcome.hits],
    )
    return answer(shape, outcome.hits, outcome.suggestions)


def cases(library: Library, outcome: CaseAnswer) -> CallToolResult:
    """The answer to a search for cases."""
    messages = outcome.notices or ([] if outcome.hits else [notices.say("nothing")])
    results = [_case(library, hit) for hit in outcome.hits]
    return answer(Cases(notice=_joined(outcome.hits, messages), results=results), outcome.hits)


def article(passage: InContext) -> CallToolResult:
    """An article in its context."""
    row = passage.hit.row
    members = _statute(passage.hit, passage.as_of)
    members |= {
        "title": row["title"],
        "previous": _adjacent(passage.before),
        "next": _adjacent(passage.after),
        "versions": [each for each in passage.versions if each],
        "current": members["status"] == LawStatus.IN_FORCE,
        "references": [_cited(each) for each in passage.references[:_MOST_REFERENCES]] or None,
        "notice": _joined([passage.hit], passage.notices),
    }
    return answer(Article.model_validate(members), [passage.hit])


def answer(
    shape: BaseModel, hits: Sequence[Hit], suggestions: Sequence[str] = ()
) -> CallToolResult:
    """A result with its structure, the same as text, and where it comes from."""
    structure = shape.model_dump(mode="json", exclude_none=True)
    # Whatever has to be read first stands first, also in a shape that inherits its members.
    structure = {name: structure[name] for name in ("notice",) if name in structure} | structure
    sources = [attribution(hit) for hit in hits]
    meta: dict[str, object] = {SUGGESTIONS: [*suggestions]} if suggestions else {}
    if sources:
        meta |= {ATTRIBUTION: _together(sources), ATTRIBUTIONS: sources}
    text = json.dumps(structure, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=structure,
        _meta=meta or None,
    )


def refusal(message: str, suggestions: Sequence[str] = ()) -> CallToolResult:
    """An answer that says what is wrong, and what could be asked instead."""
    return CallToolResult(
        content=[TextContent(type="text", text=message)],
        is_error=True,
        _meta={SUGGESTIONS: [*suggestions]} if suggestions else None,
    )


def sample_notice(hits: Sequence[Hit]) -> str | None:
    """What is said of invented text."""
    return _NOTICE if any(hit.row["source"] == SAMPLE_SOURCE for hit in hits) else None


def template_uri(template: LegalTemplate) -> str:
    """The resource with the text of a template."""
    return address("templates", template.name)


def _together(sources: Sequence[dict[str, str]]) -> dict[str, str]:
    """One attribution for an answer with several parts; it is as old as its oldest part."""
    names = [*dict.fromkeys(each["source"] for each in sources)]
    dates = {name: min(each[name] for each in sources) for name in ("updated_at", "retrieved_at")}
    what = [name for name in sources[0] if name not in {"source", *dates}]
    cited = {name: _listed([each[name] for each in sources]) for name in what}
    return {"source": _listed(names), **dates, **cited}


def _listed(names: Sequence[str]) -> str:
    return "; ".join([*names[:_MOST_LISTED], *(["..."] if len(names) > _MOST_LISTED else [])])


def _joined(hits: Sequence[Hit], messages: Sequence[str]) -> str | None:
    sample = sample_notice(hits)
    return " ".join([*([sample] if sample else []), *messages]) or None


def _result(hit: Hit, as_of: str) -> Statute:
    """An article of a list: what goes without saying is left out."""
    members = _statute(hit, as_of)
    if members["in_force_basis"] in {DateBasis.FILE, DateBasis.TEXT}:
        members["in_force_basis"] = None
    if members["status"] == LawStatus.IN_FORCE:
        members["status"] = None
    return Statute.model_validate(members | {"sample": members["sample"] or None})


def _statute(hit: Hit, as_of: str) -> dict[str, object]:
    row = hit.row
    status = times.status(row["valid_from"], row["valid_until"], row["ended_by"], as_of)
    if hit.superseded_on:
        status = LawStatus.SUPERSEDED
    law = hit.law.short_title
    current = status is LawStatus.IN_FORCE
    return attributed(hit) | {
        "in_force_from": row["valid_from"] or None,
        "in_force_basis": row["basis"] or None,
        "in_force_until": hit.superseded_on or row["valid_until"] or None,
        "status": status,
        "law": hit.law.name,
        "article": row["label"],
        "headings": row["headings"] or None,
        "text": row["text"],
        "paragraph": hit.paragraph or None,
        "uri": address("laws", law, *([] if current else [row["version_date"]])),
    }


def _case(library: Library, hit: Hit) -> Case:
    row = hit.row
    decided = library.rows(
        "SELECT DISTINCT court, day, number FROM decision WHERE document = ? AND day != ''",
        row["document"],
    )
    cited = library.rows(
        "SELECT DISTINCT law, citation.number, citation.insertion FROM citation"
        " JOIN passage ON passage.id = citation.passage WHERE document = ?",
        row["document"],
    )
    cites = [each["law"] + str(Number(each["number"], each["insertion"])) for each in cited]
    more = {
        "case": row["title"],
        "headline": row["headline"] or None,
        "section": row["label"],
        "text": hit.why or row["text"],
        "decided": [" ".join(filter(None, each)) for each in decided][:_MOST_LISTED] or None,
        "cites": cites[:_MOST_REFERENCES] or None,
        "uri": address("cases", row["title"]),
    }
    return Case.model_validate(attributed(hit) | more)


def _adjacent(hit: Hit | None) -> AdjacentArticle | None:
    return hit and AdjacentArticle(article=hit.row["label"], text=hit.row["text"])


def _cited(reference: CrossReference) -> CitedArticle:
    text = reference.hit.row["text"] if reference.hit else None
    return CitedArticle(law=reference.law, article=reference.label, text=text)
