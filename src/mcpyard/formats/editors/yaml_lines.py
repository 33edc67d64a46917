"""The lines of a YAML text: where the items of a block stand, and which comments are theirs.

A comment block directly above an item, in its column, belongs to it, as does one below it that is
indented more. What is left belongs to nobody, and stays.
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpyard.formats.editors.jsonc_lines import BOM
from mcpyard.formats.editors.patterns import repeated
from mcpyard.formats.editors.yaml_nodes import YamlNode

BREAK: Final = re.compile(r"\r\n|\n|\r")
_TO_MARK: Final = re.compile(repeated(r"[ \t\r\n]++|(?<![^ \t\r\n])#[^\r\n]*+"))
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_HEAD: Final = re.compile(r"[^#\r\n]*+")
_LINE_END: Final = re.compile(r"[\r\n]|\Z")
_COMMENT: Final = re.compile(r"([ \t]*+)#")
_BLANK_LINES: Final = re.compile(repeated(r"(?:\r\n|\n|\r(?!\n))[ \t]*+(?=[\r\n]|\Z)"))
_BLANK: Final = re.compile(r"[ \t]*+(?=[\r\n]|\Z)")


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of an item of a block.

    Attributes:
        start: Where its key, its dash or its question mark stands.
        end: The end of its last line that is no comment.
        top: The end of the line above its own first one, comments and blank lines included.
        bottom: The end of its last line, comments included.
        column: How many characters stand before it in its line.
    """

    start: int
    end: int
    top: int
    bottom: int
    column: int


def mark(text: str, offset: int) -> int:
    """The first character after white space and comments."""
    match = _TO_MARK.match(text, offset)
    return match.end() if match else offset


def line_start(text: str, offset: int) -> int:
    """Where a line begins."""
    start = text.rfind("\n", 0, offset) + 1
    # Few texts have a CR alone: looking for one must not go back to their beginning.
    start = max(start, text.rfind("\r", start, offset) + 1)
    return start or int(text.startswith(BOM))


def line_end(text: str, offset: int) -> int:
    """Where a line ends, before its line end."""
    match = _LINE_END.search(text, offset)
    return match.start() if match else len(text)


def past_space(text: str, offset: int) -> int:
    """The first character after white space, be it that of a comment."""
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def past_blank(text: str, end: int) -> int:
    """The end of the last of the blank lines below the end of a line."""
    match = _BLANK_LINES.match(text, end)
    return match.end() if match else end


def head_end(text: str, lead: int) -> int:
    """Where an anchor or a tag in the line of a key ends; where its value begins without one."""
    match = _HEAD.match(text, lead)
    return lead + len(match.group().rstrip(" \t")) if match else lead


def column(text: str, offset: int) -> int:
    """How many characters stand before an offset in its line."""
    return offset - line_start(text, offset)


def newline_of(text: str) -> str:
    """The line end of a text: that of its first line."""
    match = BREAK.search(text)
    return match.group() if match else "\n"


def blocks(text: str, node: YamlNode) -> list[Block]:
    """The lines of each item of a map or a list that is a block."""
    match: list[Block] = []
    above = node.inner
    for value in node.values:
        start = mark(text, above)
        end = line_end(text, value.end)
        indent = column(text, start)
        bottom = _bottom(text, end, indent)
        limit = match[-1].bottom if match else None
        match.append(Block(start, end, _top(text, start, indent, limit), bottom, indent))
        above = end
    return match


def _bottom(text: str, end: int, indent: int) -> int:
    """The end of the last of the comments below that are indented more than the item."""
    while below := BREAK.match(text, end):
        comment = _COMMENT.match(text, below.end())
        if comment is None or len(comment[1]) <= indent:
            return end
        end = line_end(text, comment.end())
    return end


def _top(text: str, start: int, indent: int, limit: int | None) -> int:
    """The end of the line above the comments of the item, and above the blank lines over them."""
    top = line_above(text, start)
    while top > (limit or 0):
        begin = line_start(text, top)
        comment = _COMMENT.match(text, begin, top)
        if comment is None or len(comment[1]) != indent:
            break
        top = line_above(text, begin)
    if top <= int(text.startswith(BOM)) and not BREAK.match(text, top):
        # A comment that the file begins with is that of the file.
        top = line_above(text, start)
    # The blank lines part it from the item before it; above a first one they part it from nothing.
    while limit is not None and top > limit:
        begin = line_start(text, top)
        if not _BLANK.fullmatch(text, begin, top):
            break
        top = line_above(text, begin)
    return top


def line_above(text: str, offset: int) -> int:
    """The end of the line above that of an offset; the start of the first line for it."""
    begin = line_start(text, offset)
    if text.startswith("\r\n", max(begin - 2, 0)) and begin > 1:
        return begin - 2
    return begin - 1 if begin and text[begin - 1] in "\r\n" else begin
