"""What a function of the application takes and gives, as schemas; from its annotations."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, NotRequired, Required, cast, get_type_hints

from pydantic import ConfigDict, Field, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from mcpyard.domain.errors import DefinitionError, Problem

Function = Callable[..., object]
Schema = Mapping[str, object]

_BY_NAME: Final = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
}


class _Plain(GenerateJsonSchema):
    """Schemas without made-up titles: they cost tokens and tell nothing."""

    def field_title_should_be_set(self, schema: CoreSchema | Any) -> bool:  # noqa: ANN401  as its base
        """Never."""
        del schema
        return False


def arguments_of(function: Function, name: str) -> TypeAdapter[Any]:
    """What checks the arguments of a function, all given by name.

    Raises:
        DefinitionError: A parameter cannot be described; names it.
    """
    hints = _hints(function, name)
    fields: dict[str, Any] = {}
    config = ConfigDict(extra="forbid")
    for each in inspect.signature(function).parameters.values():
        if each.kind not in _BY_NAME:
            raise _refused(name, each.name, "cannot be given by name")
        if each.kind is inspect.Parameter.VAR_KEYWORD:
            config = ConfigDict(extra="allow")
        else:
            fields[each.name] = _field(each, hints.get(each.name, Any), name)
    shape = cast("Any", TypedDict)(name, fields)
    shape.__pydantic_config__ = config
    return TypeAdapter(shape)


def input_schema(arguments: TypeAdapter[Any], described: Mapping[str, str] | None = None) -> Schema:
    """The schema of the arguments; what their annotations do not describe is taken from here."""
    schema = _untitled({"properties": {}, **arguments.json_schema(schema_generator=_Plain)})
    for name, member in schema["properties"].items():
        if (text := (described or {}).get(name)) and "description" not in member:
            member["description"] = text
    return schema


def output_schema(function: Function) -> Schema | None:
    """The schema of what a function gives, where that is an object and can be described."""
    hint = _hints(function, "").get("return", Any)
    try:
        schema = TypeAdapter(hint).json_schema(mode="serialization", schema_generator=_Plain)
    except (PydanticUserError, PydanticSchemaGenerationError):
        return None
    return _untitled(schema) if schema.get("type") == "object" else None


def _field(parameter: inspect.Parameter, hint: object, name: str) -> object:
    annotation: Any = hint
    try:
        TypeAdapter(annotation)
    except (PydanticUserError, PydanticSchemaGenerationError):
        raise _refused(name, parameter.name, f"{annotation} cannot be described as JSON") from None
    if parameter.default is inspect.Parameter.empty:
        return Required[annotation]
    return NotRequired[Annotated[annotation, Field(json_schema_extra=_default(parameter.default))]]


def _default(value: object) -> dict[str, Any] | None:
    # Only for reading: what is left out is left to the function itself.
    return {"default": value} if isinstance(value, str | int | float | bool) else None


def _hints(function: Function, name: str) -> dict[str, Any]:
    # A callable object keeps its hints on the method.
    target = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError) as error:
        if not name:
            return {}
        raise _refused(name, "annotations", f"cannot be read: {error}") from None


def _untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "title"}


def _refused(name: str, parameter: str, fault: str) -> DefinitionError:
    return DefinitionError.of(Problem(f"{name}.{parameter}", fault))
