"""OpenAI's two APIs, as strict as the service about what a request must hold."""

import json
import re
from typing import Any

from tests.agents.services.script import FINAL, Call, Script, only, require

Message = dict[str, Any]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ResponsesService:
    """Responses: remembers what it sent, and wants it back as it was, with its reasoning."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.said: dict[str, Message] = {}
        self.reasons: dict[str, str] = {}

    def answer(self, body: Message) -> Message:
        """What it answers to a request."""
        self._check_tools(body.get("tools") or [])
        items = body["input"]
        self._check(items if isinstance(items, list) else [{"role": "user", "content": items}])
        number, calls = self.script.requests, self.script.next()
        output = self._output(number, calls)
        if "reasoning.encrypted_content" in (body.get("include") or ()) and calls:
            output[0]["encrypted_content"] = f"secret {number}"
        self.said |= {item["id"]: item for item in output}
        return {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "model": body["model"],
            "status": "completed",
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 1,
                "output_tokens": 1,
                "total_tokens": 2,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def events(self, body: Message) -> list[Message]:
        """The same as a stream."""
        whole = self.answer(body)
        started = {**whole, "status": "in_progress", "output": []}
        events: list[Message] = [{"type": "response.created", "response": started}]
        for place, item in enumerate(whole["output"]):
            whole_item = {"output_index": place, "item": item}
            events.append({"type": "response.output_item.added", **whole_item})
            if item["type"] == "message":
                where = {"item_id": item["id"], "output_index": place, "content_index": 0}
                delta = {"delta": FINAL, "logprobs": [], **where}
                part = {"part": {**item["content"][0], "text": ""}, **where}
                events.append({"type": "response.content_part.added", **part})
                events.append({"type": "response.output_text.delta", **delta})
            events.append({"type": "response.output_item.done", **whole_item})
        events.append({"type": "response.completed", "response": whole})
        return [{**each, "sequence_number": place} for place, each in enumerate(events)]

    def _output(self, number: int, calls: list[Call]) -> list[Message]:
        if not calls:
            text = {"type": "output_text", "text": FINAL, "annotations": []}
            message = {"type": "message", "role": "assistant", "status": "completed"}
            return [{**message, "id": f"msg_{number}", "content": [text]}]
        reasoning = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
        items = [
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": f"call_{number}_{place}",
                "name": call.name,
                "arguments": call.arguments,
                "status": "completed",
            }
            for place, call in enumerate(calls)
        ]
        self.reasons |= {str(item["id"]): f"rs_{number}" for item in items}
        return [reasoning, *items]

    def _check_tools(self, tools: list[Message]) -> None:
        for tool in tools:
            only(tool, "type", "name", "description", "parameters", "strict", "defer_loading")
            require(tool["type"] == "function", "Invalid value for 'type'")
            require(_NAME.fullmatch(tool["name"]), f"Invalid name: {tool['name']}")
            require(tool["parameters"]["type"] == "object", "schema must be of type object")
        self.script.tools = tools

    def _check(self, items: list[Message]) -> None:
        calls: dict[str, Message] = {}
        answered: dict[str, Message] = {}
        reasoning: set[str] = set()
        for item in items:
            kind = item.get("type", "message")
            if kind == "reasoning":
                reasoning.add(item["id"])
                self._same(item)
            elif kind == "function_call":
                self._same(item)
                needed = self.reasons.get(item.get("id", ""))
                require(
                    needed is None or needed in reasoning,
                    f"'function_call' was provided without its required 'reasoning' item: {needed}",
                )
                calls[item["call_id"]] = item
            elif kind == "function_call_output":
                only(item, "type", "call_id", "output", "id", "status")
                require(item["call_id"] in calls, f"No tool call found for {item['call_id']}")
                require(item["call_id"] not in answered, "Duplicate tool output")
                _check_output(item["output"])
                answered[item["call_id"]] = item
            else:
                require(item.get("role") in {"user", "system", "developer", "assistant"}, "role")
        for call in calls:
            require(call in answered, f"No tool output found for function call {call}.")
        missing = {key for key in self.reasons if key not in {i.get("id") for i in items}}
        require(not missing, f"items are missing: {missing}")
        self.script.results = [each["output"] for each in answered.values()]

    def _same(self, item: Message) -> None:
        sent = self.said.get(item["id"])
        require(sent, f"Item with id '{item['id']}' not found.")
        plain = {key: value for key, value in item.items() if value is not None}
        only(plain, *(sent or {}), "content", "encrypted_content")
        for name in ("call_id", "name", "arguments"):
            same = _plain(item.get(name)) == _plain((sent or {}).get(name))
            require(same, f"'{name}' was changed")


class ChatService:
    """Chat Completions."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def answer(self, body: Message) -> Message:
        """What it answers to a request."""
        self._check_tools(body.get("tools") or [])
        self._check(body["messages"])
        message = self._message(self.script.requests, self.script.next())
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
        head = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        return {**head, "choices": [choice]}

    def events(self, body: Message) -> list[Message]:
        """The same as a stream."""
        whole = self.answer(body)
        message = whole["choices"][0]["message"]
        calls = [
            {"index": place, **each} for place, each in enumerate(message.get("tool_calls", ()))
        ]
        delta = {"role": "assistant", "content": message["content"]}
        if calls:
            delta["tool_calls"] = calls
        head = {**whole, "object": "chat.completion.chunk"}
        reason = whole["choices"][0]["finish_reason"]
        return [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        ]

    def _message(self, number: int, calls: list[Call]) -> Message:
        if not calls:
            return {"role": "assistant", "content": FINAL}
        listed = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for place, call in enumerate(calls)
        ]
        message = {"role": "assistant", "content": None, "refusal": None, "annotations": []}
        return {**message, "tool_calls": listed}

    def _check_tools(self, tools: list[Message]) -> None:
        for tool in tools:
            only(tool, "type", "function")
            function = tool["function"]
            only(function, "name", "description", "parameters", "strict")
            require(_NAME.fullmatch(function["name"]), f"Invalid name: {function['name']}")
            require(len(function["description"]) <= 1024, "description is too long")
        self.script.tools = [each["function"] for each in tools]

    def _check(self, messages: list[Message]) -> None:
        open_calls: list[str] = []
        results: list[Any] = []
        for message in messages:
            role = message["role"]
            if role == "tool":
                only(message, "role", "tool_call_id", "content")
                require(
                    message["tool_call_id"] in open_calls,
                    "messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'",
                )
                require(isinstance(message["content"], str), "content must be a string")
                open_calls.remove(message["tool_call_id"])
                results.append(message["content"])
                continue
            require(
                not open_calls,
                "An assistant message with 'tool_calls' must be followed by tool messages "
                f"responding to each 'tool_call_id': {open_calls}",
            )
            require(role in {"user", "system", "developer", "assistant"}, f"role {role}")
            if role == "assistant":
                _check_assistant(message)
            open_calls = [each["id"] for each in message.get("tool_calls") or ()]
        require(not open_calls, f"no tool messages for {open_calls}")
        self.script.results = results


def _check_assistant(message: Message) -> None:
    """A message of the model as it may come back; the libraries add members of their own to it."""
    only(message, "role", "content", "refusal", "name", "audio", "tool_calls", "function_call")
    for name in ("audio", "tool_calls", "function_call"):
        require(message.get(name, ()) is not None, f"None is not of type 'object' - '{name}'")
    for call in message.get("tool_calls") or ():
        only(call, "id", "type", "function")
        only(call["function"], "name", "arguments")


def _plain(value: object) -> object:
    """A value, and of JSON what it means: spaces in it do not count."""
    try:
        return json.loads(str(value))
    except ValueError:
        return value


def _check_output(output: Any) -> None:  # noqa: ANN401  a text, or a list of parts
    require(isinstance(output, str | list), "output must be a string or a list")
    for part in output if isinstance(output, list) else ():
        require(part["type"] in {"input_text", "input_image", "input_file"}, "Invalid part")
        url = part.get("image_url") or part.get("file_data") or "data:"
        require(url.startswith("data:"), "Invalid URL")
    json.dumps(output)
