"""The guard that every edit passes before its text is given out.

The text is read again after the edit and must give exactly the value that was meant; and all that
is not the entry's own, to the byte, must stand in it as it stood before. A text that is TOML 1.0
must stay so: its program may read nothing newer.
"""

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.editors.jsonc_values import refuse
from mcpyard.formats.editors.toml_document import TomlDocument, newer_syntax, parse
from mcpyard.formats.editors.toml_edit import at_path, covering
from mcpyard.formats.editors.toml_lines import blocks
from mcpyard.formats.editors.toml_scan import (
    BLANK_LINES,
    Sheet,
    Span,
    Statement,
    TomlContainer,
    descend,
)
from mcpyard.formats.editors.toml_values import Toml, pruned, same

_OWN_LINE: Final = re.compile(r"\n[ \t]*+(#[^\r\n]*+)")
_GAPS: Final = re.compile(rf"(\r?\n{BLANK_LINES})")

# The lines of others, and what parts each from the one before and the last one from the end;
# nothing is said about a gap in which lines of the entry stand.
_Rest: TypeAlias = tuple[list[str], list[str | None]]


@dataclass(frozen=True, slots=True)
class TomlEdit:
    """An edited text that is not trusted yet.

    Attributes:
        before: what was read before.
        edited: the text after.
        intended: the value that the text shall give after, worked out without it.
        zone: the path of the entry whose lines the edit may touch.
        new_zone: that path after the edit, where it is another one.
        frees: whether comments of the entry may become nobody's, as one between two keys does when
            the lower one goes.
    """

    before: TomlDocument
    edited: str
    intended: Toml
    zone: Path
    new_zone: Path | None = None
    frees: bool = False

    def guarded(self) -> str:
        """The edited text, if it is what the edit is meant to give.

        Raises:
            EditRefused: it is not.
        """
        try:
            after = parse(self.edited)
        except DocumentBroken as error:
            message = f"the edit would break the file: {error.message}"
            raise refuse(self.zone, message) from None
        if not self._gives(after.value) or not self._keeps_the_rest(after.sheet):
            raise refuse(self.zone, "the edit would not give exactly what was asked")
        if newer_syntax(self.edited) and not newer_syntax(self.before.text):
            raise refuse(self.zone, "the edit would need TOML 1.1, which the file did not")
        return self.edited

    def _gives(self, after: Toml) -> bool:
        above = self.zone[:-1]
        return same(pruned(after, above), pruned(self.intended, above))

    def _keeps_the_rest(self, after: Sheet) -> bool:
        before = self.before.sheet
        old_lines, old_gaps = _rest(before, self.zone)
        new_lines, new_gaps = _rest(after, self.new_zone or self.zone)
        if before.start != after.start:
            return False
        if old_lines != new_lines:
            return self.frees and _only_freed(old_lines, new_lines, before.text)
        return all(
            old is None or new is None or old == new
            for old, new in zip(old_gaps, new_gaps, strict=True)
        )


def _only_freed(old: list[str], new: list[str], text: str) -> bool:
    """Whether the new lines are the old ones and comments that the text had already."""
    expected = [*reversed(old)]
    for line in new:
        if expected and line == expected[-1]:
            expected.pop()
        elif not line.lstrip(" \t").startswith("#") or line not in text:
            return False
    return not expected


def _rest(sheet: Sheet, path: Path) -> _Rest:
    lines: list[str] = []
    gaps: list[str | None] = []
    gap: str | None = ""
    at = sheet.start
    for start, end in [*_own(sheet, path), (len(sheet.text), len(sheet.text))]:
        # Splitting at a group gives lines and gaps by turns, and empty lines only at the ends.
        for index, piece in enumerate(_GAPS.split(sheet.text[at:start])):
            if index % 2 or not piece.strip(" \t"):
                gap = None if gap is None else gap + piece
                continue
            lines.append(piece)
            gaps.append(gap)
            gap = ""
        gap = gap if start == len(sheet.text) else None
        at = end
    return lines, [*gaps, gap]


def _own(sheet: Sheet, path: Path) -> list[Span]:
    """The spans of a text that belong to the entry at a path."""
    cover = covering(sheet, path)
    if cover is not None:
        return _own_in_braces(sheet, path, cover)
    return [(block.start, block.end) for block in blocks(sheet, [path])]


def _own_in_braces(sheet: Sheet, path: Path, cover: Statement) -> list[Span]:
    """All of the innermost braces but for the items of others and comments, which are all kept."""
    box, rest = descend(sheet.text, cover.value, path[len(cover.path) :])
    own = at_path(box, rest) if isinstance(rest[0], int) else []
    others = [
        (item.start, item.end)
        for index, item in enumerate(box.items)
        if index not in own and (not item.names or item.names[: len(rest)] != rest)
    ]
    untouched = sorted([*others, *_comments(sheet.text, box)])
    starts = [box.opening + 1, *(end for _, end in untouched)]
    ends = [*(start for start, _ in untouched), box.closing]
    return list(zip(starts, ends, strict=True))


def _comments(text: str, box: TomlContainer) -> list[Span]:
    """The comments that stand on lines of their own between the items of braces."""
    starts = [box.opening + 1, *(item.end for item in box.items)]
    ends = [*(item.start for item in box.items), box.closing]
    gaps = zip(starts, ends, strict=True)
    return [match.span(1) for gap in gaps for match in _OWN_LINE.finditer(text, *gap)]
