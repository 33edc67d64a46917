"""What it costs to hand 5,000 tools to an agent: `python -m bench.adapters`."""

import gc
import os
import time
from collections.abc import Callable, Mapping

from bench.measuring import Figures
from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool

TOOLS = 5_000
ROUNDS = 7
LIMIT_SECONDS = 0.5

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "$defs": {
        "label": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 50}},
            "required": ["name"],
        }
    },
    "properties": {
        "owner": {"type": "string", "minLength": 1, "description": "Whose repository it is."},
        "title": {"type": "string", "description": "One line."},
        "body": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "state": {"enum": ["open", "closed", "draft"]},
        "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}, "maxItems": 20},
        "priority": {"type": "integer", "exclusiveMinimum": 0},
    },
    "required": ["owner", "title"],
    "additionalProperties": False,
}


async def answer(
    arguments: Mapping[str, object] | None,
    timeout: float | None,  # noqa: ASYNC109  the shape of the port
    progress: Progress | None,
) -> Outcome:
    raise NotImplementedError


def boxed() -> AgentToolbox:
    """A toolbox that nothing was asked of yet."""
    return AgentToolbox(
        Tool(f"mcp_server_tool_{number}", "Opens an issue. " * 20, SCHEMA, answer)
        for number in range(TOOLS)
    )


def seconds(convert: Callable[[AgentToolbox], object]) -> float:
    box = boxed()
    gc.collect()
    began = time.perf_counter()
    convert(box)
    return time.perf_counter() - began


def main() -> None:
    os.environ["COPILOT_SKIP_CLI_DOWNLOAD"] = "1"
    ways: dict[str, Callable[[AgentToolbox], object]] = {
        "copilot": AgentToolbox.to_copilot,
        "ai_sdk": AgentToolbox.to_ai_sdk,
        "openai responses": AgentToolbox.to_openai,
        "openai chat": lambda box: box.to_openai("chat"),
        "openai strict": lambda box: box.to_openai(strict=True),
        "openai_agents": AgentToolbox.to_openai_agents,
        "anthropic": AgentToolbox.to_anthropic,
        "langchain": AgentToolbox.to_langchain,
        "pydantic_ai": AgentToolbox.to_pydantic_ai,
        "gemini": AgentToolbox.to_gemini,
    }
    figures = Figures()
    for name, convert in ways.items():
        # The first time the library is imported as well; that is no part of the conversion.
        convert(AgentToolbox([]))
        taken = min(seconds(convert) for _ in range(ROUNDS))
        figures.at_most(f"{TOOLS:,} tools to {name}", taken, LIMIT_SECONDS, " s")
    figures.leave()


if __name__ == "__main__":
    main()
