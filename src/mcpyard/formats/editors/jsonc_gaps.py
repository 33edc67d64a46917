"""What stands between two neighbours in a container, and which of them it belongs to.

A comment that follows an item on its line goes with that item. A block of comments on lines of
their own, directly above an item, goes with the item below. Everything else belongs to nobody and
is never removed.
"""

import re
from typing import Final, NamedTuple

from msgspec import Struct

from mcpyard.formats.editors.patterns import COMMENT

LINE_END: Final = re.compile(r"\r\n|\r|\n")
_TOKEN: Final = re.compile(rf"(?P<line>\r\n|\r|\n)|(?P<comment>{COMMENT})|(?P<comma>,)")
_BLANK_LINE: Final = re.compile(r"[ \t]*+(?>\r\n|\r|\n)[ \t]*+[\r\n]")
_LINE_ENDS: Final = re.compile(r"[ \t]*+[\r\n]")


class _Token(NamedTuple):
    kind: str
    start: int
    end: int


class Gap(Struct, frozen=True):
    """The text from the end of one neighbour to the start of the next, sorted by owner.

    Attributes:
        end: where the next neighbour starts: an item, or the closing bracket.
        comma: the offset of the comma, or -1.
        tail: the end of what goes with the neighbour before, its comma included if it is on the
            same line.
        stop: the end of all that stands on the line of the comma; `tail` if that is further on.
        free: the end of the last thing that does not go with the item after.
        lead: the start of the comments that go with the item after; `end` if there are none.
        comments: where the comments start.
        slashed: whether a `//` comment ends at `free`, so that only a new line can follow.
    """

    text: str
    end: int
    comma: int
    tail: int
    stop: int
    free: int
    lead: int
    comments: tuple[int, ...]
    slashed: bool

    def breaks_line(self) -> bool:
        """Whether the item after the gap, or its comments, start on a new line."""
        return LINE_END.search(self.text, self.free, self.lead) is not None

    def ends_line(self) -> bool:
        """Whether nothing more stands on the line of what goes with the neighbour before."""
        return _LINE_ENDS.match(self.text, self.tail, self.end) is not None

    def opens_blank(self) -> bool:
        """Whether a blank line follows what goes with the neighbour before."""
        return _BLANK_LINE.match(self.text, self.tail, self.end) is not None

    def is_blank_to_end(self) -> bool:
        """Whether only white space is left after what goes with the neighbour before."""
        return not self.text[self.tail : self.end].strip(" \t\r\n")


def gap(text: str, start: int, end: int, *, closing: bool) -> Gap:
    """Sort the text between two neighbours; `closing` says that the second is a bracket."""
    tokens = [
        _Token(match.lastgroup or "", match.start(), match.end())
        for match in _TOKEN.finditer(text, start, end)
    ]
    comma = next((i for i, token in enumerate(tokens) if token.kind == "comma"), -1)
    tail = _end_of_line(tokens, start, comma, closing=closing)
    stop = tail
    if comma >= 0:
        after = tokens[comma + 1 :]
        stop = max(tail, _end_of_line(after, tokens[comma].end, -1, closing=closing))
    free, lead = stop, end
    if not closing:
        free, lead = _lead([token for token in tokens if token.start >= stop], stop, end)
    comments = [token for token in tokens if token.kind == "comment"]
    return Gap(
        text=text,
        end=end,
        comma=tokens[comma].start if comma >= 0 else -1,
        tail=tail,
        stop=stop,
        free=free,
        lead=lead,
        comments=tuple(token.start for token in comments),
        slashed=any(t.end == free and text.startswith("//", t.start) for t in comments),
    )


def _end_of_line(tokens: list[_Token], start: int, comma: int, *, closing: bool) -> int:
    """The end of what stands on the line of `start` and goes with what ends there."""
    line = next((i for i, token in enumerate(tokens) if token.kind == "line"), len(tokens))
    if line == len(tokens) and not closing:
        # The next item is on this line: a comment in front of it is not ours.
        line = comma + 1
    return tokens[line - 1].end if line > 0 else start


def _lead(tokens: list[_Token], stop: int, end: int) -> tuple[int, int]:
    """Where the comments directly above an item start, and where all before them ends."""
    lead, lines, below = end, 0, "item"
    for token in reversed(tokens):
        if token.kind == "line":
            lines += 1
        elif lines == 1 or (lines == 0 and below == "comment"):
            lead, lines, below = token.start, 0, "comment"
        else:
            return token.end, lead
    return stop, lead
