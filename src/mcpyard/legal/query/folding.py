"""One form for all spellings of a text: widths, cases, traditional and simplified characters."""

import unicodedata

from mcpyard.legal.tables import simplified_characters


def normal(text: str) -> str:
    """The text with ordinary widths and simplified characters."""
    return unicodedata.normalize("NFKC", text).translate(simplified_characters())


def one_line(text: str) -> str:
    """The normal form with single spaces."""
    return " ".join(normal(text).split())


def plain(text: str) -> str:
    """The same in lower case: what is indexed and looked for."""
    return normal(text).lower()
