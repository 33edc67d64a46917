"""Clients whose sessions are at one node, and who use them through two others that are killed."""

import asyncio
import json
import math
import random
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, cast

import httpx2

from bench.cluster_drain import NODES, wait_whole
from bench.cluster_scene import Scene
from bench.measuring import Figures
from tests.cluster.nodes import TOKEN, ClusterOfNodes, RunningNode, place_on
from tests.cluster.recording import boot_time
from tests.gateway.talking import (
    ASKS,
    Event,
    Legacy,
    Message,
    Talk,
    messages,
    next_of,
    odd_server,
)

TTL: Final = 3.0
HOLDER: Final = NODES[0]
"""The node that has the sessions; clients use the others."""

_DOORS: Final = NODES[1:]
_KINDS: Final = [(session, era) for session in (True, False) for era in ("legacy", "modern")]
"""Whether a client has a session, and the era of its server."""

_ROAMING: Final = "roaming"
_UPDATED: Final = "notifications/resources/updated"
_ANSWER: Final = {"action": "accept", "content": {"name": "Ada"}}
_LONGEST: Final = 30.0
_NOTICED: Final = 1.0
"""Seconds after which every node knows that another one is gone: its connections are closed."""

_Kinds = dict[str, tuple[bool, str]]
_BETWEEN_CALLS: Final = 0.1


@dataclass
class Results:
    """What became of everything that clients did."""

    calls: int = 0
    cut: int = 0
    disconnected: int = 0
    finished: int = 0
    heard: int = 0
    problems: Counter[str] = field(default_factory=Counter[str])


@dataclass
class Doors:
    """The nodes that clients use now, and when one was killed last."""

    talks: dict[str, Talk] = field(default_factory=dict[str, Talk])
    losing: bool = False
    lost: float = -math.inf

    def open(self, node: RunningNode) -> None:
        limits = httpx2.Limits(max_connections=200)
        http = httpx2.AsyncClient(base_url=node.up.url, timeout=_LONGEST, limits=limits)
        self.talks[node.name] = Talk(cast("Any", None), http, key=f"Bearer {TOKEN}")

    def lose(self, name: str) -> Talk:
        """A node that is about to be killed: what is under way there may be lost."""
        self.losing = True
        return self.talks.pop(name)

    def has_lost(self) -> None:
        self.losing, self.lost = False, boot_time()


@dataclass
class Client:
    """Somebody who uses one server, without a session or with one at the holder."""

    server: str
    results: Results
    doors: Doors
    dice: random.Random
    near: Talk
    met: Legacy | None = None

    @property
    def path(self) -> str:
        return f"/mcp/servers/{self.server}"

    async def begin(self, *, session: bool) -> None:
        if session:
            self.met = await self.near.meet(self.path, capabilities=ASKS)
            assert self.met.session.startswith(f"{HOLDER}~")
            await self._legacy(self.near).ask("resources/subscribe", uri="odd://thing")

    def _legacy(self, talk: Talk) -> Legacy:
        assert self.met
        return Legacy(talk, self.path, self.met.session, self.met.initialize_result)

    async def call(self, talk: Talk, text: str) -> str:
        """What is wrong with the answer to a call; nothing when it is right."""
        words = {"text": text}
        if self.met:
            answer = await self._legacy(talk).call("nonce", arguments=words)
        else:
            answer = await talk.call(self.path, "nonce", arguments=words)
        return "" if _text(answer) == text else json.dumps(answer)

    async def call_on(self, over: asyncio.Event) -> None:
        """Call through whichever node is there, until the end."""
        for number in count():
            if over.is_set():
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _BETWEEN_CALLS * self.dice.uniform(0.5, 1.5))
            name = self.dice.choice([*self.doors.talks])
            await self._call_at(name, f"{self.server} {number} {self.dice.getrandbits(48):x}")

    async def _call_at(self, name: str, text: str) -> None:
        talk, sent = self.doors.talks[name], boot_time()
        try:
            problem = await self.call(talk, text)
        except (httpx2.HTTPError, RuntimeError) as error:
            # The node that was asked is gone; its client is closed.
            if self.doors.talks.get(name) is talk:
                self.results.problems[f"{name} lives, and {error!r}"] += 1
            else:
                self.results.cut += 1
            return
        self.results.calls += 1
        if problem and self._may_be_lost(problem, sent):
            self.results.disconnected += 1
        elif problem:
            self.results.problems[problem[:300]] += 1

    def _may_be_lost(self, problem: str, sent: float) -> bool:
        """Whether a call was under way at the server of a node that was killed."""
        killed = self.doors.losing or sent < self.doors.lost + _NOTICED
        return self.server == _ROAMING and killed and '"disconnected"' in problem

    async def live_through(self, kill: "Kill", victim: Talk, other: Talk) -> None:
        """Be asked in the middle of a call, lose the node, and go on through the other one."""
        async with asyncio.timeout(2 * _LONGEST):
            if self.met:
                await self._session_lives_on(kill, self._legacy(victim), self._legacy(other))
            else:
                await self._call_is_finished(kill, other)

    async def _session_lives_on(self, kill: "Kill", before: Legacy, after: Legacy) -> None:
        number = f"ask{kill.number}"
        params = {"name": "ask", "arguments": {}}
        call = {"id": number, "method": "tools/call", "params": params}
        async with before.streaming(**call) as stream, before.listening() as pushed:
            question, first = await _question(stream), await anext(pushed)
            await kill.all_began.wait()
            await kill.done.wait()
            await _until_lost(stream)
            await _until_lost(pushed)
        await after.call("touch")
        async with after.listening(last=first.id) as pushed:
            await next_of(pushed, _UPDATED)
        self.results.heard += 1
        assert question.message
        accepted = await after.send(id=question.message["id"], result=_ANSWER)
        assert accepted.status_code == 202, accepted.text
        async with after.listening(last=question.id) as stream:
            done = await anext(messages(stream))
        assert done["id"] == number, done
        self._finish(done)

    async def _call_is_finished(self, kill: "Kill", other: Talk) -> None:
        reply = await self.near.call(self.path, "ask", ASKS)
        await kill.all_began.wait()
        await kill.done.wait()
        result = reply["result"]
        answers = {
            "inputResponses": dict.fromkeys(result["inputRequests"], _ANSWER),
            "requestState": result["requestState"],
        }
        self._finish(await other.call(self.path, "ask", ASKS, **answers))

    def _finish(self, answer: Message) -> None:
        text = (_text(answer) or "").removeprefix("s-1 ")
        if text == json.dumps(_ANSWER):
            self.results.finished += 1
        else:
            self.results.problems[f"after a question: {answer}"[:300]] += 1


@dataclass
class Kill:
    """One node that is killed once every client is in the middle of a call."""

    number: int
    all_began: asyncio.Barrier
    done: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class SessionOptions:
    """How much of it.

    Attributes:
        interactive: Clients of each kind that are asked something in the middle of a call.
        plain: Clients of each kind that call on. They have servers of their own: a question of an
            older server names no call, so its calls come one after the other.
        away: Seconds after which at the latest a killed node is started again.
    """

    kills: int = 20
    interactive: int = 3
    plain: int = 2
    away: float = 2.5 * TTL
    seed: int = 23


def sessions(scene: Scene, figures: Figures, options: SessionOptions) -> None:
    """Kill and replace two nodes by turns, while clients use sessions of the third through them."""
    results, rounds = Results(), options.kills
    interactive = {
        f"asked{number}": kind for number, kind in enumerate(_KINDS * options.interactive)
    }
    plain = {f"called{number}": kind for number, kind in enumerate(_KINDS * options.plain)}
    servers = interactive | plain
    with scene.cluster(*NODES, ttl=TTL) as cluster:
        holder = cluster.nodes[HOLDER]
        for name, (_, era) in servers.items():
            holder.register(name, odd_server(era))
        holder.register(_ROAMING, odd_server())
        place_on(cluster, HOLDER, *servers)
        asyncio.run(_Run(scene, cluster, results, options).run(interactive, plain))
    figures.show("sessions: nodes killed, clients", f"{rounds}, {len(servers) + 1}")
    figures.show("sessions: calls, cut with their node", f"{results.calls:,}, {results.cut:,}")
    lost = f"{results.disconnected:,}"
    figures.show("sessions: calls to a server that was killed under way", lost)
    expected, listeners = rounds * len(interactive), rounds * len(interactive) // 2
    figures.at_least("sessions: questions in mid-call, finished", results.finished, expected)
    figures.at_least("sessions: notifications after a kill", results.heard, listeners)
    figures.at_least("sessions: calls", results.calls, rounds * len(servers))
    figures.at_most("sessions: wrong, refused or lost", sum(results.problems.values()), 0)
    for problem, number in results.problems.most_common(10):
        print(f"  {number} x {problem}")


class _Run:
    """The clients, and what is done to the nodes."""

    def __init__(
        self, scene: Scene, cluster: ClusterOfNodes, results: Results, options: SessionOptions
    ) -> None:
        self._scene = scene
        self._cluster = cluster
        self._results = results
        self._options = options
        self._dice = random.Random(options.seed)  # noqa: S311  a choice, not a secret
        self._doors = Doors()
        self._near = Doors()

    async def run(self, interactive: _Kinds, plain: _Kinds) -> None:
        self._near.open(self._cluster.nodes[HOLDER])
        for name in _DOORS:
            self._doors.open(self._cluster.nodes[name])
        clients = [await self._client(*each) for each in interactive.items()]
        callers = [await self._client(*each) for each in plain.items()]
        async with _going_on([*callers, await self._client(_ROAMING, _KINDS[0])]):
            for number in range(self._options.kills):
                await self._kill(clients, number, _DOORS[number % 2])
        for each in [*self._doors.talks.values(), *self._near.talks.values()]:
            await each.http.aclose()

    async def _client(self, server: str, kind: tuple[bool, str]) -> Client:
        dice = random.Random(self._dice.random())  # noqa: S311  a choice, not a secret
        client = Client(server, self._results, self._doors, dice, self._near.talks[HOLDER])
        await client.begin(session=kind[0])
        return client

    async def _kill(self, clients: Sequence[Client], number: int, name: str) -> None:
        """Kill a node in the middle of everybody's calls, and start it again."""
        (other,) = (each for each in _DOORS if each != name)
        await asyncio.to_thread(place_on, self._cluster, name, _ROAMING)
        victim, kill = self._doors.talks[name], Kill(number, asyncio.Barrier(len(clients) + 1))
        lives = [each.live_through(kill, victim, self._doors.talks[other]) for each in clients]
        going = asyncio.gather(*lives)
        await asyncio.wait(
            [going, asyncio.ensure_future(kill.all_began.wait())],
            return_when=asyncio.FIRST_COMPLETED,
        )
        node = self._cluster.nodes[name]
        self._scene.remember(node)
        self._doors.lose(name)
        await asyncio.to_thread(node.kill)
        self._doors.has_lost()
        kill.done.set()
        await going
        await victim.http.aclose()
        with suppress(TimeoutError):
            await asyncio.wait_for(
                asyncio.Event().wait(), self._dice.uniform(0.0, self._options.away)
            )
        self._doors.open(await asyncio.to_thread(self._cluster.start, name, ttl=TTL))
        # At once, although the nodes may not be linked yet.
        for client in clients:
            problem = await client.call(self._doors.talks[name], f"{name} is back")
            self._results.problems.update([problem[:300]] if problem else [])
        await asyncio.to_thread(wait_whole, self._cluster)


@asynccontextmanager
async def _going_on(clients: Sequence[Client]) -> AsyncGenerator[None]:
    over = asyncio.Event()
    tasks = [asyncio.create_task(each.call_on(over)) for each in clients]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*tasks)


async def _question(stream: AsyncIterator[Event]) -> Event:
    async for event in stream:
        if event.message and event.message.get("method") == "elicitation/create":
            return event
    raise AssertionError("the stream ended without a question")


async def _until_lost(stream: AsyncIterator[Event]) -> None:
    """Read until the connection breaks."""
    with suppress(httpx2.HTTPError):
        async for _ in stream:
            pass


def _text(answer: Message) -> str | None:
    """What the tool said; None for an error."""
    result = answer.get("result", {})
    return result["content"][0]["text"] if "content" in result else None
