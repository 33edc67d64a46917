"""Lines and columns of a large text, each counted from the nearest one that is known already."""

from bisect import bisect_right
from typing import Final

from mcpyard.domain.errors import SourceLocation

BOM: Final = "\ufeff"


class Lines:
    """The places of a text; the next one costs only the way from the one before it."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._returns = "\r" in text
        self._known = [(0, 1, int(text.startswith(BOM)))]

    def up_to(self, offset: int, text: str) -> "Lines":
        """The lines of a text that is the same up to an offset."""
        lines = Lines(text, self._file)
        lines._known = self._known[: bisect_right(self._known, (offset,))]
        return lines

    def place(self, offset: int) -> SourceLocation:
        """Where an offset is; lines end with LF, CRLF or CR."""
        index = bisect_right(self._known, (offset, offset, offset)) - 1
        done, line, line_start = self._known[max(index, 0)]
        text = self._text
        line += text.count("\n", done, offset)
        line_start = max(line_start, text.rfind("\n", done, offset) + 1)
        if self._returns:
            line += text.count("\r", done, offset) - text.count("\r\n", done, offset)
            line_start = max(line_start, text.rfind("\r", done, offset) + 1)
        self._known.insert(index + 1, (offset, line, line_start))
        return SourceLocation(self._file, line, offset - line_start + 1)
