"""Whether an address fits a resource template (RFC 6570, as far as templates are matched).

A template comes from a server and cannot be trusted: matching that backtracks takes for ever on a
row of expressions. So all ways to match are followed at once. An integer holds every position of
the address that can be reached, one bit each; each character of the template's text and each
expression is one step, whatever the address.
"""

import logging
import re
from functools import lru_cache
from typing import Final

LONGEST: Final = 2_000
"""Characters of an address or a template; longer ones fit nothing."""

MOST_EXPRESSIONS: Final = 32
"""A template with more of them fits nothing."""

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)[^{}]*\}")
_ENDS_SIMPLE: Final = "/?#"
_ENDS_OTHERS: Final = "\n"

log = logging.getLogger(__name__)


class UriText:
    """An address that is compared with templates: where in it each character stands."""

    __slots__ = ("_where", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._where: dict[str, int] | None = None

    def places(self, character: str) -> int:
        """Where a character stands, one bit for each place."""
        if self._where is None:
            self._where = {}
            for place, each in enumerate(self.text):
                self._where[each] = self._where.get(each, 0) | 1 << place
        return self._where.get(character, 0)

    def places_without(self, characters: str) -> int:
        """Where anything but these characters stands."""
        places = (1 << len(self.text)) - 1
        for each in characters:
            places &= ~self.places(each)
        return places


class UriTemplate:
    """A template, made by `template_of`.

    Attributes:
        before: The text before each expression, with the characters that end that expression.
        after: The text after the last.
    """

    __slots__ = ("_least", "after", "before")

    def __init__(self, before: tuple[tuple[str, str], ...], after: str) -> None:
        self.before = before
        self.after = after
        self._least = sum(len(text) for text, _ in before) + len(after)

    def fits(self, address: UriText) -> bool:
        """Whether the address could have been made from the template; it may say yes too often."""
        if not self.before:
            return address.text == self.after
        if not self._may_fit(address.text):
            return False
        reached = 1
        for text, ends in self.before:
            reached = _past_text(reached, text, address)
            if not reached:
                return False
            reached = _past_expression(reached, address.places_without(ends))
        return bool(_past_text(reached, self.after, address) >> len(address.text))

    def _may_fit(self, uri: str) -> bool:
        """What most addresses fail at, and costs least."""
        return (
            self._least <= len(uri) <= LONGEST
            and uri.startswith(self.before[0][0])
            and uri.endswith(self.after)
        )


@lru_cache(maxsize=4096)
def template_of(text: str) -> UriTemplate | None:
    """A template, ready to be compared; None when it is beyond the limits.

    Cached, since exposures are made anew all the time from the same templates.
    """
    expressions = [*_EXPRESSION.finditer(text)] if len(text) <= LONGEST else []
    if len(text) > LONGEST or len(expressions) > MOST_EXPRESSIONS:
        log.warning(
            "resource template ignored: over %d characters or %d expressions: %.80s",
            LONGEST,
            MOST_EXPRESSIONS,
            text,
        )
        return None
    before: list[tuple[str, str]] = []
    end = 0
    for match in expressions:
        ends = _ENDS_SIMPLE if match[1] == "" else _ENDS_OTHERS
        before.append((text[end : match.start()], ends))
        end = match.end()
    return UriTemplate(tuple(before), text[end:])


def _past_text(reached: int, text: str, address: UriText) -> int:
    for character in text:
        reached = (reached & address.places(character)) << 1
        if not reached:
            return 0
    return reached


def _past_expression(reached: int, free: int) -> int:
    # Adding carries each position through the ones of `free` to the first place that is not free.
    return ((free + (reached & free)) ^ free) | reached
