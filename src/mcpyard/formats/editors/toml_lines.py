"""Whole lines put into a text and taken out of it, with the comments and blank lines around them.

Both ways keep to one law: taking out what was put in gives back the bytes. What is put in follows
the last written line with one blank line between, or starts the text; what is taken out takes the
blank lines above it along, or those below it at the start of the text.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.editors.toml_scan import BLANK_LINES, Sheet, Span, Statement
from mcpyard.formats.editors.toml_style import newline_of

_COMMENT: Final = re.compile(r"[ \t]*+#")
_BLANK_LINES: Final = re.compile(BLANK_LINES)
_BLANK: Final = " \t\r\n"


class LineRange(NamedTuple):
    """Lines that belong to one entry: from the start of the first to the end of the last."""

    start: int
    end: int
    is_table: bool


def top(sheet: Sheet, index: int) -> int:
    """Where the comments start that stand directly above a statement, or its own line."""
    floor = sheet.statements[index - 1].stop + 1 if index else sheet.start
    line = sheet.statements[index].line
    while line > floor:
        above = max(floor, sheet.text.rfind("\n", floor, line - 1) + 1)
        if not _COMMENT.match(sheet.text, above):
            break
        line = above
    return line


def blocks(sheet: Sheet, paths: Sequence[Path]) -> list[LineRange]:
    """The lines of everything at or below paths of one length.

    What only blank lines part is one block.
    """
    ranges: list[LineRange] = []
    steps = len(paths[0])
    for index, statement in enumerate(sheet.statements):
        if statement.path[:steps] not in paths:
            continue
        inner = statement.kind == "pair" and statement.base >= steps
        start = ranges.pop().start if inner else top(sheet, index)
        is_table = inner or statement.kind != "pair"
        if ranges and not sheet.text[ranges[-1].end : start].strip(_BLANK):
            before = ranges.pop()
            start, is_table = before.start, is_table or before.is_table
        ranges.append(LineRange(start, statement.stop, is_table))
    return ranges


def take_out(sheet: Sheet, paths: Sequence[Path]) -> str:
    """The text without the lines of everything at or below paths of one length."""
    return spliced(sheet.text, [(*_cut(sheet, it), "") for it in blocks(sheet, paths)])


def put_after(sheet: Sheet, limit: int, lines: Sequence[str]) -> str:
    """The text with lines after the last written one before an offset, and a blank line between.

    Where nothing is written before the offset they start the text.
    """
    text, newline = sheet.text, newline_of(sheet.text)
    last = _last_written(sheet, limit)
    if last is not None:
        return text[:last] + newline * 2 + newline.join(lines) + text[last:]
    block = newline.join(lines) + newline
    rest = text[limit:].strip(_BLANK)
    at = limit if rest else sheet.start
    return text[:at] + block + newline * bool(rest) + text[at:]


def put_below(sheet: Sheet, statement: Statement, lines: Sequence[str]) -> str:
    """The text with lines directly below a statement, as far in as it is."""
    text, newline = sheet.text, newline_of(sheet.text)
    indent = text[statement.line : statement.start]
    block = "".join(f"{newline}{indent}{line}" for line in lines)
    return text[: statement.stop] + block + text[statement.stop :]


def spliced(text: str, splices: Sequence[tuple[int, int, str]]) -> str:
    """The text with each span replaced; the spans ascend and do not overlap."""
    for start, end, new in reversed(splices):
        text = text[:start] + new + text[end:]
    return text


def _last_written(sheet: Sheet, limit: int) -> int | None:
    """Where the last line ends that holds something before an offset."""
    written = sheet.text[sheet.start : limit].rstrip(_BLANK)
    if not written:
        return None
    end = sheet.text.find("\n", sheet.start + len(written), limit)
    if end < 0:
        return limit
    return end - 1 if sheet.text[end - 1] == "\r" else end


def _cut(sheet: Sheet, block: LineRange) -> Span:
    text = sheet.text
    last = _last_written(sheet, block.start)
    behind = text.find("\n", block.end) + 1 or len(text)
    after_blank = _after_blank_lines(text, behind)
    if last is None:
        return block.start, after_blank if text[after_blank:].strip(_BLANK) else behind
    has_gap_above = text.count("\n", last, block.start) > 1
    has_gap_below = after_blank > behind or not text[behind:].strip(_BLANK)
    if has_gap_above and not has_gap_below and _needs_gap(sheet, block, last, behind):
        return block.start, behind
    return last, block.end


def _needs_gap(sheet: Sheet, block: LineRange, last: int, behind: int) -> bool:
    """Whether the gap above must stay: a comment must not slip onto what is not its own."""
    comes_after_comment = all(it.stop != last for it in sheet.statements)
    return not block.is_table or comes_after_comment or _is_loose_comment(sheet, behind)


def _is_loose_comment(sheet: Sheet, line: int) -> bool:
    following = (i for i, it in enumerate(sheet.statements) if it.line >= line)
    index = next(following, None)
    return bool(_COMMENT.match(sheet.text, line)) and (index is None or top(sheet, index) != line)


def _after_blank_lines(text: str, at: int) -> int:
    match = _BLANK_LINES.match(text, at)
    return match.end() if match else at
