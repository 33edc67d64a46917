"""Toolboxes for the tests of the adapters: tools that answer as told, without any server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.agent_tool import Tool

PICTURE = "iVBORw0KGgo="
SOUND = "UklGRg=="
PAPER = "JVBERi0="

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"place": {"type": "string", "description": "a path"}},
    "properties": {
        "path": {"$ref": "#/$defs/place"},
        "config": {"type": "string"},
        "lines": {"type": "integer", "exclusiveMinimum": 0},
    },
    "required": ["path"],
    "additionalProperties": False,
}

EVERYTHING: dict[str, Any] = {
    "content": [
        {"type": "text", "text": "words"},
        {"type": "image", "data": PICTURE, "mimeType": "image/png"},
        {"type": "audio", "data": SOUND, "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "file:///a.md", "text": "inner words"}},
        {
            "type": "resource",
            "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": PAPER},
        },
        {"type": "resource_link", "uri": "https://example.com/b", "name": "the link"},
        {"type": "hologram", "depth": 3},
    ],
    "structuredContent": {"answer": 42},
}

WORDS = (
    "words",
    "inner words",
    "file:///a.md",
    "https://example.com/b",
    "the link",
    "hologram",
    '"answer":42',
)
"""What of `EVERYTHING` every agent gets as words."""


def saying(text: str, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


@dataclass
class FakeTool:
    """A tool that answers as told, and remembers what it was asked."""

    result: Mapping[str, Any] = field(default_factory=lambda: saying("done"))
    fault: ErrorKind | None = None
    name: str = "mcp_fs_read_file"
    description: str = "Reads a file."
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)
    output_schema: Mapping[str, Any] | None = None
    calls: list[Mapping[str, object] | None] = field(default_factory=list)

    async def call(
        self,
        arguments: Mapping[str, object] | None,
        timeout: float | None,  # noqa: ASYNC109  the shape of the port
        progress: Progress | None,
    ) -> Outcome:
        del timeout, progress
        self.calls.append(arguments)
        if self.fault:
            return Outcome.failed(self.fault, "it went wrong", server="fs", tool="read_file")
        return Outcome(orjson.dumps(self.result), "fs", "read_file", 1.5)

    def tool(self) -> Tool:
        return Tool(
            self.name,
            self.description,
            self.schema,
            self.call,
            output_schema=self.output_schema,
            origin="fs",
            native="read_file",
        )

    def box(self) -> AgentToolbox:
        return AgentToolbox([self.tool()])


FAILING = [
    FakeTool(fault=ErrorKind.TIMEOUT),
    FakeTool(fault=ErrorKind.DISCONNECTED),
    FakeTool(saying("it went wrong", isError=True)),
]
