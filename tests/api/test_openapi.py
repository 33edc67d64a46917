"""The document says what there is: every route, every method, and examples that fit."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from mcpyard.api.openapi.document import document
from mcpyard.api.rest import door_routes, routes
from mcpyard.domain.edges import EDGES
from tests.api.fake_yard import faked

METHODS = {"get", "post", "patch", "delete", "put"}
DOCUMENT: Any = document()


def documented() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in DOCUMENT["paths"].items():
        for method in sorted(item.keys() & METHODS):
            yield method.upper(), path, item[method]


def resolved(node: Any) -> Any:  # noqa: ANN401  any JSON
    if "$ref" not in node:
        return node
    value = DOCUMENT
    for part in node["$ref"].removeprefix("#/").split("/"):
        value = value[part]
    return value


@pytest.mark.real
async def test_every_route_is_documented_and_nothing_else_is(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        there = {
            (method, route.path)
            for route in [*routes(it.yard, asyncio.Event()), *door_routes(it.yard, it.keys)]
            for method in (route.methods or set()) - {"HEAD"}
        }
    operations = {(method, path) for method, path, _ in documented()}
    assert there - operations == set(), "not documented"
    assert operations - there == set(), "documented, but not there"


def test_operations_have_names_and_words_of_their_own() -> None:
    identities = [operation["operationId"] for _, _, operation in documented()]
    assert len({*identities}) == len(identities)
    tags = {each["name"] for each in DOCUMENT["tags"]}
    for _, path, operation in documented():
        assert operation["summary"].endswith("."), path
        assert {*operation["tags"]} <= tags, path


def test_every_part_of_a_path_is_a_parameter() -> None:
    for _, path, operation in documented():
        parameters = [
            *DOCUMENT["paths"][path].get("parameters", []),
            *operation.get("parameters", []),
        ]
        named = {each["name"] for each in map(resolved, parameters) if each["in"] == "path"}
        assert named == {*re.findall(r"\{(\w+)\}", path)}, path


def test_every_reference_leads_somewhere_and_every_part_is_referred_to() -> None:
    text = str(DOCUMENT)
    referred = {*re.findall(r"'#/components/(\w+/\w+)'", text)}
    there = {
        f"{kind}/{name}"
        for kind, parts in DOCUMENT["components"].items()
        if kind != "securitySchemes"
        for name in parts
    }
    # No operation has it: it is for those that there are none of.
    assert referred == there - {"responses/Problem405"}


def test_every_error_status_has_its_answer() -> None:
    answers = DOCUMENT["components"]["responses"]
    for edge in EDGES.values():
        assert f"`{edge.problem}`" in answers[f"Problem{edge.status}"]["description"]


def examples() -> Iterator[tuple[str, dict[str, Any], object]]:
    for _, path, operation in documented():
        for status, response in operation["responses"].items():
            for kind, media in resolved(response).get("content", {}).items():
                if "example" in media:
                    yield f"{path} {status} {kind}", media["schema"], media["example"]
        for media in operation.get("requestBody", {}).get("content", {}).values():
            for name, example in media["examples"].items():
                yield f"{path} {name}", media["schema"], example["value"]


@pytest.mark.parametrize(
    ("schema", "example"),
    [pytest.param(schema, example, id=name) for name, schema, example in examples()],
)
def test_every_example_fits_its_schema(schema: dict[str, Any], example: object) -> None:
    whole = {**schema, "components": DOCUMENT["components"]}
    jsonschema_rs.Draft202012Validator(whole).validate(example)


def test_every_event_of_the_stream_is_named() -> None:
    page = (Path(__file__).parents[2] / "docs" / "watching.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| .* \| (?:all|`/api/events`) \|$", page, re.MULTILINE)
    description = DOCUMENT["paths"]["/api/events"]["get"]["responses"]["200"]["description"]
    assert rows
    assert [each for each in rows if f"`{each}`" not in description] == []


def test_the_schemas_are_schemas() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema_rs.meta.validate(
            {**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"}
        )


@pytest.mark.real
async def test_the_document_is_served(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        served = await it.client.get("/api/openapi.json")
        assert served.headers["content-type"] == "application/json"
        assert served.json() == DOCUMENT
