"""Anthropic's Messages, as strict as the service about what a request must hold."""

import json
import re
from typing import Any

from tests.agents.services.script import FINAL, Call, Script, only, require

Message = dict[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")


class MessagesService:
    """Messages: a call is answered in the very next message, and thinking comes back signed."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.said: list[list[Message]] = []

    def answer(self, body: Message) -> Message:
        """What it answers to a request."""
        self._check_tools(body.get("tools") or [])
        self._check(body["messages"])
        number, calls = self.script.requests, self.script.next()
        content = self._content(number, calls)
        self.said.append(content)
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def events(self, body: Message) -> list[Message]:
        """The same as a stream."""
        whole = self.answer(body)
        events: list[Message] = [{"type": "message_start", "message": {**whole, "content": []}}]
        for place, block in enumerate(whole["content"]):
            begun, deltas = _pieces(block)
            events.append({"type": "content_block_start", "index": place, "content_block": begun})
            events += [
                {"type": "content_block_delta", "index": place, "delta": delta} for delta in deltas
            ]
            events.append({"type": "content_block_stop", "index": place})
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}})
        return [*events, {"type": "message_stop"}]

    def _content(self, number: int, calls: list[Call]) -> list[Message]:
        if not calls:
            return [{"type": "text", "text": FINAL}]
        thinking = {"type": "thinking", "thinking": "Let me see.", "signature": f"sig_{number}"}
        return [
            thinking,
            *(
                {
                    "type": "tool_use",
                    "id": f"toolu_{number}_{place}",
                    "name": call.name,
                    "input": call.parsed,
                }
                for place, call in enumerate(calls)
            ),
        ]

    def _check_tools(self, tools: list[Message]) -> None:
        for tool in tools:
            only(tool, "name", "description", "input_schema", "type", "defer_loading")
            require(_NAME.fullmatch(tool["name"]), f"tools: invalid name {tool['name']}")
            require(tool["input_schema"]["type"] == "object", "input_schema.type")
            for name in tool["input_schema"].get("properties", ()):
                require(_PROPERTY.fullmatch(name), f"invalid property {name}")
        self.script.tools = tools

    def _check(self, messages: list[Message]) -> None:
        require(messages[0]["role"] == "user", "first message must use the user role")
        open_calls: list[str] = []
        results: list[Any] = []
        turns = iter(self.said)
        for message in messages:
            only(message, "role", "content")
            blocks = message["content"] if isinstance(message["content"], list) else []
            answers = [each for each in blocks if each["type"] == "tool_result"]
            if open_calls:
                require(
                    message["role"] == "user"
                    and sorted(each["tool_use_id"] for each in answers) == sorted(open_calls),
                    "`tool_use` ids were found without `tool_result` blocks immediately after: "
                    f"{open_calls}",
                )
                require(blocks[: len(answers)] == answers, "tool_result blocks must come first")
            else:
                require(not answers, "unexpected `tool_use_id` found in `tool_result` blocks")
            for each in answers:
                only(each, "type", "tool_use_id", "content", "is_error")
                _check_result(each["content"], is_error=each["is_error"])
                results.append({"content": each["content"], "is_error": each["is_error"]})
            open_calls = [each["id"] for each in blocks if each["type"] == "tool_use"]
            if message["role"] == "assistant":
                _check_said(blocks, next(turns))
        require(not open_calls, f"`tool_use` ids without results: {open_calls}")
        require(next(turns, None) is None, "a message of the assistant is missing")
        self.script.results = results


def _check_said(blocks: list[Message], turn: list[Message]) -> None:
    plain = [{key: value for key, value in block.items() if value is not None} for block in blocks]
    require(plain == turn, "`thinking` and `tool_use` blocks cannot be modified")


def _check_result(content: list[Message], *, is_error: bool) -> None:
    texts = [part["text"] for part in content if part["type"] == "text"]
    message = "text content blocks must contain non-whitespace text"
    require(not texts or any(map(str.strip, texts)), message)
    for part in content:
        is_text = part["type"] == "text"
        require(is_text or not is_error, 'all content must be type "text" if "is_error" is true')
        require(part["type"] in {"text", "image", "document"}, f"type {part['type']}")
        require(part["type"] != "text" or part["text"], "text content blocks must be non-empty")


def _pieces(block: Message) -> tuple[Message, list[Message]]:
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        return {**block, "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    text = json.dumps(block["input"])
    return {**block, "input": {}}, [
        {"type": "input_json_delta", "partial_json": text[:3]},
        {"type": "input_json_delta", "partial_json": text[3:]},
    ]
