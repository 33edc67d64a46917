"""How values and places in them are shown to people: short, and never a secret."""

import json
import re
from collections.abc import Sequence
from functools import reduce
from typing import Final

from mcpyard.domain.narrowing import is_array, is_object, is_sequence

MAX_SHOWN: Final = 80
"""The most characters of a value that a sentence shows."""

HIDDEN: Final = "..."

_SECRET_PART: Final = re.compile(
    r"token|passw|passphrase|secret|authorization|credential|bearer|cookie", re.IGNORECASE
)
# "key" is also a part of harmless words, such as "keyword" and "keyboard".
_SECRET_WORD: Final = re.compile(r"[kK]eys?(?![a-z])|KEY")

_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
}


def shorten(text: str) -> str:
    """A text with at most `MAX_SHOWN` characters."""
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - len(HIDDEN)] + HIDDEN


def as_json(value: object) -> str:
    """A value as JSON, shortened."""
    return shorten(json.dumps(value, ensure_ascii=False, default=str))


def show(value: object, *, secret: bool) -> str:
    """A value in a sentence; of objects and arrays only the size, as they may hold secrets."""
    if is_object(value):
        return f"an object with {counted(len(value), 'property')}"
    if is_array(value):
        return f"an array of {counted(len(value), 'item')}"
    return HIDDEN if secret else as_json(value)


def show_with_type(value: object, *, secret: bool) -> str:
    """A value after the word for its type: `the number 3`."""
    name = _TYPE_NAMES.get(type(value))
    if name is None:
        return show(value, secret=False)
    return f"a {name}" if secret else f"the {name} {as_json(value)}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 item`, `2 items`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {plural}"


def is_secret(path: Sequence[str | int]) -> bool:
    """Whether a place lies under a name that looks secret."""
    names = (step for step in path if isinstance(step, str))
    return any(_SECRET_PART.search(name) or _SECRET_WORD.search(name) for name in names)


def field_of(path: Sequence[str | int], root: object) -> str:
    """A place in a value, written as `items[0].id`."""
    text = ""
    for step in path:
        text += _written(step, root)
        root = child_of(root, step)
    return text.removeprefix(".")


def child_of(value: object, step: str | int) -> object:
    """The member or item of a value, or None."""
    if is_object(value):
        return value.get(str(step))
    if is_sequence(value) and isinstance(step, int):
        return value[step] if 0 <= step < len(value) else None
    return None


def value_at(path: Sequence[str | int], root: object) -> object:
    """The value at a place, or None."""
    return reduce(child_of, path, root)


def _written(step: str | int, parent: object) -> str:
    # A member "0" comes as 0 too, so the parent decides what the step is.
    if isinstance(step, int) and not isinstance(parent, dict):
        return f"[{step}]"
    name = str(step)
    return f".{shorten(name)}" if name.isidentifier() else f"[{as_json(name)}]"
