"""What a check of a client's files has to say."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpyard.domain.errors import Place
from mcpyard.formats.locating import Spot


class Level(StrEnum):
    """How bad it is: the program stumbles; something is not as it seems; worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found.

    Attributes:
        code: The rule, as a word that stays the same.
        level: How bad it is.
        client: The id of the client.
        scope: The scope; empty for a file that belongs to none.
        name: The server; empty for all of the file.
        place: Where it stands.
        message: What is so, as a sentence that gives no secret away.
        hint: What to do about it.
    """

    code: str
    level: Level
    client: str
    scope: str
    name: str
    place: Place | None
    message: str
    hint: str


Where = tuple[str, Place | None]
"""A server and a place; no name for all of the file."""

RULES: Final[Mapping[str, tuple[Level, str]]] = {
    "file-broken": (Level.ERROR, "the file cannot be read at all"),
    "not-strict-json": (
        Level.ERROR,
        "a comment or a trailing comma, which the program cannot read",
    ),
    "byte-order-mark": (Level.ERROR, "the file begins with one, and the program cannot read it"),
    "entry-invalid": (Level.ERROR, "the program does not use the entry as it stands"),
    "url-without-type": (Level.ERROR, "an address without the type that the program asks for"),
    "empty-command": (Level.ERROR, "a command of no text"),
    "unknown-field": (Level.WARNING, "a field about which the program complains at every start"),
    "ignored-field": (Level.WARNING, "a field of other programs, which this one passes over"),
    "needless-type": (Level.INFO, "a type, where the program tells it by the other fields"),
    "foreign-reference": (Level.WARNING, "a reference in a spelling that the program leaves as is"),
    "secret-tracked": (Level.ERROR, "a secret as it is, in a file that git keeps"),
    "secret-readable": (Level.WARNING, "a secret as it is, in a file that every user can read"),
    "duplicate-name": (Level.WARNING, "two entries that are one server to the program"),
    "name-refused": (Level.WARNING, "a name that the program itself would not take"),
    "mixed-shapes": (Level.WARNING, "an entry in the shape of another version of the program"),
    "shadowed": (Level.INFO, "a server that does not count beside another of its name"),
}
"""Every code, how bad it is, and what it is about."""


def about(spot: Spot, code: str, where: Where, message: str, hint: str) -> Finding:
    """A finding about a file of a client."""
    level, _ = RULES[code]
    return Finding(code, level, spot.client.id, spot.scope.name, *where, message, hint)
