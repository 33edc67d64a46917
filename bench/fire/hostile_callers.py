"""Callers of servers that are hostile, and of honest ones beside those."""

import time
from itertools import count
from typing import Any

from bench.fire.callers import Caller, HandshakeCaller, ModernCaller, Tally
from bench.fire.members import RESOURCES, SCHEMA, Member
from bench.fire.scene import Scene

WRONG_DEPTH = 4
"""The level of blocks at which the wrong one is."""


def wrong_blocks(depth: int, nonce: str) -> dict[str, Any]:
    """Arguments of the tool `blocks` that are wrong in the innermost block alone."""
    block: dict[str, Any] = {"type": "type24", "text": [nonce]}
    for _ in range(depth - 1):
        block = {"type": "type24", "text": nonce, "children": [block]}
    return {"block": block}


class WrongArgumentsCaller(ModernCaller):
    """Calls a tool with arguments that its schema refuses, which is expensive to explain."""

    way = "wrong arguments"
    pause = 0.05

    def calls(self, member: Member) -> bool:
        return member.kind == SCHEMA

    async def call(self, member: Member, nonce: str) -> str:
        began = time.monotonic()
        message = await self.call_tool(member, "blocks", wrong_blocks(WRONG_DEPTH, nonce))
        result = self.result_in(message)
        self.tally.refusals.append((time.monotonic() - began) * 1000)
        text = result["content"][0]["text"]
        return f"refused: {text}" if result.get("isError") else text

    def check(self, member: Member, nonce: str, answer: str) -> bool:  # noqa: ARG002  as others
        """Whether the arguments were refused here: the server itself refuses nothing."""
        return answer.startswith("refused: block")


class ResourceCaller(HandshakeCaller):
    """Reads, subscribes to and completes resources of servers beside one with hostile templates."""

    way = "resources"

    def __init__(self, scene: Scene, tally: Tally) -> None:
        super().__init__(scene, tally)
        self._turns = count()

    def calls(self, member: Member) -> bool:
        return member.kind == RESOURCES

    async def call(self, member: Member, nonce: str) -> str:
        uri = f"nonce://{member.name}/{nonce}"
        match next(self._turns) % 3:
            case 0:
                return await self._complete(member, nonce)
            case 1:
                return await self._read(uri)
            case _:
                await self._ask("resources/subscribe", {"uri": uri})
                text = await self._read(uri)
                await self._ask("resources/unsubscribe", {"uri": uri})
                return text

    async def _read(self, uri: str) -> str:
        return (await self._ask("resources/read", {"uri": uri}))["contents"][0]["text"]

    async def _complete(self, member: Member, nonce: str) -> str:
        ref = {"type": "ref/resource", "uri": f"nonce://{member.name}/{{text}}"}
        argument = {"name": "text", "value": nonce}
        completion = await self._ask("completion/complete", {"ref": ref, "argument": argument})
        return completion["completion"]["values"][0]

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.result_in(await self.ask_in_session("/mcp", method, params))


HOSTILE_WAYS: dict[type[Caller], int] = {WrongArgumentsCaller: 1, ResourceCaller: 2}
