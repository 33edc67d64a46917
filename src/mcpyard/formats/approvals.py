"""Decisions that a program binds to a hash of the entry, as Qwen Code does.

The hash is that of the entry as the program holds it, written by `JSON.stringify` with sorted
members: in its settings with the values of variables, in a shared file with the transport said by
the word of the address.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from mcpyard.domain.narrowing import is_array, is_object, object_of
from mcpyard.formats.copying.references import without_open
from mcpyard.formats.facts import ApprovalState, Field
from mcpyard.formats.locations import ClientScopeRef

_UNHASHED: Final = frozenset({"scope", "extensionName", "description"})
_LOST: Final = "__proto__"
"""A member that no object of the program can have."""

_REFERENCE: Final = re.compile(r"\$(?:(\w+)|\{([^}]+)\})", re.ASCII)
_UNREPLACED: Final = frozenset({"SESSION_ID", "QWEN_CODE_SESSION_ID"})
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_INDEX: Final = 2**32 - 2
_PLAIN_POINTS: Final = range(-5, 22)
"""Where the point of a number can stand, from its first digit, without an exponent."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def approval_state(
    record: object, raw: object, ref: ClientScopeRef, environment: Mapping[str, str]
) -> ApprovalState | None:
    """What a record says of an entry as it is written now; None where nothing was decided."""
    if not is_object(record):
        return None
    if record.get("hash") != entry_hash(object_of(raw), ref, environment):
        return ApprovalState.CHANGED
    rejected = record.get("status") == ApprovalState.REJECTED
    return ApprovalState.REJECTED if rejected else ApprovalState.APPROVED


def entry_hash(
    raw: Mapping[str, object], ref: ClientScopeRef, environment: Mapping[str, str]
) -> str:
    """The hash of an entry in a file of the scope."""
    held: object = _transport_by_address(raw) if Field.TYPE in ref.shape.field_names else raw
    if ref.client.dialect.reference:
        held = _replaced(held, environment)
    hashed = {key: value for key, value in object_of(held).items() if key not in _UNHASHED}
    return hashlib.sha256(_stringified(hashed).encode()).hexdigest()


def _transport_by_address(raw: Mapping[str, object]) -> Mapping[str, object]:
    members = {
        key: value for key, value in raw.items() if key != "type" or raw.get("type") == "sdk"
    }
    if any(raw.get(word) for word in ("command", "httpUrl", "tcp")):
        return members
    if not isinstance(raw.get("url"), str):
        return raw
    word = "httpUrl" if raw.get("type") == "http" else "url"
    return {**{key: value for key, value in members.items() if key != "url"}, word: raw["url"]}


def _replaced(value: object, environment: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _replaced_text(value, environment)
    if is_array(value):
        return [_replaced(each, environment) for each in value]
    if is_object(value):
        return {key: _replaced(each, environment) for key, each in value.items()}
    return value


def _replaced_text(text: str, environment: Mapping[str, str]) -> str:
    pieces: list[str] = []
    at = 0
    for match in _REFERENCE.finditer(without_open(text)):
        name = match[1] or match[2]
        value = None if name.upper() in _UNREPLACED else environment.get(name)
        pieces += (text[at : match.start()], match[0] if value is None else value)
        at = match.end()
    return "".join((*pieces, text[at:]))


def _stringified(value: object) -> str:
    if is_object(value):
        keys = sorted((key for key in value if key != _LOST), key=_order)
        return "{" + ",".join(f"{_text(key)}:{_stringified(value[key])}" for key in keys) + "}"
    if is_array(value):
        return "[" + ",".join(map(_stringified, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _number(value)
    return json.dumps(value)


def _order(key: str) -> tuple[int, bytes]:
    """Members that look like the index of a list come first, by their number."""
    if _INDEX.fullmatch(key) and int(key) <= _LAST_INDEX:
        return int(key), b""
    return _LAST_INDEX + 1, key.encode("utf-16-be", "surrogatepass")


def _text(text: str) -> str:
    dumped = json.dumps(text, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", dumped)


def _number(value: float) -> str:
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    shortest = Decimal(repr(number)).normalize()
    sign, digits, exponent = shortest.as_tuple()
    point = len(digits) + int(exponent)
    if point in _PLAIN_POINTS:
        return f"{shortest:f}"
    first, *rest = map(str, digits)
    fraction = f".{''.join(rest)}" if rest else ""
    return f"{'-' if sign else ''}{first}{fraction}e{point - 1:+d}"
