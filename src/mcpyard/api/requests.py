"""What a request asks: its parts read out of path, query and body, or refused with the field."""

import json
from math import isinf
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote

import msgspec
import orjson
from msgspec import inspect
from starlette.exceptions import HTTPException
from starlette.requests import Request

from mcpyard.api.bodies import Body, ToolCallBody
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.definition.quantities import MAX_TIMEOUT
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.narrowing import is_array, is_object, object_of
from mcpyard.domain.nesting import nested_deeper

LONGEST_WAIT: Final = 600.0
WAIT: Final = 10.0
"""Seconds that a change waits to be observed when the caller does not say."""

DEEPEST: Final = 64
"""Levels of a body: far more than any definition has, far fewer than could hurt."""

# A browser's form can send none of these, so another site's page cannot either.
_JSON: Final = frozenset({"", "application/json", "application/merge-patch+json"})

_MOST_DIGITS: Final = 308
_HUGE: Final = object()
"""Stands for a number beyond that."""

_CALL_MEMBERS: Final = frozenset(ToolCallBody.__struct_encode_fields__)

_B = TypeVar("_B", bound=Body)


class BadJson(Exception):
    """A body that is not JSON."""


class CallBody(NamedTuple):
    """What is asked of a tool; the time limit in seconds, None for the server's own."""

    arguments: dict[str, object]
    timeout: float | None
    meta: dict[str, object]


def part(request: Request, name: str) -> str:
    """A part of the path, unquoted."""
    return unquote(request.path_params[name])


def flag(request: Request, name: str, *, default: bool) -> bool:
    """A yes or no of the query."""
    value = request.query_params.get(name)
    return default if value is None else value.lower() not in {"0", "false", "no", ""}


def seconds(request: Request, name: str, default: float) -> float:
    """A duration of the query."""
    text = request.query_params.get(name)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LONGEST_WAIT:
        raise _refused(name, f"must be a number of seconds from 0 to {LONGEST_WAIT:g}")
    return value


def whole(request: Request, name: str, default: int, highest: int) -> int:
    """A whole number of the query, from 1 on."""
    text = request.query_params.get(name)
    if text is None:
        return default
    number = whole_number(text, highest)
    if not number:
        raise _refused(name, f"must be a whole number from 1 to {highest}")
    return number


def choice(request: Request, name: str, words: tuple[str, ...]) -> str:
    """One of a few words of the query; the first when none is given."""
    word = request.query_params.get(name, words[0])
    if word not in words:
        raise _refused(name, f"must be one of {', '.join(words)}")
    return word


async def members(request: Request, allowed: frozenset[str] | None = None) -> dict[str, object]:
    """The members of the object that the body is; where `allowed` says which, no others."""
    body = await _object(request)
    if nested_deeper(body, DEEPEST):
        raise BadJson(f"the body is nested deeper than {DEEPEST} levels")
    unknown = sorted(body.keys() - allowed) if allowed is not None else []
    if unknown:
        raise _refused(unknown[0][:80], f"is unknown; expected {', '.join(sorted(allowed or ()))}")
    return body


async def read(request: Request, kind: type[_B]) -> _B:
    """The body as what a route reads; a member that is unknown or wrong is refused."""
    closed = kind.__struct_config__.forbid_unknown_fields
    body = await members(request, frozenset(kind.__struct_encode_fields__) if closed else None)
    present = [
        each for each in msgspec.structs.fields(kind) if each.required or each.encode_name in body
    ]
    return kind(**{each.name: _member(body, each) for each in present})


async def call(request: Request) -> CallBody:
    """The body of a call."""
    return _call(await _object(request))


async def _object(request: Request) -> dict[str, object]:
    kind = request.headers.get("content-type", "").split(";", 1)[0].strip().lower()
    if kind not in _JSON:
        raise HTTPException(415)
    body = await request.body()
    try:
        value: object = orjson.loads(body) if body.strip() else {}
    except orjson.JSONDecodeError as error:
        if field := _huge_number(body):
            raise _refused(field, f"has more than {_MOST_DIGITS} digits") from None
        raise BadJson(f"the body is not JSON: {error}") from None
    if not is_object(value):
        raise _refused("", "the body must be an object")
    return value


def _huge_number(body: bytes) -> str:
    """The field with a number that no program can hold; empty where there is none."""
    try:
        value: object = json.loads(body, parse_int=_number, parse_float=_number)
    except (ValueError, RecursionError):
        return ""
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, each = stack.pop()
        if each is _HUGE:
            return path or "body"
        if is_object(each):
            prefix = f"{path}." if path else ""
            stack += [(f"{prefix}{name[:80]}", item) for name, item in each.items()]
        elif is_array(each):
            stack += [(f"{path}[{index}]", item) for index, item in enumerate(each)]
    return ""


def _number(text: str) -> object:
    return _HUGE if isinf(float(text)) else None


def _call(body: dict[str, object]) -> CallBody:
    if unknown := sorted(body.keys() - _CALL_MEMBERS):
        raise _refused(unknown[0], 'is unknown; expected "arguments", "timeoutMs" or "_meta"')
    arguments, meta = body.get("arguments", {}), body.get("_meta", {})
    if not is_object(arguments):
        raise _refused("arguments", "must be an object")
    if not is_object(meta):
        raise _refused("_meta", "must be an object")
    limit = body.get("timeoutMs")
    if limit is not None and not _is_limit(limit):
        raise _refused("timeoutMs", f"must be a whole number from 1 to {MAX_TIMEOUT}")
    timeout = limit / 1000 if isinstance(limit, int) else None
    return CallBody(arguments, timeout, meta)


def _member(body: dict[str, object], field: msgspec.structs.FieldInfo) -> Any:  # noqa: ANN401
    try:
        return msgspec.convert(body.get(field.encode_name), field.type)
    except msgspec.ValidationError:
        raise _refused(field.encode_name, _fault(inspect.type_info(field.type))) from None


def _fault(kind: inspect.Type) -> str:
    """What is wrong with a value that is not of a type, as the type itself says it."""
    if isinstance(kind, inspect.UnionType):
        return _fault(kind.types[0])
    if not isinstance(kind, inspect.Metadata):
        return "must be a string"
    # What it says besides its type is a plain dict of anything.
    more: Any = kind
    return str(object_of(more.extra).get("fault") or _fault(kind.type))


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_TIMEOUT


def _refused(field: str, message: str) -> ArgumentsRefused:
    return ArgumentsRefused.of(Problem(field, message))
