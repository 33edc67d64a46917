"""A schema cut into parts, in which a union is only checked and its branches are not explained.

The validator explains a union by all errors of all branches, and those of the unions in them: with
25 branches and a wrong value five levels down that is ten million errors. In an outline a union
stands behind two negations, for which the validator says yes or no and builds one error.

Every part has a number, and one compiled schema explains each: part 7 is its property "part7".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from string import digits
from typing import Final, TypeAlias

from mcpyard.catalog.pointers import is_pointer, resolve
from mcpyard.catalog.subschemas import (
    LISTS,
    MAPS,
    SINGLES,
    UNEVALUATED,
    UNIONS,
    Schema,
)
from mcpyard.catalog.walks import objects, references, references_of
from mcpyard.domain.narrowing import is_array, is_object, is_sequence, list_of, object_of

Path: TypeAlias = tuple[str | int, ...]
Step: TypeAlias = tuple[int, object, Path]

_MAX_PARTS: Final = 1_000
# Applied only to see whether they fit; what is wrong inside of them is nobody's concern.
_ONLY_CHECKED: Final = frozenset({"contains", "if", "not", "propertyNames"})
_DROPPED: Final = frozenset(
    {
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$id",
        "$recursiveAnchor",
        "$schema",
        "definitions",
        "id",
    }
)
_HOLDING: Final = SINGLES | LISTS | MAPS | {"$ref"}
_WHOLE: Final = "whole"
_CHECK: Final = "check"
_NAMING: Final = ("$anchor", "$dynamicAnchor", "$id")


@dataclass(slots=True)
class Outline:
    """The parts of a schema by their numbers, and the schema that explains each."""

    root: Schema
    parts: list[Schema] = field(default_factory=list[Schema])
    rests: list[Schema] = field(default_factory=list[Schema])
    document: Schema = field(default_factory=dict[str, object])
    _numbers: dict[int, int] = field(default_factory=dict[int, int])

    def number_of(self, part: object) -> int:
        """The number of a part; a new one gets the next number."""
        while object_of(part).keys() == {"$ref"}:
            part = resolve(self.root, str(object_of(part)["$ref"]))
        number = self._numbers.setdefault(id(part), len(self.parts))
        if number == len(self.parts):
            self.parts.append(object_of(part))
        return number

    def branches(self, number: int, keyword: str) -> list[object]:
        """The branches of a union."""
        return list_of(self.parts[number].get(keyword))

    def steps(self, number: int, value: object) -> Iterator[Step]:
        """What of a part applies to a value by itself, whatever else the part says."""
        part = self.parts[number]
        if "$ref" in part:
            yield self.number_of(resolve(self.root, str(part["$ref"]))), value, ()
            if self._refers_alone():
                return
        for each in list_of(part.get("allOf")):
            if not _is_leaf(each):
                yield self.number_of(each), value, ()
        properties, members = object_of(part.get("properties")), object_of(value)
        for name in (name for name in members if not _is_leaf(properties.get(name))):
            yield self.number_of(properties[name]), members[name], (name,)
        if _has_plain_items(part) and is_sequence(value):
            number = self.number_of(part["items"])
            for index, item in enumerate(value):
                yield number, item, (index,)

    def _rest(self, part: Schema) -> Schema:
        """A part without what `steps` yields of it."""
        if "$ref" in part and self._refers_alone():
            return {}
        dropped = {"$ref", "allOf", *(["items"] if _has_plain_items(part) else [])}
        rest = {keyword: value for keyword, value in part.items() if keyword not in dropped}
        if "properties" in part:
            # The names are needed to know which properties are additional.
            properties = object_of(part["properties"])
            rest["properties"] = {
                name: each if _is_leaf(each) else True for name, each in properties.items()
            }
        if leaves := [each for each in list_of(part.get("allOf")) if _is_leaf(each)]:
            rest["allOf"] = leaves
        return rest

    def _refers_alone(self) -> bool:
        """Whether the draft is one that ignores what stands beside a reference."""
        return "/draft-0" in str(self.root.get("$schema"))

    def is_opaque(self, number: int) -> bool:
        """Whether a part cannot be explained without its unions."""
        # What a branch evaluates is known only where the union is not behind a negation.
        return any(keyword in self.parts[number] for keyword in UNEVALUATED)

    def write(self) -> bool:
        """Write the document; not when it has too many parts."""
        definitions: Schema = {}
        self.number_of(self.root)
        for number, part in enumerate(self.parts):
            definitions[f"{_WHOLE}{number}"] = self._copy(part, _WHOLE)
            definitions[f"part{number}"] = self._outlined(number, part)
            self.rests.append(self._rest(part))
            definitions[f"rest{number}"] = self._outlined(number, self.rests[number])
            for keyword in set(UNIONS).intersection(part):
                definitions[f"{keyword}{number}"] = self._union(part, keyword, "part")
                check = {"not": {"not": self._union(part, keyword, _WHOLE)}}
                definitions[f"{_CHECK}{keyword}{number}"] = check
            if len(self.parts) > _MAX_PARTS:
                return False
        names = [name for name in definitions if not name.startswith((_WHOLE, _CHECK))]
        properties = {name: {"$ref": f"#/$defs/{name}"} for name in names}
        self.document.update({"properties": properties, "$defs": definitions})
        return True

    def _outlined(self, number: int, part: Schema) -> Schema:
        if self.is_opaque(number):
            return {"not": {"not": {"$ref": f"#/$defs/{_WHOLE}{number}"}}}
        outlined = self._copy({k: v for k, v in part.items() if k not in UNIONS}, "part")
        checks = [{"$ref": f"#/$defs/{_CHECK}{each}{number}"} for each in UNIONS if each in part]
        if checks:
            outlined["allOf"] = [*list_of(outlined.get("allOf")), *checks]
        return outlined

    def _union(self, part: Schema, keyword: str, kind: str) -> Schema:
        return {keyword: self._value(keyword, part[keyword], kind)}

    def _copy(self, part: Schema, kind: str) -> Schema:
        return {
            keyword: self._value(keyword, value, _WHOLE if keyword in _ONLY_CHECKED else kind)
            for keyword, value in part.items()
            if keyword not in _DROPPED
        }

    def _value(self, keyword: str, value: object, kind: str) -> object:
        if keyword == "$ref":
            return f"#/$defs/{kind}{self.number_of(resolve(self.root, str(value)))}"
        if keyword == "not" and not any(references(value)):
            return value  # Shown as it is written.
        if keyword in SINGLES and is_object(value):
            return self._reference(value, kind)
        if keyword in LISTS and is_array(value):
            return [self._inline(each, kind) for each in value]
        if keyword in MAPS:
            return {name: self._inline(each, kind) for name, each in object_of(value).items()}
        return value

    def _inline(self, part: object, kind: str) -> object:
        return part if _is_leaf(part) else self._reference(part, kind)

    def _reference(self, part: object, kind: str) -> object:
        return {"$ref": f"#/$defs/{kind}{self.number_of(part)}"}


def outline_of(schema: object) -> Outline | None:
    """The outline of a schema; None where it refers by names, or has too many parts."""
    if not is_object(schema) or not _is_plain(schema):
        return None
    outline = Outline(schema)
    return outline if outline.write() else None


def checked_union(definition: str) -> str | None:
    """The keyword of the union that a definition only checks; None where it is another."""
    keyword = definition.removeprefix(_CHECK).rstrip(digits)
    return keyword if keyword in UNIONS and definition.startswith(_CHECK) else None


def is_checked_union(path: Sequence[str | int]) -> bool:
    """Whether a path in an outline leads to a union that is only checked."""
    return path[:1] == ["$defs"] and checked_union(str(path[1])) is not None


def refers_to_a_part(schema: object) -> bool:
    """Whether a piece of an outline refers to another, by a name that nobody else knows."""
    return any(reference.startswith(f"#/$defs/{_WHOLE}") for reference in references(schema))


def _is_leaf(part: object) -> bool:
    """Whether a schema holds no others, so that it needs no number."""
    return _HOLDING.isdisjoint(object_of(part))


def _has_plain_items(part: Schema) -> bool:
    return isinstance(part.get("items"), dict) and "prefixItems" not in part


def _is_plain(schema: Schema) -> bool:
    """Whether all that it refers to can be found by following pointers."""
    for node in objects(schema):
        if node is not schema and any(isinstance(node.get(name), str) for name in _NAMING):
            return False
        for reference in references_of(node):
            # A reference may also be to a schema that is merely true or false, or to none.
            if reference != node.get("$ref") or not is_pointer(reference):
                return False
            if not isinstance(resolve(schema, reference), dict):
                return False
    return True
