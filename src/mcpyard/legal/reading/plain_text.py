"""Statutes as plain text: the title first, chapters and articles on lines of their own."""

import re
from typing import Final

from mcpyard.legal.query.folding import normal
from mcpyard.legal.query.numerals import NUMERAL
from mcpyard.legal.reading.numbering import ArticleNumbering

_HEADING: Final = re.compile(
    rf"第\s*{NUMERAL}\s*(?P<unit>分编|编|章|节)(?:\s+.{{0,40}}|[^。;,]{{0,40}})?|附\s*则|序\s*言|总\s*则"
)
_LEVELS: Final = {"编": "##", "分编": "##", "章": "###", "节": "####", None: "###"}
_CONTENTS: Final = re.compile(r"目\s*[录次]")


def to_markdown(text: str) -> str:
    """The same lines as Markdown; the lines between the title and the text say its dates."""
    lines = text.splitlines()
    numbering = ArticleNumbering(lines)
    written: list[str] = []
    has_title = has_body = False
    for line in map(str.strip, lines):
        if line and not has_title:
            written.append(f"# {line.strip('《》# ')}")
            has_title = True
            continue
        heading = _heading(line)
        begins = has_title and (bool(heading) or numbering.article(line) is not None)
        mark = "<!-- INFO END -->" if begins and not has_body else ""
        has_body = has_body or begins
        written.append(f"{mark}{heading or ('' if _CONTENTS.fullmatch(line) else line)}")
    return "\n".join(written)


def _heading(line: str) -> str:
    match = _HEADING.fullmatch(normal(line))
    return f"{_LEVELS[match['unit']]} {line}" if match else ""
