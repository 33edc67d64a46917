"""A form for a JSON Schema: a tree of fields, each of a kind that the page knows how to show.

What has no kind of its own, or is nested too deeply, or leads in a circle, is asked for as JSON.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import unquote

from mcpyard.domain.narrowing import is_array, list_of, mapping_of
from mcpyard.web.filters import pretty

DEEPEST: Final = 6
MOST_FIELDS: Final = 300

Schema = Mapping[str, object]

_FORMATS: Final = {
    "date": "date",
    "time": "time",
    "email": "email",
    "uri": "url",
    "color": "color",
    "password": "password",
}
_LONG_TEXT: Final = 500


@dataclass(frozen=True, slots=True)
class FormField:
    """One field of a form.

    Attributes:
        kind: `object`, `array`, `choice`, `enum`, `boolean`, `number`, `integer`, `text`,
            `long`, `const` or `json`.
        key: Its name in the object it belongs to.
        label: What to call it.
        description: What to say about it.
        required: Whether it must be given.
        default: What it begins with, as the page shows it.
        input: The type of the browser's own field.
        options: The values to choose from, each as JSON and as shown.
        children: The fields of an object, the ways of a choice, or the item of an array.
        items: The items that an array begins with.
    """

    kind: str
    key: str = ""
    label: str = ""
    description: str = ""
    required: bool = False
    default: str = ""
    input: str = "text"
    options: tuple[tuple[str, str], ...] = ()
    children: tuple["FormField", ...] = ()
    items: tuple["FormField", ...] = ()


def form_of(schema: object) -> FormField:
    """The form of a tool's arguments."""
    made = _Maker(mapping_of(schema)).node(mapping_of(schema), 0)
    whole = made if made.kind == "object" else FormField("json")
    # A schema's title is a name for programs; what the arguments are for the tool itself says.
    return replace(whole, label="", description="", required=whole.kind == "object")


def takes_nothing(schema: object) -> bool:
    """Whether a tool with this schema has no arguments that anybody could type."""
    members = mapping_of(schema)
    described = {"properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
    more = members.get("additionalProperties")
    return not any(members.get(key) for key in described) and not isinstance(more, Mapping)


class _Maker:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MOST_FIELDS

    def node(self, schema: Schema, depth: int) -> FormField:
        self._left -= 1
        if depth > DEEPEST or self._left < 0:
            return FormField("json")
        whole = self._resolved(schema)
        made = self._shape(whole, depth)
        default = whole.get("default")
        return replace(
            made,
            label=str(whole.get("title") or ""),
            description=str(whole.get("description") or ""),
            default=made.default or _shown_default(made.kind, default),
        )

    def _shape(self, schema: Schema, depth: int) -> FormField:
        if "const" in schema:
            return FormField("const", default=pretty(schema["const"]))
        if is_array(options := schema.get("enum")):
            return FormField("enum", options=_options(options, list_of(schema.get("enumNames"))))
        ways = _ways(schema)
        if len(ways) > 1 and all("const" in each for each in ways):
            values = [each["const"] for each in ways]
            titles = [each.get("title", each["const"]) for each in ways]
            return FormField("enum", options=_options(values, titles))
        if len(ways) == 1:
            return self.node(ways[0], depth + 1)
        if ways:
            return FormField("choice", children=tuple(self._way(each, depth) for each in ways))
        return self._typed(schema, depth)

    def _typed(self, schema: Schema, depth: int) -> FormField:
        kind = _type_of(schema)
        if kind == "object" and mapping_of(schema.get("properties")):
            return FormField("object", children=tuple(self._members(schema, depth)))
        if kind == "array" and isinstance(schema.get("items"), Mapping):
            return FormField("array", children=(self.node(mapping_of(schema["items"]), depth + 1),))
        if kind in {"boolean", "number", "integer"}:
            return FormField(kind, input="number" if kind != "boolean" else "text")
        return _text(schema) if kind == "string" else FormField("json")

    def _members(self, schema: Schema, depth: int) -> Iterable[FormField]:
        required = {*map(str, list_of(schema.get("required")))}
        for key, each in mapping_of(schema["properties"]).items():
            made = self.node(mapping_of(each), depth + 1)
            yield replace(made, key=key, label=made.label or key, required=key in required)

    def _way(self, schema: Schema, depth: int) -> FormField:
        made = self.node(schema, depth + 1)
        whole = self._resolved(schema)
        return replace(made, label=str(whole.get("title") or _type_of(whole) or made.kind))

    def _resolved(self, schema: Schema) -> Schema:
        """A schema with what it refers to; a circle ends in the depth it is walked to."""
        reference = schema.get("$ref")
        for _ in range(DEEPEST):
            if not isinstance(reference, str):
                break
            target = self._find(reference)
            schema = {**target, **{key: schema[key] for key in schema if key != "$ref"}}
            reference = target.get("$ref")
        return _joined(schema, map(mapping_of, list_of(schema.get("allOf"))))

    def _find(self, reference: str) -> Schema:
        node: object = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            node = mapping_of(node).get(key, {})
        return mapping_of(node)


def _ways(schema: Schema) -> list[Schema]:
    """The alternatives of a schema, without the one that says that nothing is given."""
    for word in ("oneOf", "anyOf"):
        alternatives = schema.get(word)
        if is_array(alternatives):
            ways = [mapping_of(each) for each in alternatives]
            return [each for each in ways if each.get("type") != "null"]
    return []


def _joined(schema: Schema, parts: Iterable[Schema]) -> Schema:
    joined = dict(schema)
    for part in parts:
        properties = {**mapping_of(joined.get("properties")), **mapping_of(part.get("properties"))}
        required = [*list_of(joined.get("required")), *list_of(part.get("required"))]
        joined = {**part, **joined, "properties": properties, "required": required}
    return joined


def _type_of(schema: Schema) -> str:
    named = schema.get("type")
    if is_array(named):
        named = next((each for each in named if each != "null"), "")
    if isinstance(named, str):
        return named
    return "object" if "properties" in schema else ""


def _text(schema: Schema) -> FormField:
    longest = schema.get("maxLength")
    is_long = isinstance(longest, int) and longest > _LONG_TEXT
    input_type = _FORMATS.get(str(schema.get("format")), "text")
    return FormField("long" if is_long else "text", input=input_type)


def _options(values: list[object], titles: list[object]) -> tuple[tuple[str, str], ...]:
    """The values to choose from, with the titles of those that have one."""
    named = [*titles, *values[len(titles) :]]
    return tuple(
        (pretty(value), title if isinstance(title, str) else pretty(title))
        for value, title in zip(values, named, strict=False)
    )


def _shown_default(kind: str, value: object) -> str:
    if value is None or kind in {"object", "array", "choice"}:
        return ""
    return value if isinstance(value, str) and kind in {"text", "long"} else pretty(value)
