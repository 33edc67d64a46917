"""From what the library found to the answer of a tool: text, structure, attribution."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from mcpyard.legal.collection import LegalTemplate
from mcpyard.legal.library import Hit, InContext
from mcpyard.legal.model import SAMPLE_SOURCE, DocumentKind
from mcpyard.legal.shapes import AdjacentArticle, Article, Case, Cases, Statute, Statutes

ATTRIBUTION: Final = "mcpyard/attribution"
ATTRIBUTIONS: Final = "mcpyard/attributions"
SUGGESTIONS: Final = "mcpyard/suggestions"
_MOST_LISTED: Final = 5
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


def statutes(hits: Sequence[Hit]) -> CallToolResult:
    """The answer to a search for statutes."""
    statutes = Statutes(results=[Statute.model_validate(_statute(hit)) for hit in hits])
    statutes.notice = _notice(hits)
    lines = [f"{_cited(hit)}\n{hit.why or hit.row['text']}" for hit in hits]
    return answer(statutes, "\n\n".join(lines) or "Nothing was found.", hits)


def cases(hits: Sequence[Hit]) -> CallToolResult:
    """The answer to a search for cases."""
    cases = Cases(results=[_case(hit) for hit in hits], notice=_notice(hits))
    lines = [f"{_cited(hit)}\n{hit.why}" for hit in hits]
    return answer(cases, "\n\n".join(lines) or "Nothing was found.", hits)


def article(passage: InContext) -> CallToolResult:
    """An article in its context."""
    row = passage.hit.row
    shape = Article.model_validate(
        _statute(passage.hit)
        | {
            "title": row["title"],
            "previous": _adjacent(passage.before),
            "next": _adjacent(passage.after),
            "versions": [each for each in passage.versions if each],
            "current": bool(row["current"]),
            "notice": _notice([passage.hit]),
        }
    )
    around = [
        f"[{name}] {hit.row['label']} {hit.row['text']}"
        for name, hit in (("previous", passage.before), ("next", passage.after))
        if hit is not None
    ]
    text = "\n\n".join([f"{_cited(passage.hit)}\n{row['text']}", *around])
    return answer(shape, text, [passage.hit])


def answer(shape: BaseModel, text: str, hits: Sequence[Hit]) -> CallToolResult:
    """A result with its text, its structure, and where both come from."""
    notice = _notice(hits)
    body = f"{notice}\n\n{text}" if notice else text
    sources = [attribution(hit) for hit in hits]
    meta = {ATTRIBUTION: _together(sources), ATTRIBUTIONS: sources} if sources else None
    return CallToolResult(
        content=[TextContent(type="text", text=body)],
        structured_content=shape.model_dump(mode="json"),
        _meta=meta,
    )


def refusal(message: str, suggestions: Sequence[str] = ()) -> CallToolResult:
    """An answer that says what is wrong, and what could be asked instead."""
    return CallToolResult(
        content=[TextContent(type="text", text=message)],
        is_error=True,
        _meta={SUGGESTIONS: [*suggestions]} if suggestions else None,
    )


def template_uri(template: LegalTemplate) -> str:
    """The resource with the text of a template."""
    return f"legal://templates/{quote(template.name, safe='')}"


def _together(sources: Sequence[dict[str, str]]) -> dict[str, str]:
    """One attribution for an answer with several parts; it is as old as its oldest part."""
    names = [*dict.fromkeys(each["source"] for each in sources)]
    dates = {name: min(each[name] for each in sources) for name in ("updated_at", "retrieved_at")}
    what = [name for name in sources[0] if name not in {"source", *dates}]
    cited = {name: _listed([each[name] for each in sources]) for name in what}
    return {"source": _listed(names), **dates, **cited}


def _listed(names: Sequence[str]) -> str:
    return "; ".join([*names[:_MOST_LISTED], *(["..."] if len(names) > _MOST_LISTED else [])])


def _statute(hit: Hit) -> dict[str, object]:
    row = hit.row
    return attributed(hit) | {
        "law": hit.law.name,
        "article": row["label"],
        "headings": row["headings"],
        "text": row["text"],
        "excerpt": hit.why,
        "uri": f"legal://laws/{quote(row['title'], safe='')}",
    }


def _case(hit: Hit) -> Case:
    row = hit.row
    more = {
        "case": row["title"],
        "headline": row["headline"],
        "section": row["label"],
        "text": row["text"],
        "excerpt": hit.why,
        "uri": f"legal://cases/{quote(row['title'], safe='')}",
    }
    return Case.model_validate(attributed(hit) | more)


def _adjacent(hit: Hit | None) -> AdjacentArticle | None:
    return hit and AdjacentArticle(article=hit.row["label"], text=hit.row["text"])


def _cited(hit: Hit) -> str:
    row = hit.row
    name = f"{hit.law.name} {row['label']}" if row["kind"] == DocumentKind.STATUTE else row["title"]
    version = f"version {row['version_date']}, " if row["version_date"] else ""
    return f"{name} ({version}source {row['source']}, imported {row['imported_at']})"


def _notice(hits: Sequence[Hit]) -> str | None:
    return _NOTICE if any(hit.row["source"] == SAMPLE_SOURCE for hit in hits) else None
