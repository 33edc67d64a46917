"""Callers that check every answer, by each of the ways into a yard."""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from bench.fire.members import Member
from bench.fire.plain_http import Answer, CutError, Line
from bench.fire.scene import Scene, one
from mcpyard import Yard
from mcpyard.client.attached import AttachedYard
from mcpyard.domain.errors import Disconnected
from mcpyard.yard.toolbox.toolbox import Toolbox

LONGEST = 40.0
"""Seconds after which a call counts as never ended; its own limit is far below."""

BREATH = 0.02
"""Seconds a caller rests after a refusal: calls that fail at once are no load worth measuring."""

NAMES = re.compile(r'"?(mcp_)?s\d\d-\w+"?|\d+')
AGENTS = 6
LOOK_AGAIN = 0.2
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
REQUEST_META = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}}
OVER_QUOTA = "urn:mcpyard:error:over-quota"
SESSION_OVER = 404
BOTH = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "fire", "version": "1"},
}


class RefusedError(Exception):
    """A call that was answered with an error that says why."""


class OverQuotaError(Exception):
    """A call that was refused because its token uses as much as one may."""


@dataclass(slots=True)
class Tally:
    """What became of all calls."""

    begun: int = 0
    right: int = 0
    cut: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    over_quota: Counter[str] = field(default_factory=Counter[str])
    replaced: int = 0
    """Sessions that a quota ended, and that were begun again."""
    wrong: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])
    unfinished: list[str] = field(default_factory=list[str])
    by_way: Counter[str] = field(default_factory=Counter[str])
    by_fallback: int = 0
    refusals: list[float] = field(default_factory=list[float])
    """Milliseconds that it took to refuse wrong arguments."""

    @property
    def ended(self) -> int:
        failures = len(self.wrong) + len(self.broken)
        refused = self.refused.total() + self.over_quota.total()
        return self.right + self.cut + refused + failures


class Caller:
    """Somebody who calls without a pause, for as long as there is a yard to call."""

    way = ""
    pause = 0.0
    """Seconds between an answer and the next call."""

    def __init__(self, scene: Scene, tally: Tally) -> None:
        self.scene = scene
        self.tally = tally
        self._epoch = -1
        self._numbers = count()
        self.line = Line("", "")

    async def run(self, ending: asyncio.Event) -> None:
        members = [each for each in self.scene.members if self.calls(each)]
        try:
            while not ending.is_set():
                await self.scene.up.wait()
                nonce = f"{self.way}-{id(self):x}-{next(self._numbers)}"
                right = await self._one(self.scene.dice.choice(members), nonce)
                if pause := self.pause if right else BREATH:
                    await asyncio.sleep(pause)
        finally:
            self.line.hang_up()

    def calls(self, member: Member) -> bool:
        """Whether it calls that server."""
        return member.callable

    async def _one(self, member: Member, nonce: str) -> bool:
        """Make one call; whether its answer was right."""
        epoch, tally = self.scene.epoch, self.tally
        tally.begun += 1
        what = f"{self.way} {member.name}"
        try:
            async with asyncio.timeout(LONGEST):
                await self._arrive(epoch)
                answer = await self.call(member, nonce)
        except TimeoutError:
            tally.unfinished.append(what)
        except OverQuotaError as error:
            tally.over_quota[plain(str(error))] += 1
        except RefusedError as error:
            tally.refused[str(error)] += 1
        except CutError as error:
            if self.scene.epoch == self._epoch:
                tally.broken.append(f"{what}: cut though the yard lived: {error!r}")
            else:
                tally.cut += 1
        except Exception as error:  # noqa: BLE001  whatever it is, it is what is looked for
            tally.broken.append(f"{what}: {error!r}")
        else:
            return self._note(member, nonce, answer)
        return False

    def _note(self, member: Member, nonce: str, answer: str) -> bool:
        right = self.check(member, nonce, answer)
        if not right:
            self.tally.wrong.append(f"{self.way}: {member.name} {nonce} was answered {answer[:80]}")
        self.tally.right += right
        self.tally.by_way[self.way] += right
        return right

    def check(self, member: Member, nonce: str, answer: str) -> bool:
        """Whether an answer is right."""
        name, tag, _pid, echoed = (answer.split(" ", 3) + [""] * 4)[:4]
        if member.fallback and name == member.fallback.name:
            self.tally.by_fallback += 1
            member = member.fallback
        return (name, echoed) == (member.name, nonce) and int(tag) in member.ever

    async def _arrive(self, epoch: int) -> None:
        """Meet a yard that is new; `epoch` names it."""
        if self._epoch != epoch:
            await self.meet()
            self._epoch = epoch

    async def meet(self) -> None:
        """What must be done before the first call of a yard."""
        self.line.hang_up()
        self.line = Line(self.scene.url, self.token)

    @property
    def token(self) -> str:
        """What it names itself with: only the admin token opens REST."""
        return self.scene.token

    async def call(self, member: Member, nonce: str) -> str:
        """The text that a call is answered with."""
        raise NotImplementedError


class RestCaller(Caller):
    """Calls over REST."""

    way = "rest"

    async def call(self, member: Member, nonce: str) -> str:
        path = one(member.name, "tools", "nonce", "call")
        answer = await self.line.post(path, {"arguments": {"text": nonce}})
        message = answer.message()
        if answer.status == 200:
            return message["content"][0]["text"]
        if message["type"] == OVER_QUOTA:
            raise OverQuotaError(message["detail"])
        raise RefusedError(f"{answer.status} {plain(message['detail'])}")


class GatewayCaller(Caller):
    """Calls through the gateway; every other call at the address of the server alone."""

    def __init__(self, scene: Scene, tally: Tally) -> None:
        super().__init__(scene, tally)
        self._ids = count(1)
        self._token = scene.next_token()

    @property
    def token(self) -> str:
        return self._token

    def request_body(
        self, member: Member, tool: str, arguments: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """The address, and the parameters."""
        if next(self._ids) % 2:
            return "/mcp", {"name": f"mcp_{member.name}_{tool}", "arguments": arguments}
        return f"/mcp/servers/{member.name}", {"name": tool, "arguments": arguments}

    async def ask(
        self, path: str, method: str, params: dict[str, Any], headers: dict[str, str]
    ) -> tuple[Answer, dict[str, Any]]:
        number = next(self._ids)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        answer = await self.line.post(path, body, {**BOTH, **headers})
        message = answer.message()
        if message.get("id") != number:
            raise ValueError(f"an answer to another request: {message}")
        return answer, message

    def result_in(self, message: dict[str, Any]) -> dict[str, Any]:
        if "error" not in message:
            return message["result"]
        error = message["error"]
        if error.get("data") == {"problem": "over-quota"}:
            raise OverQuotaError(error["message"])
        raise RefusedError(f"rpc {error['code']} {plain(error['message'])}")

    def text_in(self, message: dict[str, Any]) -> str:
        result = self.result_in(message)
        if result.get("isError"):
            raise RefusedError(f"isError {plain(result['content'][0]['text'])}")
        return result["content"][0]["text"]


class ModernCaller(GatewayCaller):
    """A client of the modern era."""

    way = "gateway, modern"

    async def call(self, member: Member, nonce: str) -> str:
        return self.text_in(await self.call_tool(member, "nonce", {"text": nonce}))

    async def call_tool(
        self, member: Member, tool: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        """The whole answer of a tool."""
        path, params = self.request_body(member, tool, arguments)
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call"}
        headers["Mcp-Name"] = params["name"]
        _, message = await self.ask(path, "tools/call", {**params, "_meta": REQUEST_META}, headers)
        return message


class HandshakeCaller(GatewayCaller):
    """A client of the handshake era, with a session at each address it calls."""

    way = "gateway, handshake"

    def __init__(self, scene: Scene, tally: Tally) -> None:
        super().__init__(scene, tally)
        self._sessions: dict[str, str] = {}

    async def meet(self) -> None:
        await super().meet()
        self.forget_sessions()

    def forget_sessions(self) -> None:
        """Begin new ones from now on."""
        self._sessions = {}

    async def call(self, member: Member, nonce: str) -> str:
        path, params = self.request_body(member, "nonce", {"text": nonce})
        return self.text_in(await self.ask_in_session(path, "tools/call", params))

    async def ask_in_session(
        self, path: str, method: str, params: dict[str, Any]
    ) -> dict[str, Any]:
        """The answer to a request, in a session that is begun where there is none any more."""
        while True:
            answer, message = await self.ask(path, method, params, await self.session(path))
            if answer.status != SESSION_OVER:
                return message
            self.lose_session(path)

    async def session(self, path: str) -> dict[str, str]:
        """The headers that name a session of this address."""
        if path not in self._sessions:
            answer, message = await self.ask(path, "initialize", self.hello(), {})
            self.result_in(message)
            self._sessions[path] = answer.headers["mcp-session-id"]
        return {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": self._sessions[path]}

    def lose_session(self, path: str) -> None:
        """Take note that a session was ended: its token began another one."""
        del self._sessions[path]
        self.tally.replaced += 1

    def hello(self) -> dict[str, Any]:
        """What it says of itself."""
        return HELLO


class ToolboxCaller(Caller):
    """Six agents that share an attached yard; each call takes its tool out of a toolbox."""

    way = "toolbox"

    def __init__(self, scene: Scene, tally: Tally) -> None:
        super().__init__(scene, tally)
        self._box = Toolbox([])

    async def run(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            await self.scene.up.wait()
            epoch = self.scene.epoch
            try:
                async with Yard.attach(self.scene.home) as yard:
                    self._epoch = epoch
                    await self._with(yard, epoch, ending)
            except Disconnected:
                await asyncio.sleep(BREATH)

    async def _with(self, yard: AttachedYard, epoch: int, ending: asyncio.Event) -> None:
        moved = asyncio.Event()
        agents = [asyncio.create_task(Caller.run(self, moved)) for _ in range(AGENTS)]
        while self.scene.epoch == epoch and not ending.is_set():
            self._box = yard.toolbox()
            await asyncio.sleep(LOOK_AGAIN)
        moved.set()
        await asyncio.gather(*agents)

    async def _arrive(self, epoch: int) -> None:
        """Stay with the yard that is attached, though the next may be up already."""

    async def call(self, member: Member, nonce: str) -> str:
        outcome = await self._box.call(f"mcp_{member.name}_nonce", {"text": nonce})
        if not outcome.is_error:
            return outcome.text
        if "mcpyard does not answer" in outcome.text:
            raise CutError(outcome.text)
        if "this token" in outcome.text:
            raise OverQuotaError(outcome.text)
        raise RefusedError(f"toolbox: {outcome.error} {plain(outcome.text)}")


def plain(message: str) -> str:
    """A message without what differs from call to call, so that equal ones can be counted."""
    return NAMES.sub("...", message.partition(";")[0])[:70]


WAYS: dict[type[Caller], int] = {
    ModernCaller: 10,
    HandshakeCaller: 8,
    RestCaller: 8,
    ToolboxCaller: 1,
}
