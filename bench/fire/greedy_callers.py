"""Callers that use up the streams and the memory of their token, and of nobody else."""

import asyncio
from typing import Any

from bench.fire.callers import HELLO, SESSION_OVER, Caller, HandshakeCaller
from bench.fire.members import Member

LONGEST_STREAM = 0.2
LARGEST = 384 * 1024
"""Bytes of a client's capabilities."""


class StreamCaller(HandshakeCaller):
    """Listens for notifications for a moment, again and again."""

    way = "streams"
    pause = 0.05

    async def call(self, member: Member, nonce: str) -> str:
        path = f"/mcp/servers/{member.name}"
        while True:
            headers = await self.session(path)
            answer = await self.line.listen(path, headers)
            if answer.status != SESSION_OVER:
                break
            self.lose_session(path)
        if answer.status != 200:
            self.result_in(answer.message())
        await asyncio.sleep(self.scene.dice.uniform(0, LONGEST_STREAM))
        self.line.hang_up()
        return nonce

    def check(self, member: Member, nonce: str, answer: str) -> bool:  # noqa: ARG002  as others
        """Whether there was a stream."""
        return answer == nonce


class LargeSessionCaller(HandshakeCaller):
    """Begins sessions with much to remember, calls once in each, and never ends one."""

    way = "large sessions"
    pause = 0.1

    async def call(self, member: Member, nonce: str) -> str:
        self.forget_sessions()
        return await super().call(member, nonce)

    def hello(self) -> dict[str, Any]:
        text = "x" * self.scene.dice.randrange(LARGEST)
        return {**HELLO, "capabilities": {"elicitation": {"form": {"text": text}}}}


GREEDY_WAYS: dict[type[Caller], int] = {StreamCaller: 6, LargeSessionCaller: 2}
