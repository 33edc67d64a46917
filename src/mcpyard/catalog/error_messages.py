"""What is wrong with a value, told in sentences.

The validator names the broken keyword and the place; the words are ours, since its own messages
show whole values, secrets included.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from mcpyard.catalog.outline import is_checked_union, refers_to_a_part
from mcpyard.catalog.showing import (
    as_json,
    child_of,
    counted,
    field_of,
    is_secret,
    shorten,
    show,
    show_with_type,
    value_at,
)
from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import is_object

_MAX_OPTIONS: Final = 10
_MAX_ALTERNATIVES: Final = 3
_MAX_CANDIDATES: Final = 100

_ADDITIONAL: Final = "additionalProperties"
_ARTICLES: Final = {
    "array": "an array",
    "integer": "an integer",
    "null": "null",
    "object": "an object",
}
_ALTERNATIVES: Final = (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid)


@dataclass(frozen=True, slots=True)
class PathBase:
    """Where the paths of errors start, when not the whole value was checked.

    The first steps of an error's path that are skipped do not belong to the value.
    """

    path: tuple[str | int, ...] = ()
    skipped: int = 0

    def path_to(self, error: ValidationError) -> list[str | int]:
        """The place in the whole value that an error is about."""
        return [*self.path, *error.instance_path[self.skipped :]]


_WHOLE: Final = PathBase()


@dataclass(frozen=True, slots=True)
class _Finding:
    """One error of the validator, with what a sentence needs of it."""

    error: ValidationError
    root: object
    value: Any
    secret: bool
    base: PathBase

    @property
    def value_text(self) -> str:
        return show(self.error.instance, secret=self.secret)

    @property
    def keyword(self) -> str:
        path = self.error.schema_path
        return str(path[-1]) if path else ""


def problems_of(
    error: ValidationError, root: object, schema: object, base: PathBase = _WHOLE
) -> Iterator[Problem]:
    """The problems of one error of the validator: one, or one for each unknown property.

    The value and the schema are the whole ones; the paths of the error start at the base.
    """
    field = field_of(base.path_to(error), root)
    unknown = _unknown_properties(error, root, base)
    properties = _known_properties(error, schema) if unknown else []
    for name in unknown:
        yield Problem(field, _unknown(name, properties))
    if not unknown:
        yield Problem(field, _sentence(_finding(error, root, base)))


def problem_count(error: ValidationError, root: object, base: PathBase = _WHOLE) -> int:
    """How many problems an error stands for."""
    return len(_unknown_properties(error, root, base)) or 1


def _finding(error: ValidationError, root: object, base: PathBase = _WHOLE) -> _Finding:
    secret = is_secret(base.path_to(error))
    return _Finding(error, root, error.kind.value, secret, base)


def _sentence(finding: _Finding) -> str:
    kind = type(finding.error.kind)
    if template := _TEMPLATES.get(kind):
        return template.format(shown=finding.value_text, value=as_json(finding.value))
    if teller := _TELLERS.get(kind):
        return teller(finding)
    return f"{finding.value_text} breaks {as_json(finding.error.kind.name)}"


def _unknown_properties(error: ValidationError, root: object, base: PathBase) -> list[str]:
    match error.kind:
        case ValidationErrorKind.AdditionalProperties(
            unexpected
        ) | ValidationErrorKind.UnevaluatedProperties(unexpected):
            return unexpected
        case ValidationErrorKind.FalseSchema() if error.schema_path[-1:] == [_ADDITIONAL]:
            # An object that may have no properties at all is reported without their names.
            return _names(value_at(base.path_to(error), root))
        case _:
            return []


def _known_properties(error: ValidationError, schema: object) -> list[str]:
    # The path starts at an embedded `$id` when there is one, and then leads astray here.
    root = schema if error.absolute_keyword_location is None else None
    return _names(child_of(value_at(error.schema_path[:-1], root), "properties"))


def _names(value: object) -> list[str]:
    return list(value) if is_object(value) else []


def _unknown(name: str, properties: Sequence[str]) -> str:
    sentence = f"unknown property {as_json(name)}"
    close = get_close_matches(shorten(name), properties[:_MAX_CANDIDATES], n=1)
    return f"{sentence}; did you mean {as_json(close[0])}?" if close else sentence


def _type(finding: _Finding) -> str:
    return _wrong_type(finding.value, finding)


def _wrong_type(types: Sequence[str], finding: _Finding) -> str:
    expected = " or ".join(_ARTICLES.get(name, f"a {name}") for name in types)
    actual = show_with_type(finding.error.instance, secret=finding.secret)
    return f"expected {expected}, found {actual}"


def _enum(finding: _Finding) -> str:
    options: list[object] = finding.value
    listed = ", ".join(as_json(option) for option in options[:_MAX_OPTIONS])
    rest = len(options) - _MAX_OPTIONS
    more = f" and {rest} more" if rest > 0 else ""
    return f"{finding.value_text} is not one of {listed}{more}"


def _required(finding: _Finding) -> str:
    name = as_json(finding.value)
    if finding.keyword == "required":
        return f"the required property {name} is missing"
    return f"the property {name} is missing, but another property requires it"


def _compared(words: str, noun: str) -> Callable[[_Finding], str]:
    return lambda finding: f"{finding.value_text} {words} {counted(finding.value, noun)}"


def _contains(finding: _Finding) -> str:
    amounts = {"minContains": "too few items match", "maxContains": "too many items match"}
    return f"{amounts.get(finding.keyword, 'no item matches')} what the array must contain"


def _nothing_allowed(finding: _Finding) -> str:
    thing = "property" if finding.keyword == "propertyNames" else "value"
    return f"no {thing} is allowed here"


def _property_name(finding: _Finding) -> str:
    inner: ValidationError = finding.value
    return f"the property name {_sentence(_finding(inner, inner.instance))}"


def _more_items(finding: _Finding) -> str:
    unexpected: list[str] = finding.value
    return f"{counted(len(unexpected), 'item')} more than the schema describes"


def _several(finding: _Finding) -> str:
    text = finding.value_text
    return f"{text} matches more than one of the alternatives, but must match exactly one"


def _excluded(finding: _Finding) -> str:
    if refers_to_a_part(finding.value):
        return f"{finding.value_text} does not match the schema"
    return f"{finding.value_text} fits {as_json(finding.value)}, which is excluded"


def _no_alternative(finding: _Finding) -> str:
    branches: list[list[ValidationError]] = finding.value
    if types := _only_types(branches, finding.error):
        return _wrong_type(types, finding)
    first = islice((branch[0] for branch in branches if branch), _MAX_ALTERNATIVES)
    sentences = [_alternative(error, finding) for error in first]
    rest = len(branches) - len(sentences)
    more = f"; and {rest} more" if rest else ""
    return f"{finding.value_text} matches no alternative: {'; or '.join(sentences)}{more}"


def _only_types(branches: list[list[ValidationError]], outer: ValidationError) -> list[str]:
    """The types the alternatives want, when nothing but the type is wrong in each."""
    expected: dict[str, None] = {}
    for branch in branches:
        for error in branch:
            match error.kind:
                case ValidationErrorKind.Type(types) if error.instance_path == outer.instance_path:
                    expected.update(dict.fromkeys(types))
                case _:
                    return []
    return list(expected)


def _alternative(error: ValidationError, outer: _Finding) -> str:
    # Alternatives inside alternatives are not told: the sentence would grow with each level.
    if isinstance(error.kind, _ALTERNATIVES) or is_checked_union(error.schema_path):
        return "another combination of alternatives"
    place = error.instance_path[len(outer.error.instance_path) :]
    unknown = _unknown_properties(error, outer.root, outer.base)
    finding = _finding(error, outer.root, outer.base)
    message = _unknown(unknown[0], []) if unknown else _sentence(finding)
    return str(Problem(field_of(place, outer.error.instance), message))


_TEMPLATES: Final[dict[type[ValidationErrorKind], str]] = {
    ValidationErrorKind.Constant: "{shown} is not {value}, the only value allowed",
    ValidationErrorKind.ContentEncoding: "{shown} is not encoded as {value}",
    ValidationErrorKind.ContentMediaType: "{shown} is not of the media type {value}",
    ValidationErrorKind.ExclusiveMaximum: "{shown} is not below {value}",
    ValidationErrorKind.ExclusiveMinimum: "{shown} is not above {value}",
    ValidationErrorKind.Format: "{shown} does not have the format {value}",
    ValidationErrorKind.FromUtf8: "{shown} is not UTF-8 when decoded",
    ValidationErrorKind.Maximum: "{shown} is above the maximum {value}",
    ValidationErrorKind.Minimum: "{shown} is below the minimum {value}",
    ValidationErrorKind.MultipleOf: "{shown} is not a multiple of {value}",
    ValidationErrorKind.Pattern: "{shown} does not match the pattern {value}",
    ValidationErrorKind.UniqueItems: "{shown} contains the same item twice",
}

_TELLERS: Final[dict[type[ValidationErrorKind], Callable[[_Finding], str]]] = {
    ValidationErrorKind.AdditionalItems: _compared("has more than", "item"),
    ValidationErrorKind.AnyOf: _no_alternative,
    ValidationErrorKind.Contains: _contains,
    ValidationErrorKind.Enum: _enum,
    ValidationErrorKind.FalseSchema: _nothing_allowed,
    ValidationErrorKind.Not: _excluded,
    ValidationErrorKind.MaxItems: _compared("has more than", "item"),
    ValidationErrorKind.MaxLength: _compared("is longer than", "character"),
    ValidationErrorKind.MaxProperties: _compared("has more than", "property"),
    ValidationErrorKind.MinItems: _compared("has fewer than", "item"),
    ValidationErrorKind.MinLength: _compared("is shorter than", "character"),
    ValidationErrorKind.MinProperties: _compared("has fewer than", "property"),
    ValidationErrorKind.OneOfMultipleValid: _several,
    ValidationErrorKind.OneOfNotValid: _no_alternative,
    ValidationErrorKind.PropertyNames: _property_name,
    ValidationErrorKind.Required: _required,
    ValidationErrorKind.Type: _type,
    ValidationErrorKind.UnevaluatedItems: _more_items,
}
