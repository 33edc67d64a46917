"""A tool's schema in the words that a service for models understands.

A service that meets a keyword it does not know refuses the whole request, and with it every other
tool. So a schema is lowered to what the service reads. Lowering widens: arguments that fit the
schema fit the lowered one, and what it no longer says is still enforced, because the yard checks
the arguments of a call against the schema as it came.

References are put in place: one of the services refuses them, and the others differ in which they
follow. A schema that refers to itself, or is too deep, is open from there on.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from mcpyard.catalog.costs import MAX_SCHEMA_DEPTH
from mcpyard.catalog.pointers import resolve
from mcpyard.domain.narrowing import is_array, is_mapping, is_object, is_texts, list_of, object_of

Schema: TypeAlias = dict[str, object]
_Judge: TypeAlias = Callable[[object], bool]

# References that fan out make a small schema endless once they are put in place.
_MAX_NODES: Final = 2_000

_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SIMPLE: Final = ("string", "integer", "boolean", "number", "null")
_ANNOTATIONS: Final = ("title", "description", "default")
_UNIONS: Final = ("anyOf", "oneOf")
_OTHERWISE: Final = frozenset({"const", "enum", "exclusiveMaximum", "exclusiveMinimum"})
_NESTING: Final = frozenset(
    {
        "additionalProperties",
        "allOf",
        "items",
        "patternProperties",
        "prefixItems",
        "properties",
        *_UNIONS,
    }
)


@dataclass(frozen=True, slots=True)
class SchemaDialect:
    """What of JSON Schema a service reads.

    Attributes:
        keywords: The keywords it knows.
        formats: The formats it knows; all of them when None.
        mixed_choices: Whether an `enum` may hold anything, not only texts or only numbers.
    """

    keywords: frozenset[str]
    formats: frozenset[str] | None = None
    mixed_choices: bool = True


GEMINI: Final = SchemaDialect(
    frozenset(
        {
            "additionalProperties",
            "anyOf",
            "description",
            "enum",
            "format",
            "items",
            "maxItems",
            "maximum",
            "minItems",
            "minimum",
            "prefixItems",
            "properties",
            "required",
            "title",
            "type",
        }
    ),
    frozenset({"date", "date-time", "time"}),
    mixed_choices=False,
)
"""Gemini's `parametersJsonSchema`: the keywords that its reference lists."""

COMMON: Final = SchemaDialect(
    GEMINI.keywords
    | {
        "const",
        "default",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxLength",
        "maxProperties",
        "minLength",
        "minProperties",
        "multipleOf",
        "pattern",
        "patternProperties",
        "uniqueItems",
    }
)
"""What OpenAI and Anthropic read: draft 2020-12 without references and conditions."""


def as_object(schema: object) -> Schema:
    """The schema as it came, for those who take any; something else, as that of any object."""
    if not is_mapping(schema):
        return {"type": "object", "properties": {}}
    if schema.get("type") == "object":
        return dict(schema)
    return {**schema, "type": "object"}


def lower(schema: object, dialect: SchemaDialect) -> Schema:
    """The schema of a tool's arguments in a dialect.

    The result is always a plain object at its root: the services refuse a choice there. Of a choice
    all members are offered, and required is what every alternative requires. Parts that can stay
    as they are are those of the schema itself.
    """
    root = as_object(schema)
    lowered = _folded(_Lowering(root, dialect).node(root))
    for keyword in ("enum", "const", "items", "prefixItems"):
        lowered.pop(keyword, None)
    return {**lowered, "type": "object", "properties": lowered.get("properties", {})}


class _Lowering:
    """One schema on its way into a dialect."""

    def __init__(self, root: object, dialect: SchemaDialect) -> None:
        self._root = root
        self._dialect = dialect
        self._judges = _judges(dialect)
        self._left = _MAX_NODES
        self._followed: list[str] = []
        self._depth = 0

    def node(self, schema: object) -> Schema:
        if not is_object(schema) or self._left <= 0 or self._depth >= MAX_SCHEMA_DEPTH:
            return {}
        self._left -= 1
        self._depth += 1
        try:
            reference = schema.get("$ref")
            if isinstance(reference, str):
                return self._referred(reference, schema)
            return self._lowered(schema)
        finally:
            self._depth -= 1

    def _referred(self, reference: str, schema: Schema) -> Schema:
        target: Schema = {}
        if reference.startswith("#") and reference not in self._followed:
            self._followed.append(reference)
            target = self.node(resolve(self._root, reference))
            self._followed.pop()
        notes = {name: schema[name] for name in _ANNOTATIONS if name in schema}
        return target | self._plain(notes)

    def _lowered(self, schema: Schema) -> Schema:
        lowered = self._plain(schema)
        # Most parts of a schema can stay as they are, and there may be thousands of tools.
        if len(lowered) == len(schema) and schema.get("type") in _SIMPLE and "enum" not in schema:
            return schema
        if not _OTHERWISE.isdisjoint(schema):
            self._say_otherwise(schema, lowered)
        if not _NESTING.isdisjoint(schema):
            lowered = self._with_parts(schema, lowered)
        if (kind := lowered.get("type")) == "array" or "array" in list_of(kind):
            lowered.setdefault("items", {})
        return lowered

    def _with_parts(self, schema: Schema, plain: Schema) -> Schema:
        lowered = plain | self._nested(schema)
        for part in list_of(schema.get("allOf")):
            lowered = _both(lowered, self.node(part))
        if schema.get("patternProperties") and "patternProperties" not in lowered:
            lowered.pop("additionalProperties", None)
        return lowered

    def _plain(self, schema: Schema) -> Schema:
        judges = self._judges
        return {
            name: value
            for name, value in schema.items()
            if (fits := judges.get(name)) is not None and fits(value)
        }

    def _nested(self, schema: Schema) -> Schema:
        lowered: Schema = {}
        for name in ("properties", "patternProperties"):
            if name in schema and name in self._dialect.keywords:
                lowered |= self._members(name, schema[name])
        if "additionalProperties" in schema:
            value = schema["additionalProperties"]
            lowered["additionalProperties"] = value if isinstance(value, bool) else self.node(value)
        if "items" in schema or "prefixItems" in schema:
            lowered |= self._items(schema)
        for name in _UNIONS:
            # `oneOf` as `anyOf`: of lowered alternatives more than one may fit.
            if "anyOf" not in lowered and (branches := list_of(schema.get(name))):
                lowered["anyOf"] = [self.node(each) for each in branches]
        return lowered

    def _members(self, name: str, value: object) -> Schema:
        if not is_object(value):
            return {}
        return {name: {key: self.node(each) for key, each in value.items()}}

    def _items(self, schema: Schema) -> Schema:
        items, first = schema.get("items"), schema.get("prefixItems")
        # Up to draft 2019-09 a tuple was written as a list of `items`.
        if is_array(items):
            items, first = schema.get("additionalItems"), items
        lowered: Schema = {}
        if is_array(first):
            lowered["prefixItems"] = [self.node(each) for each in first]
        if is_object(items):
            lowered["items"] = self.node(items)
        return lowered

    def _say_otherwise(self, schema: Schema, lowered: Schema) -> None:
        keywords = self._dialect.keywords
        if "const" in schema and "const" not in keywords:
            lowered["enum"] = [schema["const"]]
        if not self._dialect.mixed_choices and not _of_one_kind(lowered.get("enum")):
            lowered.pop("enum", None)
        for name, stand_in in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if name not in keywords and _is_number(schema.get(name)):
                lowered.setdefault(stand_in, schema[name])


@cache
def _judges(dialect: SchemaDialect) -> Mapping[str, _Judge]:
    """Tell of each keyword without parts whether its value can stay."""
    judges = {name: fits for name, fits in _PLAIN.items() if name in dialect.keywords}
    if (formats := dialect.formats) is not None:
        judges["format"] = lambda value: isinstance(value, str) and value in formats
    return judges


def _both(one: Schema, other: Schema) -> Schema:
    """A schema that takes whatever both take."""
    merged = {**other, **one}
    if "items" in one or "prefixItems" in one:
        # Which items `items` means depends on `prefixItems`: the two stay together.
        merged = {
            name: value
            for name, value in merged.items()
            if name in one or name not in {"items", "prefixItems"}
        }
    for name in ("properties", "patternProperties"):
        if name in one and name in other:
            merged[name] = {**object_of(other[name]), **object_of(one[name])}
    required = [*list_of(one.get("required")), *list_of(other.get("required"))]
    return merged | ({"required": list(dict.fromkeys(required))} if required else {})


def _folded(schema: Schema) -> Schema:
    """A schema without a choice at its root."""
    rest = dict(schema)
    branches = [_folded(object_of(each)) for each in list_of(rest.pop("anyOf", None))]
    if not branches:
        return rest
    offered: dict[str, list[object]] = {}
    for branch in branches:
        for name, member in object_of(branch.get("properties")).items():
            seen = offered.setdefault(name, [])
            if member not in seen:
                seen.append(member)
    members: Schema = {
        name: variants[0] if len(variants) == 1 else {"anyOf": variants}
        for name, variants in offered.items()
    }
    folded: Schema = {"properties": members}
    if needed := _in_all([list_of(branch.get("required")) for branch in branches]):
        folded["required"] = needed
    return _both(rest, folded)


def _in_all(lists: list[list[object]]) -> list[object]:
    first, *others = lists
    return [each for each in first if all(each in other for other in others)]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: object) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    names = list_of(value)
    return bool(names) and all(isinstance(each, str) and each in _TYPES for each in names)


def _of_one_kind(values: object) -> bool:
    return is_texts(values) or all(map(_is_number, list_of(values)))


_PLAIN: Final[Mapping[str, _Judge]] = {
    "const": lambda _value: True,
    "default": lambda _value: True,
    "description": _is_text,
    "enum": lambda value: bool(list_of(value)),
    "exclusiveMaximum": _is_number,
    "exclusiveMinimum": _is_number,
    "format": _is_text,
    "maxItems": _is_count,
    "maxLength": _is_count,
    "maxProperties": _is_count,
    "maximum": _is_number,
    "minItems": _is_count,
    "minLength": _is_count,
    "minProperties": _is_count,
    "minimum": _is_number,
    "multipleOf": _is_number,
    "pattern": _is_text,
    "required": is_texts,
    "title": _is_text,
    "type": _is_type,
    "uniqueItems": lambda value: isinstance(value, bool),
}
