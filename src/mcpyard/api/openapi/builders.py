"""The words that operations and schemas are written with."""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.api.openapi.examples import ANSWERS, BODIES
from mcpyard.api.responses import JSON
from mcpyard.domain.narrowing import is_object, list_of

Json = dict[str, object]

Operations = Mapping[str, Json | list[Json]]
"""Operations by `METHOD path id`; by a path alone, further parameters of all its methods."""

ALWAYS: Final = (400, 401, 403, 421, 500)
"""Statuses that every guarded route can answer with."""

WITH_BODY: Final = (413, 415, 422)
"""Statuses that every route can answer with that reads a body."""

MERGE_PATCH: Final = "application/merge-patch+json"
_BRACES: Final = re.compile(r"\{(\w+)\}")
NULL: Final[Json] = {"type": "null"}


def ref(name: str) -> Json:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Json) -> Json:
    """A list of things."""
    return {"type": "array", "items": items}


def text(description: str = "", **more: object) -> Json:
    """A string."""
    return {"type": "string", **({"description": description} if description else {}), **more}


def maybe(schema: Json) -> Json:
    """A thing, or null."""
    return {"anyOf": [schema, NULL]}


def members(required: Mapping[str, Json], optional: Mapping[str, Json] | None = None) -> Json:
    """An object with these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": [*required],
        "additionalProperties": False,
    }


def named(values: Json) -> Json:
    """An object that holds any number of things by name."""
    return {"type": "object", "additionalProperties": values}


def answer(description: str, content: Json, status: int = 200, **more: object) -> Json:
    """An answer by its status, in kinds of content."""
    return {str(status): {"description": description, "content": content, **more}}


def one(name: str, description: str, status: int = 200, **more: object) -> Json:
    """An answer with the thing of that name, and its example."""
    content = {"schema": ref(name), "example": ANSWERS[name]}
    return answer(description, {JSON: content}, status, **more)


def many(name: str, description: str, **more: object) -> Json:
    """An answer with a list of such things."""
    content = {"schema": array(ref(name)), "example": [ANSWERS[name]]}
    return answer(description, {JSON: content}, 200, **more)


def nothing(description: str = "Done.", status: int = 204) -> Json:
    """An answer without a body."""
    return {str(status): {"description": description}}


def written(kind: str, description: str, status: int = 200, **example: str) -> Json:
    """An answer in text of a kind."""
    return answer(description, {kind: {"schema": text(), **example}}, status)


def body(name: str, *, patch: bool = False, required: bool = True) -> Json:
    """A body that is read, with its examples."""
    examples = {key: {"value": value} for key, value in BODIES[name].items()}
    kinds = (JSON, MERGE_PATCH) if patch else (JSON,)
    content = {kind: {"schema": ref(name), "examples": examples} for kind in kinds}
    return {"required": required, "content": content}


def query(name: str, description: str, **schema: object) -> Json:
    """A parameter of the query; a string where nothing else is said."""
    return {"name": name, "in": "query", "description": description, "schema": text() | schema}


def header(name: str, description: str) -> Json:
    """A header that is read."""
    return {**query(name, description), "in": "header"}


def shared(*names: str) -> list[Json]:
    """Shared parameters by their names."""
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]


def operation(summary: str, answers: Json, *problems: int, **more: object) -> Json:
    """What one method of one path does; `problems` are its own, besides those of every route."""
    read = WITH_BODY if "requestBody" in more else ()
    return public(summary, answers, *problems, *ALWAYS, *read, **more)


def public(summary: str, answers: Json, *problems: int, **more: object) -> Json:
    """The same of a route that is not guarded: it has no problems but its own."""
    refused = {str(each): {"$ref": f"#/components/responses/Problem{each}"} for each in problems}
    responses = dict(sorted((refused | answers).items()))
    return {"summary": summary, "responses": responses, **more}


def paths(tag: str, operations: Operations) -> Json:
    """The paths of a tag's operations, each with the parameters that its braces name."""
    items: dict[str, Json] = {}
    for key, part in operations.items():
        if is_object(part):
            method, path, identity = key.split()
            named_parts = {"operationId": identity, "tags": [tag], **part}
            items.setdefault(path, {})[method.lower()] = named_parts
    for path, item in items.items():
        if parameters := [*shared(*_BRACES.findall(path)), *list_of(operations.get(path))]:
            item["parameters"] = parameters
    return {**items}
