"""How values are written on the page."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote

from mcpyard.domain.invisible import visible
from mcpyard.web.catalogues import Catalogue
from mcpyard.web.sentences import Translated

_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
_MEGABYTE: Final = 1 << 20
_KILOBYTE: Final = 1 << 10
_HEIGHT: Final = 18
_STEP: Final = 4
_CHARACTERS_A_TOKEN: Final = 4


def size(count: int | None) -> str:
    """An amount of memory."""
    if count is None:
        return ""
    if count >= _MEGABYTE:
        return f"{count / _MEGABYTE:.0f} MB"
    return f"{count / _KILOBYTE:.0f} kB" if count >= _KILOBYTE else f"{count} B"


def ms(value: float) -> str:
    """A duration in milliseconds."""
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"  # noqa: PLR2004  two digits


def moment(value: datetime) -> str:
    """A moment, as a browser that runs no script shows it."""
    return value.strftime("%Y-%m-%d %H:%M:%S")


def url(*parts: object) -> str:
    """An address out of its parts, each of them quoted."""
    return "/" + "/".join(quote(str(each), safe="") for each in parts)


def inert(value: object) -> str:
    """A text without what would colour, hide or turn round what stands beside it."""
    return visible(_ANSI.sub("", str(value)))


def short(value: object, longest: int = 200) -> str:
    """The beginning of a text, made inert."""
    if isinstance(value, Translated):
        parts = ((inert(text), foreign) for text, foreign in value.parts)
        return Translated.of(*parts).markup(longest)
    text = inert(value)
    return text if len(text) <= longest else f"{text[:longest]}…"


def pretty(value: object) -> str:
    """A value as JSON for a person."""
    return inert(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def tokens(value: object) -> int:
    """About how many tokens a text costs a model."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return -(-len(text) // _CHARACTERS_A_TOKEN)


def spark(values: Sequence[float]) -> str:
    """The points of a small line: the highest value at the top, the lowest at the bottom."""
    if not values:
        return ""
    low, high = min(values), max(values)
    span = high - low or 1.0
    return " ".join(
        f"{index * _STEP},{_HEIGHT - 1 - (value - low) / span * (_HEIGHT - 2):.1f}"
        for index, value in enumerate(values)
    )


def translated(texts: Iterable[str], t: Catalogue) -> list[str]:
    """Sentences of the program in the reader's language."""
    return [t.say(each) for each in texts]


FILTERS: Final[dict[str, Callable[..., object]]] = {
    each.__name__: each
    for each in (size, ms, moment, inert, short, pretty, tokens, spark, translated)
}
