"""The paragraphs and items of an article: 第十四条第二款第三项."""

import re
from typing import Final

from mcpyard.legal.query.numerals import chinese

_ITEM: Final = re.compile(r"\s*[(\uff08][一二三四五六七八九十百]+[)\uff09]")


def paragraph_of(text: str, paragraph: int, item: int) -> str | None:
    """A paragraph of an article, or an item of it; None where there is none.

    Items stand on lines of their own and belong to the paragraph before them.
    """
    paragraphs: list[list[str]] = []
    for line in text.split("\n\n"):
        if _ITEM.match(line) and paragraphs:
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    if paragraph > len(paragraphs):
        return None
    chosen = paragraphs[paragraph - 1] if paragraph else [each for p in paragraphs for each in p]
    if not item:
        return "\n\n".join(chosen)
    items = [line for line in chosen if _ITEM.match(line)]
    return items[item - 1] if item <= len(items) else None


def paragraph_name(paragraph: int, item: int) -> str:
    """How a paragraph or an item is cited."""
    first = f"第{chinese(paragraph)}款" if paragraph else ""
    return first + (f"第{chinese(item)}项" if item else "")
