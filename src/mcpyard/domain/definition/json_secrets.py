"""JSON and texts of calls without their secrets.

A value is a secret by its name (`secret_text.holds_secret`), by its look (`shown_text`), or because
it is known: a value of the server's environment or headers. JSON is read token by token, so that
one that was cut off is masked like one that is whole. Every pattern is linear in the text.
"""

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from mcpyard.domain.call_contents import LIMIT, MARGIN, WINDOW
from mcpyard.domain.definition.secret_names import ANY_REFERENCE, holds_secret, is_literal
from mcpyard.domain.definition.secret_text import MASKED, hide, shown_args, shown_text

_DEEPEST: Final = 6
"""JSON in a string of JSON, and so on; what is deeper is masked whole."""

_LONGEST_NAME: Final = 200
_LONGEST_ESCAPE: Final = 6
_SHORTEST: Final = 6
"""Characters of the shortest secret that is known (see `secrets_of`)."""

_QUOTED: Final = f'"{MASKED}"'

_TOKEN: Final = re.compile(
    r'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*"?)|(?P<mark>[{}\[\]:,])'
    r'|(?P<scalar>[^\s"{}\[\]:,]++)|(?P<space>\s++)',
    re.DOTALL,
)
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME: Final = re.compile(r"[\w.-]{1,80}")
_CONSTANTS: Final = frozenset({"true", "false", "null"})
_NAMING: Final = frozenset({"name", "key", "header", "variable", "field"})
"""Members of an object whose `value` is a secret when they name one."""

_ANSWERS: Final = frozenset({"requestState", "inputResponses", "inputRequests"})
"""Members that hold what somebody answered to a question, or what a server made of it."""


class Redacted(NamedTuple):
    """A text without its secrets.

    Attributes:
        text: At most `LIMIT` bytes of it.
        cut: Whether it was longer.
        masked: Whether anything was masked.
    """

    text: str
    cut: bool
    masked: bool


def redact_json(raw: bytes, size: int, secrets: Iterable[str]) -> Redacted:
    """JSON without its secrets.

    Args:
        raw: Its beginning, at least the first `WINDOW` bytes.
        size: How long all of it is.
        secrets: The values that are known to be secrets.
    """
    text = raw[:WINDOW].decode(errors="replace")
    return _cut(_JsonMasking(tuple(secrets)).masked(text), text, truncated=size > WINDOW)


def redact_text(text: str, secrets: Iterable[str]) -> Redacted:
    """Any other text without its secrets."""
    begin = text[:WINDOW]
    return _cut(_look(begin, tuple(secrets)), begin, truncated=len(text) > WINDOW)


def _cut(masked: str, before: str, *, truncated: bool) -> Redacted:
    encoded = masked.encode(errors="replace")
    # Masking makes a text shorter, so that its uncertain end may come into what is kept.
    most = min(LIMIT, max(0, len(encoded) - MARGIN)) if truncated else LIMIT
    if len(encoded) <= most:
        return Redacted(encoded.decode(), cut=False, masked=masked != before)
    return Redacted(encoded[:most].decode(errors="ignore"), cut=True, masked=masked != before)


def _look(text: str, secrets: tuple[str, ...]) -> str:
    # What is known goes first: of a part of it that looks like a secret, the rest would stay.
    return shown_text(hide(text, secrets))


class _Secrecy(IntEnum):
    NONE = 0
    TEXTS = 1
    """Texts are secrets, numbers are not, as in `tokens`."""
    ALL = 2


class _Frame(Struct):
    """An object or an array that is open.

    Attributes:
        secrecy: Of everything in it.
        is_object: Whether its values have names.
        name: Of an object, the name of the next value; of an array, the text before it.
        awaits_name: Whether a name comes next.
        names_secret: Whether a member says that the member `value` is a secret.
        value_at: Where the member `value` is in the output.
    """

    secrecy: _Secrecy
    is_object: bool = False
    name: str = ""
    awaits_name: bool = False
    names_secret: bool = False
    value_at: int = -1

    @property
    def of_value(self) -> _Secrecy:
        """Of the value that comes next."""
        if not self.is_object or self.secrecy:
            return self.secrecy
        if self.names_secret and self.name == "value":
            return _Secrecy.ALL
        return _secrecy_of(self.name)


class _JsonMasking:
    """Masks one JSON text."""

    def __init__(self, secrets: tuple[str, ...], depth: int = 0) -> None:
        self._secrets = secrets
        self._depth = depth
        self._parts: list[str] = []
        self._frames = [_Frame(_Secrecy.NONE)]

    def masked(self, text: str) -> str:
        for token in _TOKEN.finditer(text):
            self._parts.append(self._token(token.lastgroup, token.group()))
        return "".join(self._parts)

    def _token(self, kind: str | None, token: str) -> str:
        # Not a table of bound methods: with one, every text would stay until a garbage collection.
        match kind:
            case "string":
                return self._string(token)
            case "mark":
                return self._mark(token)
            case "scalar":
                return self._scalar(token)
            case _:
                return token

    def _mark(self, mark: str) -> str:
        frame = self._frames[-1]
        if mark in "{[":
            is_object = mark == "{"
            self._frames.append(_Frame(frame.of_value, is_object=is_object, awaits_name=is_object))
        elif mark in "}]":
            # One is left, also in what is not JSON.
            if len(self._frames) > 1:
                self._frames.pop()
        elif mark == ",":
            frame.awaits_name = frame.is_object
        return mark

    def _scalar(self, token: str) -> str:
        frame = self._frames[-1]
        if token in _CONSTANTS:
            return token
        if frame.of_value is _Secrecy.ALL:
            return _QUOTED
        if frame.is_object and frame.name == "value":
            frame.value_at = len(self._parts)
        if len(token) < _SHORTEST:
            return token
        return _encoded(token, token, _look(token, self._secrets))

    def _string(self, token: str) -> str:
        frame, value = self._frames[-1], _decoded(token)
        if frame.awaits_name:
            frame.name, frame.awaits_name = value[:_LONGEST_NAME], False
            return _encoded(token, value, _look(value, self._secrets))
        after = self._shown(frame, value)
        if frame.is_object:
            self._pair(frame, value)
        else:
            frame.name = value[:_LONGEST_NAME]
        return _encoded(token, value, after)

    def _shown(self, frame: _Frame, value: str) -> str:
        """A value as it may be shown."""
        if frame.of_value:
            return MASKED if value and is_literal(value, ANY_REFERENCE) else value
        hidden = hide(value, self._secrets)
        if hidden.lstrip()[:1] in {"{", "["}:
            if self._depth >= _DEEPEST:
                return MASKED
            # Lines of a log may begin like JSON.
            return shown_text(_JsonMasking(self._secrets, self._depth + 1).masked(hidden))
        if frame.is_object or not frame.name:
            return shown_text(hidden)
        if _NAME.fullmatch(frame.name) and holds_secret(frame.name):
            return MASKED
        return shown_args([frame.name, hidden])[1]

    def _pair(self, frame: _Frame, value: str) -> None:
        """Mask the `value` beside a `name` that is the name of a secret, whichever comes first."""
        if frame.name == "value":
            frame.value_at = len(self._parts)
        elif frame.name.lower() in _NAMING and _secrecy_of(value[:_LONGEST_NAME]):
            frame.names_secret = True
            if frame.value_at >= 0:
                self._parts[frame.value_at] = _QUOTED


@lru_cache(maxsize=1024)
def _secrecy_of(name: str) -> _Secrecy:
    if name in _ANSWERS:
        return _Secrecy.ALL
    words = _CAMEL.sub("_", name)
    if holds_secret(name) or holds_secret(words):
        return _Secrecy.ALL
    one = words.removesuffix("s")
    return _Secrecy.TEXTS if one != words and holds_secret(one) else _Secrecy.NONE


def _decoded(token: str) -> str:
    """The text of a string, which may have been cut off."""
    text = token[1:-1] if len(token) > 1 and token.endswith('"') else token[1:]
    if "\\" not in text:
        return text
    # An escape may have been cut off too.
    for end in range(len(text), max(0, len(text) - _LONGEST_ESCAPE) - 1, -1):
        with suppress(ValueError):
            return str(json.loads(f'"{text[:end]}"', strict=False))
    return text


def _encoded(token: str, before: str, after: str) -> str:
    return token if before == after else json.dumps(after, ensure_ascii=False)
