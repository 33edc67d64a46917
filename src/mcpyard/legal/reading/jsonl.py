"""A corpus as JSON lines: one statute, case or template a line.

`kind` and `title` must be there; a statute or case has its `text` as Markdown (headings and
articles, no title), or a statute its `articles` as `[{"article": 1, "text": ...}]`. `part`,
`headline`, `version_date`, `in_force_from`, `in_force_until` and `source` may be there. The `text`
of a template has {{fields}}.
"""

import codecs
import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, cast

from mcpyard.legal.model import BrokenText, DocumentKind, LegalDocument, Passage
from mcpyard.legal.notices import say_here
from mcpyard.legal.query import numerals
from mcpyard.legal.reading import markdown
from mcpyard.legal.reading.dates import stated_days


def read(lines: Iterable[bytes], path: PurePosixPath) -> Iterator[LegalDocument | BrokenText]:
    """The documents of a file; in the place of a broken line, what is wrong with it."""
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if not text.strip():
            continue
        try:
            yield _document(_object(text), path)
        except BrokenText as error:
            yield BrokenText(str(error), number)


def _object(line: bytes) -> dict[str, Any]:
    try:
        decoded: object = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise BrokenText(say_here("not_utf8_lines")) from error
    except (ValueError, RecursionError) as error:
        raise BrokenText(say_here("not_json", error=error)) from error
    if not isinstance(decoded, dict):
        raise BrokenText(say_here("not_object"))
    return cast("dict[str, Any]", decoded)


def _document(members: dict[str, Any], path: PurePosixPath) -> LegalDocument:
    kind = _text(members, "kind")
    if kind not in set(DocumentKind):
        raise BrokenText(say_here("wrong_kind", kind=kind, kinds=", ".join(DocumentKind)))
    names = ("version_date", "in_force_from", "in_force_until")
    date, first, last = stated_days({name: _text(members, name, "") for name in names})
    return LegalDocument(
        DocumentKind(kind),
        _text(members, "title"),
        _text(members, "source", str(path)),
        _passages(members, DocumentKind(kind), date),
        part=_text(members, "part", ""),
        headline=_text(members, "headline", ""),
        version_date=date,
        in_force_from=first,
        in_force_until=last,
    )


def _passages(members: dict[str, Any], kind: DocumentKind, date: str) -> tuple[Passage, ...]:
    if kind is DocumentKind.STATUTE and "articles" in members:
        return _articles(members["articles"])
    text = _text(members, "text")
    if kind is DocumentKind.TEMPLATE:
        return (Passage(_text(members, "title"), text),)
    facts = f"---\nkind: {kind}\n---\n# title\n{date}\n<!-- INFO END -->\n"
    read = markdown.read(facts + text, PurePosixPath("line"))
    return read.passages if read else ()


def _articles(articles: object) -> tuple[Passage, ...]:
    if not isinstance(articles, list) or not articles:
        raise BrokenText(say_here("no_article_list"))
    passages: list[Passage] = []
    for each in cast("list[object]", articles):
        if not isinstance(each, dict):
            raise BrokenText(say_here("no_article_object"))
        article = cast("dict[str, Any]", each)
        label = str(article.get("article", ""))
        number = numerals.read(label)
        shown_label = str(number) if number and label.isdigit() else label
        passages.append(Passage(shown_label, _text(article, "text"), number))
    return tuple(passages)


def _text(members: dict[str, Any], name: str, default: str | None = None) -> str:
    text = members.get(name, default)
    if not isinstance(text, str) or (default is None and not text.strip()):
        raise BrokenText(say_here("empty_member", name=name))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BrokenText(say_here("half_character", name=name)) from error
    return text
