"""References to environment variables, translated from one client's dialect to another's.

Nothing is ever looked up: a secret that stands in a file as a reference stays one. What cannot be
said in the other dialect is kept as it is written, and told.
"""

import re
from dataclasses import dataclass
from functools import cache

from mcpyard.formats.reference_syntax import ReferenceSyntax

# Two dollars before a brace mean the brace itself, which needs no end.
_OPENING = re.compile(r"(?<!\$)\$\{|(?<!\$)\{")


@dataclass(frozen=True, slots=True)
class ClientReference:
    """A variable by name; `default` is None where none was given."""

    name: str
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something the client replaces that no other client knows, such as the content of a file."""

    text: str


Part = str | ClientReference | Foreign


@dataclass(frozen=True, slots=True)
class Translation:
    """A text in another dialect, and what the client loses of it, as the end of a sentence."""

    text: str
    loss: str = ""


def parts(text: str, dialect: ReferenceSyntax) -> tuple[Part, ...]:
    """A text taken apart into literals, references and what has no counterpart."""
    if not dialect.pattern:
        return (text,) if text else ()
    result: list[Part] = []
    at = 0
    for match in _compiled(dialect.pattern).finditer(without_open(text)):
        if match.start() > at:
            result.append(text[at : match.start()])
        result.append(_part(match))
        at = match.end()
    return (*result, text[at:]) if at < len(text) else tuple(result)


def without_open(text: str) -> str:
    """A text of the same length in which no reference begins that is never closed.

    To look for the end of each of them would take the square of the text's length.
    """
    end = text.rfind("}") + 1
    return text[:end] + _OPENING.sub(lambda match: "\0" * len(match.group()), text[end:])


def translate(text: str, source: ReferenceSyntax, target: ReferenceSyntax) -> Translation:
    """A text of one dialect in another."""
    if source == target:
        return Translation(text)
    taken_apart = parts(text, source)
    written = [_write(part, target) for part in taken_apart]
    losses = [each.loss for each in written if each.loss]
    result = "".join(each.text for each in written)
    if not losses and meaning(result, target) != _joined(taken_apart):
        losses = ["expands part of this text as a reference"]
    return Translation(result, losses[0] if losses else "")


def meaning(text: str, dialect: ReferenceSyntax) -> tuple[Part, ...]:
    """What a text says, alike for all dialects: its parts, with neighbouring literals as one."""
    return _joined(parts(text, dialect))


def whole_reference(text: str, dialect: ReferenceSyntax) -> str | None:
    """The variable's name where the text is one reference without a default and nothing else."""
    match parts(text, dialect):
        case (ClientReference(name, None),):
            return name
        case _:
            return None


def reference(name: str, dialect: ReferenceSyntax) -> str:
    """A reference in a dialect that has them."""
    return dialect.reference.format(name)


def _part(match: re.Match[str]) -> Part:
    groups = match.groupdict()
    if (literal := groups.get("literal")) is not None:
        return literal
    name = next((groups[key] for key in ("name", "bare") if groups.get(key)), None)
    return ClientReference(name, groups.get("default")) if name else Foreign(match.group())


def _write(part: Part, target: ReferenceSyntax) -> Translation:
    if isinstance(part, str):
        return Translation(_escaped(part, target))
    if isinstance(part, Foreign):
        return Translation(
            _escaped(part.text, target), "does not support a reference in this text: kept as is"
        )
    return _write_reference(part.name, part.default, target)


def _write_reference(name: str, default: str | None, target: ReferenceSyntax) -> Translation:
    if not target.reference:
        literal = f"${{{name}}}" if default is None else f"${{{name}:-{default}}}"
        loss = f"does not expand ${{{name}}}: the server will get that text literally"
        return Translation(literal, loss)
    if default is None:
        return Translation(target.reference.format(name))
    if not target.with_default:
        loss = f"does not support defaults: the default of ${{{name}}} is dropped"
        return Translation(target.reference.format(name), loss)
    return Translation(target.with_default.format(name, default))


def _escaped(text: str, target: ReferenceSyntax) -> str:
    for plain, escaped in target.escapes:
        text = text.replace(plain, escaped)
    return text


def _joined(taken_apart: tuple[Part, ...]) -> tuple[Part, ...]:
    """Neighbouring literals as one."""
    joined: list[Part] = []
    for part in taken_apart:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
