"""OpenAI's strict schemas: the service then lets no model give arguments that do not fit.

The price is that every object is closed and every member required. One that was optional may be
null instead, and on the way back a null that the tool does not know counts as not given.
"""

from typing import Final

from mcpyard.catalog.lowering import Schema
from mcpyard.domain.narrowing import is_array, is_mapping, list_of, object_of

_MAX_DEPTH: Final = 10
_KEPT: Final = frozenset(
    {
        "const",
        "description",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maximum",
        "minItems",
        "minimum",
        "multipleOf",
        "pattern",
        "title",
        "type",
    }
)
_FORMATS: Final = frozenset(
    {
        "date",
        "date-time",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "time",
        "uuid",
    }
)


class _Loose(Exception):
    """The schema leaves open what a strict one must settle."""


def tighten(schema: Schema) -> Schema | None:
    """A lowered schema as a strict one; None when it leaves too much open for that."""
    try:
        return _tight(schema, 1)
    except _Loose:
        return None


def drop_nulls(arguments: object, schema: object) -> object:
    """Arguments that were asked for strictly, without the nulls that mean "not given"."""
    rules = object_of(schema)
    if is_array(arguments):
        return [drop_nulls(each, rules.get("items")) for each in arguments]
    if not is_mapping(arguments):
        return arguments
    members = object_of(rules.get("properties"))
    required = list_of(rules.get("required"))
    return {
        name: drop_nulls(value, members.get(name))
        for name, value in arguments.items()
        if value is not None or name in required or _takes_null(members.get(name))
    }


def _tight(schema: object, depth: int) -> Schema:
    node = object_of(schema)
    if depth > _MAX_DEPTH or "patternProperties" in node or "prefixItems" in node:
        raise _Loose
    tight = {name: value for name, value in node.items() if name in _KEPT}
    if node.get("format") in _FORMATS:
        tight["format"] = node["format"]
    if "anyOf" in node:
        return {**_choice(node, depth), **_notes(node)}
    kinds = _kinds(node)
    if not kinds and "enum" not in node and "const" not in node:
        raise _Loose
    if "array" in kinds:
        tight["items"] = _tight(node.get("items"), depth + 1)
    return tight | (_closed(node, depth) if "object" in kinds else {})


def _choice(node: Schema, depth: int) -> Schema:
    if "properties" in node or "items" in node:
        raise _Loose
    return {"anyOf": [_tight(each, depth + 1) for each in list_of(node["anyOf"])]}


def _closed(node: Schema, depth: int) -> Schema:
    if "properties" not in node or node.get("additionalProperties", False) is not False:
        raise _Loose
    required = list_of(node.get("required"))
    members = {
        name: _tight(member, depth + 1) for name, member in object_of(node["properties"]).items()
    }
    return {
        "properties": {
            name: member if name in required else _or_null(member)
            for name, member in members.items()
        },
        "required": [*members],
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    if _takes_null(schema):
        return schema
    if isinstance(schema.get("type"), str) and not schema.keys() & {"enum", "const"}:
        return {**schema, "type": [schema["type"], "null"]}
    inner = {name: value for name, value in schema.items() if name != "description"}
    choices = list_of(schema.get("anyOf")) or [inner]
    return {"anyOf": [*choices, {"type": "null"}], **_notes(schema)}


def _takes_null(schema: object) -> bool:
    node = object_of(schema)
    choices = list_of(node.get("anyOf"))
    if choices:
        return any(map(_takes_null, choices))
    if "enum" in node and None not in list_of(node["enum"]):
        return False
    return "null" in _kinds(node)


def _notes(schema: Schema) -> Schema:
    return {name: schema[name] for name in ("description",) if name in schema}


def _kinds(schema: Schema) -> list[object]:
    kind = schema.get("type")
    if is_array(kind):
        return kind
    return [] if kind is None else [kind]
