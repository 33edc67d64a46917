"""What is done to a yard and its servers while they are called."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import httpx2

from bench.fire.members import LOCAL, Member
from bench.fire.scene import Scene, one
from tests.faults.editors import WAYS

BETWEEN_DEEDS = 0.15
HEAL_EVERY = 1.0
HELD = (0.2, 2.0)
HANG_TIMEOUT = 300


class Mischief:
    """Somebody who kills, holds and changes things, a few at a time.

    Attributes:
        done: How often each deed was done.
        odd: What went otherwise than it may.
    """

    def __init__(self, scene: Scene, yard_lives: float) -> None:
        self.done: Counter[str] = Counter()
        self.odd: list[str] = []
        self._scene = scene
        self._yard_lives = yard_lives
        self._tags = count(1)
        self._held: set[int] = set()
        self._deeds: dict[Callable[[], Awaitable[None]], int] = {
            self._kill: 30,
            self._hold: 15,
            self._hang: 10,
            self._edit_by_hand: 12,
            self._edit: 18,
            self._restart: 6,
            self._stop_and_start: 4,
            self._kill_remotes: 2,
            self._hold_remotes: 2,
            self._kill_keeper: 1,
        }

    async def run(self, ending: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            for work in (self._do_deeds, self._do_deeds, self._heal, self._kill_yards):
                group.create_task(work(ending))
        for pid in self._held:
            _send(pid, signal.SIGCONT)

    async def _do_deeds(self, ending: asyncio.Event) -> None:
        dice = self._scene.dice
        while not ending.is_set():
            await self._scene.up.wait()
            (deed,) = dice.choices([*self._deeds], [*self._deeds.values()])
            await self._tried(deed)
            await asyncio.sleep(dice.uniform(0, 2 * BETWEEN_DEEDS))

    async def _tried(self, deed: Callable[[], Awaitable[None]]) -> None:
        """Do it; a yard that is killed meanwhile cuts it short."""
        epoch = self._scene.epoch
        name = deed.__name__.strip("_").replace("_", " ")
        try:
            await deed()
            self.done[name] += 1
        except (httpx2.TransportError, RuntimeError) as error:
            if self._scene.epoch == epoch:
                self.odd.append(f"{name}: {error!r}")

    async def _heal(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            await asyncio.sleep(HEAL_EVERY)
            await self._scene.up.wait()
            await self._tried(self._scene.heal)

    async def _kill_yards(self, ending: asyncio.Event) -> None:
        dice = self._scene.dice
        while not ending.is_set():
            lives = self._yard_lives * dice.uniform(0.5, 1.5)
            with suppress(TimeoutError):
                await asyncio.wait_for(ending.wait(), lives)
                return
            await self._scene.kill_yard()
            self.done["kill yard"] += 1

    def _any(self, *kinds: str) -> Member:
        found = [each for each in self._scene.members if each.kind in kinds or not kinds]
        return self._scene.dice.choice([each for each in found if each.callable])

    async def _pid(self) -> int | None:
        return (await self._scene.records())[self._any(*LOCAL).name]["pid"]

    async def _kill(self) -> None:
        if pid := await self._pid():
            _send(pid, signal.SIGKILL)

    async def _hold(self) -> None:
        if pid := await self._pid():
            await self._hold_pid(pid)

    async def _hold_pid(self, pid: int) -> None:
        self._held.add(pid)
        _send(pid, signal.SIGSTOP)
        await asyncio.sleep(self._scene.dice.uniform(*HELD))
        _send(pid, signal.SIGCONT)
        self._held.discard(pid)

    async def _hang(self) -> None:
        body = {"arguments": {"text": "x"}, "timeoutMs": HANG_TIMEOUT}
        path = one(self._any().name, "tools", "hang", "call")
        answer = await self._scene.http.post(path, json=body)
        if answer.status_code == 200:
            self.odd.append(f"a call that hangs was answered: {answer.text[:80]}")

    async def _edit_by_hand(self) -> None:
        """Save the project file as some editor does."""
        scene, tag = self._scene, next(self._tags)
        member = scene.dice.choice([each for each in scene.members if _is_projects(each)])
        async with scene.document:
            text = scene.project.read_text()
            document = json.loads(text)
            document["mcpServers"][member.name].update(member.launch(tag))
            member.try_tag(tag)
            save = scene.dice.choice(WAYS)
            whole = json.dumps(document, indent=2).encode() + b"\n"
            await save(scene.project, text.encode(), whole)
            member.take_tag(tag)

    async def _edit(self) -> None:
        """Change a definition over REST, in the project's file or in the store."""
        member = self._any()
        if member.scope == "project":
            async with self._scene.document:
                await self._patch(member)
        else:
            await self._patch(member)

    async def _patch(self, member: Member) -> None:
        tag = next(self._tags)
        member.try_tag(tag)
        path = one(member.name)
        answer = await self._scene.http.patch(path, params={"wait": 0}, json=member.launch(tag))
        if answer.status_code == 200:
            member.take_tag(tag)
        elif answer.status_code in {409, 412}:
            # The yard has not yet read what was saved by hand: nothing is written.
            member.maybe.discard(tag)
        else:
            self.odd.append(f"edit of {member.name}: {answer.status_code} {answer.text[:200]}")

    async def _restart(self) -> None:
        await self._post(self._any(), "restart", 5)

    async def _stop_and_start(self) -> None:
        member = self._any()
        try:
            await self._post(member, "stop", 0.2)
        finally:
            await self._scene.up.wait()
            await self._post(member, "start", 0)

    async def _post(self, member: Member, what: str, wait: float) -> None:
        path = one(member.name, what)
        answer = await self._scene.http.post(path, params={"wait": wait})
        if answer.status_code != 200:
            self.odd.append(f"{what} {member.name}: {answer.status_code} {answer.text[:200]}")

    async def _kill_remotes(self) -> None:
        await self._scene.kill_remotes()
        await self._scene.start_remotes()

    async def _hold_remotes(self) -> None:
        if self._scene.remotes:
            await self._hold_pid(self._scene.remotes.pid)

    async def _kill_keeper(self) -> None:
        if pid := self._scene.keeper():
            _send(pid, signal.SIGKILL)


def _is_projects(member: Member) -> bool:
    return member.scope == "project" and member.callable


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
