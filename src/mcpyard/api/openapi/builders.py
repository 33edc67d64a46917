"""The words that operations are written with."""

from collections.abc import Iterable, Mapping
from typing import Final

from mcpyard.api.responses import JSON, PROBLEM

Json = dict[str, object]

ALWAYS: Final = (400, 401, 403, 421, 500)
"""Statuses that every guarded route can answer with."""

WITH_BODY: Final = (413, 415, 422)
"""Statuses that every route can answer with that reads a body."""

MERGE_PATCH: Final = "application/merge-patch+json"


def ref(name: str) -> Json:
    """A schema by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def array(items: Json) -> Json:
    """A list of things."""
    return {"type": "array", "items": items}


def text(description: str = "", **more: object) -> Json:
    """A string."""
    return {"type": "string", **_described(description), **more}


def maybe(schema: Json) -> Json:
    """A thing, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


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


def response(description: str, schema: Json, example: object = None, **more: object) -> Json:
    """An answer in JSON."""
    content: Json = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {"description": description, "content": {JSON: content}, **more}


def body(schema: Json, examples: Mapping[str, object], *, patch: bool = False) -> Json:
    """A body that is read."""
    values = {name: {"value": value} for name, value in examples.items()}
    content = {"schema": schema, "examples": values}
    kinds = (JSON, MERGE_PATCH) if patch else (JSON,)
    return {"required": True, "content": dict.fromkeys(kinds, content)}


def query(name: str, description: str, schema: Json) -> Json:
    """A parameter of the query."""
    return {"name": name, "in": "query", "description": description, "schema": schema}


def header(name: str, description: str, schema: Json) -> Json:
    """A header that is read."""
    return {"name": name, "in": "header", "description": description, "schema": schema}


def parameter(name: str) -> Json:
    """A shared parameter by its name."""
    return {"$ref": f"#/components/parameters/{name}"}


def operation(
    identity: str,
    summary: str,
    answers: Mapping[int, Json],
    problems: Iterable[int] = (),
    **more: object,
) -> Json:
    """One method of one path.

    Args:
        identity: The operation's id.
        summary: What it does, in a sentence.
        answers: What it answers when all is well.
        problems: The statuses of its own problems, besides those that every route has.
        more: Members taken over as they are.
    """
    statuses = {*problems, *ALWAYS, *(WITH_BODY if "requestBody" in more else ())}
    refused = {
        str(status): {"$ref": f"#/components/responses/Problem{status}"}
        for status in sorted(statuses)
    }
    good = {str(status): response for status, response in answers.items()}
    return {"operationId": identity, "summary": summary, "responses": good | refused, **more}


def problem_answer(description: str, example: object) -> Json:
    """An answer that is a problem."""
    content = {PROBLEM: {"schema": ref("Problem"), "example": example}}
    return {"description": description, "content": content}


def _described(description: str) -> Json:
    return {"description": description} if description else {}
