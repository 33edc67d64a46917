"""A corpus as JSON lines: one statute, case or template a line.

`kind` and `title` must be there; a statute or case has its `text` as Markdown (headings and
articles, no title), or a statute its `articles` as `[{"article": 1, "text": ...}]`. `part`,
`headline`, `version_date` and `source` may be there. The `text` of a template has {{fields}}.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any, Final, cast

from mcpyard.legal import markdown, numerals
from mcpyard.legal.model import BrokenText, DocumentKind, LegalDocument, Passage

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def read(lines: Iterable[bytes], path: PurePosixPath) -> Iterator[LegalDocument | BrokenText]:
    """The documents of a file; in the place of a broken line, what is wrong with it."""
    for number, line in enumerate(lines, 1):
        said = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if not said.strip():
            continue
        try:
            yield _document(_object(said), path)
        except BrokenText as error:
            yield BrokenText(str(error), number)


def _object(line: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise BrokenText("not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise BrokenText(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BrokenText("not a JSON object")
    return cast("dict[str, Any]", found)


def _document(said: dict[str, Any], path: PurePosixPath) -> LegalDocument:
    kind = _text(said, "kind")
    if kind not in set(DocumentKind):
        raise BrokenText(f"kind is {kind!r}; it must be {', '.join(DocumentKind)}")
    date = _text(said, "version_date", "")
    if date and not _DAY.fullmatch(date):
        raise BrokenText(f"version_date is {date!r}; it must be YYYY-MM-DD")
    return LegalDocument(
        DocumentKind(kind),
        _text(said, "title"),
        _text(said, "source", str(path)),
        _passages(said, DocumentKind(kind), date),
        part=_text(said, "part", ""),
        headline=_text(said, "headline", ""),
        version_date=date,
    )


def _passages(said: dict[str, Any], kind: DocumentKind, date: str) -> tuple[Passage, ...]:
    if kind is DocumentKind.STATUTE and "articles" in said:
        return _articles(said["articles"])
    text = _text(said, "text")
    if kind is DocumentKind.TEMPLATE:
        return (Passage(_text(said, "title"), text),)
    facts = f"---\nkind: {kind}\n---\n# title\n{date}\n<!-- INFO END -->\n"
    read = markdown.read(facts + text, PurePosixPath("line"))
    return read.passages if read else ()


def _articles(said: object) -> tuple[Passage, ...]:
    if not isinstance(said, list) or not said:
        raise BrokenText("articles must be a list that is not empty")
    passages: list[Passage] = []
    for each in cast("list[object]", said):
        if not isinstance(each, dict):
            raise BrokenText("an article must be an object with article and text")
        article = cast("dict[str, Any]", each)
        label = str(article.get("article", ""))
        number = numerals.read(label)
        shown = str(number) if number and label.isdigit() else label
        passages.append(Passage(shown, _text(article, "text"), number))
    return tuple(passages)


def _text(said: dict[str, Any], name: str, default: str | None = None) -> str:
    found = said.get(name, default)
    if not isinstance(found, str) or (default is None and not found.strip()):
        raise BrokenText(f"{name} must be a text that is not empty")
    try:
        found.encode()
    except UnicodeEncodeError as error:
        raise BrokenText(f"{name} holds half a surrogate pair") from error
    return found
