"""The arguments of a tool, written as `KEY=VALUE` words and read by the tool's schema.

A value is JSON where that gives a type which the schema allows, else it is the text itself. Only
types and names are checked here; mcpyard checks everything else before the call.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NoReturn

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.domain.narrowing import is_object, list_of, object_of, texts_of

_DEEPEST: Final = 8
"""References and unions inside each other; beyond that any type is allowed."""

_ARTICLES: Final = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a JSON array",
    "object": "a JSON object",
    "null": "null",
}
_EXAMPLES: Final = {"array": '\'["a", "b"]\'', "object": "'{\"a\": 1}'", "boolean": "true"}
_NAMES: Final = {
    "float": "number",
    "str": "string",
    "list": "array",
    "dict": "object",
    "NoneType": "null",
}
"""The types of JSON Schema, by those of Python."""

_NOT_JSON: Final = object()

Schema = Mapping[str, object]


def read_pairs(words: Sequence[str]) -> dict[str, str]:
    """The texts of `KEY=VALUE` words by their keys."""
    pairs: dict[str, str] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            example = "for example: mcpyard call SERVER TOOL city=Oslo days=3"
            raise usage(f'"{word[:80]}" is not KEY=VALUE', example)
        if key in pairs:
            raise usage(f"{key}: appears twice", "for several values: KEY='[1, 2]'")
        pairs[key] = text
    return pairs


def typed_arguments(pairs: Mapping[str, str], schema: object) -> dict[str, object]:
    """The values of the pairs, as the schema of a tool wants them."""
    root = object_of(schema)
    properties = object_of(root.get("properties"))
    closed = root.get("additionalProperties") is False
    arguments: dict[str, object] = {}
    for key, text in pairs.items():
        if closed and key not in properties:
            raise _unknown(key, properties)
        arguments[key] = _value(key, text, _types(properties.get(key), root, 0))
    return arguments


def _unknown(key: str, properties: Schema) -> CliError:
    keys = ", ".join(properties)
    return usage(
        f"{key}: the tool has no such argument",
        f"its arguments: {keys}" if keys else "it takes no arguments",
    )


def _value(key: str, text: str, types: frozenset[str] | None) -> object:
    if types == frozenset({"string"}):
        return text
    value = _parse(key, text)
    if value is not _NOT_JSON and (types is None or not types.isdisjoint(_types_of(value))):
        return value
    if types is None or "string" in types:
        return text
    expected = " or ".join(_ARTICLES.get(each, each) for each in sorted(types))
    example = next((_EXAMPLES[each] for each in sorted(types) if each in _EXAMPLES), "3")
    raise usage(f'{key}: must be {expected}, not "{text[:80]}"', f"for example: {key}={example}")


def _parse(key: str, text: str) -> object:
    def refuse(_: str) -> NoReturn:
        raise ValueError

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return _NOT_JSON
    except RecursionError:
        raise usage(f"{key}: is nested too deeply") from None


def _types_of(value: object) -> frozenset[str]:
    """The types of JSON Schema that a value has."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return frozenset({"integer", "number"})
    return frozenset({_NAMES[type(value).__name__]})


def _types(schema: object, root: Schema, depth: int) -> frozenset[str] | None:
    """The types that a schema allows; None where it allows any."""
    if depth > _DEEPEST or not is_object(schema):
        return None
    if "$ref" in schema:
        return _types(_resolve(str(schema["$ref"]), root), root, depth + 1)
    if kind := schema.get("type"):
        return frozenset([kind] if isinstance(kind, str) else texts_of(kind))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _union(_types(each, root, depth + 1) for each in list_of(schema[key]))
    values = [schema["const"]] if "const" in schema else list_of(schema.get("enum"))
    return frozenset[str]().union(*map(_types_of, values)) if values else None


def _union(kinds: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    union: frozenset[str] = frozenset()
    for each in kinds:
        if each is None:
            return None
        union |= each
    return union


def _resolve(reference: str, root: Schema) -> object:
    schema: object = root
    for part in reference.removeprefix("#").split("/")[1:]:
        schema = object_of(schema).get(part.replace("~1", "/").replace("~0", "~"))
    return schema if reference.startswith("#") else None
