"""Gemini's generateContent, as strict as the service about what a request must hold."""

import re
from typing import Any

from tests.agents.services.script import FINAL, Call, Script, only, require

Message = dict[str, Any]

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")


class GeminiService:
    """A turn of calls is answered by as many responses, and its signatures come back."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.signatures: list[str] = []

    def answer(self, body: Message) -> Message:
        """What it answers to a request."""
        self._check_tools(body.get("tools") or [])
        self._check(body["contents"])
        parts = self._parts(self.script.requests, self.script.next())
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}

    def events(self, body: Message) -> list[Message]:
        """The same as a stream: a chunk a part."""
        candidate = self.answer(body)["candidates"][0]
        return [
            {"candidates": [{**candidate, "content": {"role": "model", "parts": [part]}}]}
            for part in candidate["content"]["parts"]
        ]

    def _parts(self, number: int, calls: list[Call]) -> list[Message]:
        if not calls:
            return [{"text": FINAL}]
        parts: list[Message] = [
            {"functionCall": {"id": f"{number}_{place}", "name": call.name, "args": call.parsed}}
            for place, call in enumerate(calls)
        ]
        # Of parallel calls only the first one is signed.
        signature = f"c2lnbmF0dXJl{number:04}"
        parts[0]["thoughtSignature"] = signature
        self.signatures.append(signature)
        return parts

    def _check_tools(self, tools: list[Message]) -> None:
        declared = [each for tool in tools for each in tool["functionDeclarations"]]
        for each in declared:
            only(each, "name", "description", "parametersJsonSchema", "parameters_json_schema")
            require(_NAME.fullmatch(each["name"]), f"Invalid function name: {each['name']}")
        self.script.tools = declared

    def _check(self, contents: list[Message]) -> None:
        open_calls: list[Message] = []
        results: list[Any] = []
        signatures: list[str] = []
        for content in contents:
            parts, role = content["parts"], content["role"]
            require(role in {"user", "model"}, "Please use a valid role: user, model.")
            answers = [each["functionResponse"] for each in parts if "functionResponse" in each]
            if open_calls:
                require(
                    role == "user" and len(answers) == len(parts) == len(open_calls),
                    "Please ensure that the number of function response parts is equal to the "
                    "number of function call parts of the function call turn.",
                )
                names = [(each["id"], each["name"]) for each in open_calls]
                require([(e["id"], e["name"]) for e in answers] == names, "ids do not match")
            else:
                require(
                    not answers,
                    "Please ensure that function response turn comes immediately after a "
                    "function call turn.",
                )
            results += [{k: each[k] for k in each if k != "id"} for each in answers]
            open_calls = [each["functionCall"] for each in parts if "functionCall" in each]
            signatures += [each["thoughtSignature"] for each in parts if "thoughtSignature" in each]
        require(not open_calls, "a function call is not answered")
        plain = [each.rstrip("=") for each in signatures]
        require(plain == self.signatures, "Function call is missing a thought_signature")
        self.script.results = results
