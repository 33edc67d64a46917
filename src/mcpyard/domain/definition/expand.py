"""References to variables: `${NAME}`, `${NAME:-default}`, `${keyring:NAME}`.

A value that is put in is never looked at again, so a variable that holds `${ITSELF}` is harmless.
A default may hold references; they count only when it is used. `$${` stands for a literal `${`.
A default takes the place of a variable that is not set; one that is set and empty stays empty, as
the programs that share these files have it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct, field

Lookup = Callable[[str], str | None]


class SecretText(str):
    """A value that is a secret whatever it is called and looks like: somebody stored it as one."""

    __slots__ = ()


MAX_NESTING: Final = 16
"""Defaults inside defaults; more is a mistake, and recursion has its limit."""

_REFERENCE_NAME = re.compile(r"keyring:[^${}:]+|[A-Za-z_][A-Za-z0-9_]*")
_NEXT = re.compile(r"\$\$\{|\$\{")
_NEXT_IN_DEFAULT = re.compile(r"\$\$\{|\$\{|\}")


class BadReference(ValueError):
    """A `${` that is not a reference; says where it begins."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class VariableReference(Struct, frozen=True):
    """One reference; `default` is None where none was given."""

    name: str
    default: "ReferenceTemplate | None"


class ReferenceTemplate(Struct, frozen=True):
    """A string taken apart into literals and references."""

    parts: tuple[str | VariableReference, ...]

    def fill(self, lookup: Lookup, missing: list[str]) -> str:
        """The string with every reference replaced; names without a value go to `missing`."""
        return "".join(
            part if isinstance(part, str) else _value(part, lookup, missing) for part in self.parts
        )


class Expansion(Struct, frozen=True):
    """A string after expansion, and the variables that were not set."""

    text: str
    missing: tuple[str, ...] = field(default=())


def expand(text: str, lookup: Lookup) -> Expansion:
    """Replace every reference in `text`, or raise `BadReference`."""
    if "${" not in text:
        return Expansion(text)
    missing: list[str] = []
    filled = parse_template(text).fill(lookup, missing)
    return Expansion(filled, tuple(dict.fromkeys(missing)))


def parse_template(text: str) -> ReferenceTemplate:
    """Take a string apart, or raise `BadReference`."""
    parts, _ = _scan(text, 0, None, 0)
    return ReferenceTemplate(parts)


def variables_in(text: str) -> tuple[str, ...]:
    """The variables that a string refers to, those of defaults included.

    A string whose references cannot be read refers to none: it is never expanded.
    """
    try:
        template = parse_template(text)
    except BadReference:
        return ()
    return tuple(dict.fromkeys(_names(template)))


def _names(template: ReferenceTemplate) -> Iterator[str]:
    for part in template.parts:
        if isinstance(part, VariableReference):
            yield part.name
            yield from _names(part.default) if part.default else ()


def _value(reference: VariableReference, lookup: Lookup, missing: list[str]) -> str:
    value = lookup(reference.name)
    if value is not None:
        return value
    if reference.default is not None:
        return reference.default.fill(lookup, missing)
    missing.append(reference.name)
    return ""


def _scan(
    text: str, at: int, opened: int | None, depth: int
) -> tuple[tuple[str | VariableReference, ...], int]:
    """Read parts from `at` to the end, or inside a default to the `}` that closes it."""
    parts: list[str | VariableReference] = []
    tokens = _NEXT if opened is None else _NEXT_IN_DEFAULT
    while token := tokens.search(text, at):
        if token.start() > at:
            parts.append(text[at : token.start()])
        if token.group() == "}":
            return tuple(parts), token.end()
        if token.group() == "$${":
            parts.append("${")
            at = token.end()
            continue
        reference, at = _reference(text, token.start(), depth)
        parts.append(reference)
    if opened is not None:
        raise BadReference("${ is never closed", opened)
    if at < len(text):
        parts.append(text[at:])
    return tuple(parts), len(text)


def _reference(text: str, start: int, depth: int) -> tuple[VariableReference, int]:
    if depth == MAX_NESTING:
        raise BadReference(f"defaults are nested more than {MAX_NESTING} deep", start)
    name = _REFERENCE_NAME.match(text, start + 2)
    end = name.end() if name else start + 2
    if name and text.startswith("}", end):
        return VariableReference(name.group(), None), end + 1
    if name and text.startswith(":-", end):
        parts, end = _scan(text, end + 2, start, depth + 1)
        return VariableReference(name.group(), ReferenceTemplate(parts)), end
    close = text.find("}", start)
    if close < 0:
        raise BadReference("${ is never closed", start)
    excerpt = text[start : min(close + 1, start + 40)]
    advice = "write ${NAME} or ${NAME:-default}, or $${ for a plain ${"
    raise BadReference(f"{excerpt} is not a reference; {advice}", start)
