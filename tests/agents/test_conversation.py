"""A whole conversation: an agent's loop, a scripted model on loopback, and servers that fail."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mcpyard import Yard
from mcpyard.agents.toolbox import AgentToolbox
from tests.faults.watching import connected, zoo
from tests.wire.servers import asgi_server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.real

FS = Path(__file__).with_name("fs.py")

Message = dict[str, Any]


class ScriptedModel:
    """Speaks OpenAI's chat format: asks for one tool after the other, then sums up."""

    def __init__(self, *calls: tuple[str, str]) -> None:
        self._script: Iterator[tuple[str, str]] = iter(calls)
        self.heard: list[Message] = []
        self.app = Starlette(
            routes=[Route("/v1/chat/completions", self.complete, methods=["POST"])]
        )

    async def complete(self, request: Request) -> JSONResponse:
        body = await request.json()
        self.heard.append(body)
        call = next(self._script, None)
        message: Message = {"role": "assistant", "content": None if call else "That is all."}
        if call:
            name, arguments = call
            function = {"name": name, "arguments": arguments}
            number = f"call_{len(self.heard)}"
            message["tool_calls"] = [{"id": number, "type": "function", "function": function}]
        reason = "tool_calls" if call else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        head = {"id": "x", "object": "chat.completion", "created": 0, "model": "scripted"}
        return JSONResponse({**head, "choices": [choice]})


async def converse(url: str, box: AgentToolbox) -> tuple[str, list[str]]:
    """Talk until the model asks for no more tools; its last words, and what it was told."""
    messages: list[Any] = [{"role": "user", "content": "Do it all."}]
    results: list[str] = []
    tools: Any = box.to_openai("chat")
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        while True:
            answer = await client.chat.completions.create(
                model="scripted", messages=messages, tools=tools
            )
            message = answer.choices[0].message
            if not message.tool_calls:
                return message.content or "", results
            messages.append(message.model_dump(exclude_none=True))
            replies = await asyncio.gather(
                *(box.answer_openai(call) for call in message.tool_calls)
            )
            messages += replies
            results += [str(each["content"]) for each in replies]


def today() -> str:
    """Tell the day."""
    return "Sunday"


@pytest.mark.spec("A3.3", "D6.2")
async def test_the_loop_goes_on_to_its_end_whatever_the_tools_do() -> None:
    model = ScriptedModel(
        ("mcp_main_echo", json.dumps({"text": "a good start"})),
        ("mcp_main_hang", "{}"),
        ("mcp_main_echo", json.dumps({"text": 3})),
        ("mcp_main_echo", "{broken"),
        ("mcp_main_die", json.dumps({"text": "saved"})),
        ("mcp_closing_misbehave", json.dumps({"text": "x"})),
        ("mcp_fs_refuse", "{}"),
        ("no_such_tool", "{}"),
        ("today", "{}"),
        ("mcp_spare_echo", json.dumps({"text": "a good end"})),
    )
    saved = {"die": {"repeatable": True, "fallback": [{"server": "spare", "tool": "echo"}]}}
    servers = {
        "main": zoo("good", timeout=1000, tools=saved),
        "spare": zoo("good"),
        "closing": zoo("closes_stdout", timeout=5000),
        "fs": {**zoo("good"), "command": sys.executable, "args": ["-I", "-S", str(FS)]},
    }
    with asgi_server(model.app) as url:
        async with Yard.open(servers=servers) as yard:
            await connected(yard, *servers)
            words, results = await converse(url, yard.toolbox(own=[today]))
    assert words == "That is all."
    expected = [
        "a good start",
        "was not answered in time",
        "text: expected a string, found the number 3",
        "not a JSON object",
        "saved",
        "the server closed its output",
        "it does not please me",
        'there is no tool "no_such_tool"',
        "Sunday",
        "a good end",
    ]
    for part, result in zip(expected, results, strict=True):
        assert part in result
    offered = {each["function"]["name"] for each in model.heard[0]["tools"]}
    assert {"mcp_main_echo", "mcp_spare_echo", "today"} <= offered
