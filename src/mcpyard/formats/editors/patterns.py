"""What the patterns of the editors have in common, safe on every Python that mcpyard runs on.

Before CPython 3.11.5 a possessive quantifier on a group, `(?:...)*+`, keeps the position at which
the last try of the group failed instead of the end of its last success. It is right on a single
character or class. So groups are repeated by `repeated`, `scripts/patterns` refuses the rest, and
no loop over a text trusts a pattern to move it forward.
"""

from typing import Final

from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation

NO_PROGRESS: Final = "mcpyard cannot parse the file from here on"


class NoProgress(DocumentBroken):
    """A step of a scanner that consumed nothing, and would be repeated for ever."""

    def __init__(self, offset: int) -> None:
        super().__init__(NO_PROGRESS, (Problem("", NO_PROGRESS, SourceLocation("", 0, 0)),))
        self.offset = offset


def repeated(part: str) -> str:
    """The pattern of a part as often as it comes, of which nothing is given back."""
    return rf"(?>(?:{part})*)"


def advanced(before: int, after: int) -> int:
    """The offset after a step of a scanner.

    Raises:
        NoProgress: the step consumed nothing.
    """
    if after <= before:
        raise NoProgress(before)
    return after


_STARS: Final = repeated(r"\*(?!/)[^*]*+")
COMMENT: Final = rf"(?://[^\r\n]*+|/\*[^*]*+{_STARS}\*/)"  # of JSONC
