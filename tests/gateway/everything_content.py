"""What the fixture server holds: its resources, its prompts, and results that never change."""

import json
from typing import Any

import mcp_types as types

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQ"
    "DwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="

Json = dict[str, Any]


def text(value: str) -> types.TextContent:
    return types.TextContent(text=value)


IMAGE = types.ImageContent(data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, body: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=body)
    return types.EmbeddedResource(resource=contents)


FIXED: dict[str, list[types.ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [types.AudioContent(data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded(
            "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
        ),
    ],
}

RESOURCES = [
    types.Resource(
        uri="test://static-text", name="static text", description="A text", mime_type="text/plain"
    ),
    types.Resource(
        uri="test://static-binary", name="static binary", description="A dot", mime_type="image/png"
    ),
    types.Resource(
        uri="test://watched-resource",
        name="watched",
        description="Changes when told to",
        mime_type="text/plain",
    ),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template="test://template/{id}/data",
        name="template",
        description="Data by id",
        mime_type="application/json",
    )
]


def read_resource(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    if uri == "test://static-text":
        body = "This is the content of the static text resource."
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=body)
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri == "test://watched-resource":
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text="watched")
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        body = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        return types.TextResourceContents(
            uri=uri, mime_type="application/json", text=json.dumps(body)
        )
    return None


def _argument(name: str) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=f"The {name}", required=True)


PROMPTS = [
    types.Prompt(name="test_simple_prompt", description="A simple prompt"),
    types.Prompt(
        name="test_prompt_with_arguments",
        description="A prompt with arguments",
        arguments=[_argument("arg1"), _argument("arg2")],
    ),
    types.Prompt(
        name="test_prompt_with_embedded_resource",
        description="A prompt with a resource",
        arguments=[_argument("resourceUri")],
    ),
    types.Prompt(name="test_prompt_with_image", description="A prompt with an image"),
    types.Prompt(name="test_input_required_result_prompt", description="A prompt that asks"),
]


def prompt_messages(name: str, args: dict[str, str]) -> list[types.ContentBlock]:
    if name == "test_simple_prompt":
        return [text("This is a simple prompt for testing.")]
    if name == "test_prompt_with_arguments":
        line = f"Prompt with arguments: arg1='{args['arg1']}', arg2='{args['arg2']}'"
        return [text(line)]
    if name == "test_prompt_with_embedded_resource":
        resource = embedded(
            args["resourceUri"], "text/plain", "Embedded resource content for testing."
        )
        return [resource, text("Please process the embedded resource above.")]
    return [IMAGE, text("Please analyze the image above.")]


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties]}


STRING: Json = {"type": "string"}
NAME_FORM = _object(name=STRING)
USER_FORM = _object(
    username={"type": "string", "description": "User's response"},
    email={"type": "string", "description": "User's email address"},
)
DEFAULTS_FORM: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_OPTIONS = ["option1", "option2", "option3"]
_TITLED = [
    {"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"},
    {"const": "value3", "title": "Third Option"},
]
ENUMS_FORM: Json = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}

NOTHING: Json = {"type": "object", "properties": {}}
SCHEMAS: dict[str, Json] = {
    **dict.fromkeys(FIXED, NOTHING),
    "test_sampling": _object(prompt=STRING),
    "test_elicitation": _object(message=STRING),
    "waits": _object(tag=STRING),
    "cancelled": _object(tag=STRING),
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": STRING, "city": STRING},
            }
        },
        "properties": {
            "name": STRING,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": STRING,
            "email": STRING,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {
            "properties": {"contactMethod": {"const": "phone"}},
            "required": ["contactMethod"],
        },
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_headers": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}
