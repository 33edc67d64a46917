"""What is done to a yard and its servers while they are called."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count

import httpx2

from bench.fire.keepers import hang_keeper, kill_keeper, kill_yard_with_hung_keeper, send
from bench.fire.members import GUARDED, LOCAL, Member
from bench.fire.scene import Scene, one
from tests.faults.editors import WAYS

BETWEEN_DEEDS = 0.15
HEAL_EVERY = 1.0
HELD = (0.2, 2.0)
HANG_TIMEOUT = 300
FROZEN = (4.0, 8.0)
"""Seconds that a server is frozen: longer than the time limit of its calls."""

BETWEEN_HUNG_KEEPERS = 3
"""How many yards live, on average, between two keepers that hang until they are replaced."""

WITH_HUNG_KEEPER = 0.3
"""Share of the yards that are killed while their keeper is stopped."""


class Mischief:
    """Somebody who kills, holds and changes things, a few at a time.

    Attributes:
        done: How often each deed was done.
        odd: What went otherwise than it may.
    """

    def __init__(self, scene: Scene, yard_lives: float, *, hangs_keepers: bool) -> None:
        self.done: Counter[str] = Counter()
        self.odd: list[str] = []
        self._scene = scene
        self._yard_lives = yard_lives
        self._hangs_keepers = hangs_keepers
        self._tags = count(1)
        self._held: set[int] = set()
        self._ending = asyncio.Event()
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
        self._ending = ending
        works = (self._do_deeds, self._do_deeds, self._heal, self._freeze_servers)
        async with asyncio.TaskGroup() as group:
            for work in (*works, self._kill_yards, *[self._hang_keepers] * self._hangs_keepers):
                group.create_task(work(ending))
        for pid in self._held:
            send(pid, signal.SIGCONT)

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
            if await self._ends_within(self._yard_lives * dice.uniform(0.5, 1.5)):
                return
            if dice.random() < WITH_HUNG_KEEPER:
                await kill_yard_with_hung_keeper(self._scene)
                self.done["kill yard with hung keeper"] += 1
            else:
                async with self._scene.keeper_lock:
                    await self._scene.kill_yard()
            self.done["kill yard"] += 1

    async def _hang_keepers(self, ending: asyncio.Event) -> None:
        dice = self._scene.dice
        while not ending.is_set():
            lives = BETWEEN_HUNG_KEEPERS * self._yard_lives
            if await self._ends_within(lives * dice.uniform(0.5, 1.5)):
                return
            await self._scene.up.wait()
            await self._tried(self._hang_keeper)

    async def _freeze_servers(self, ending: asyncio.Event) -> None:
        while not ending.is_set():
            await self._scene.up.wait()
            await self._tried(self._freeze)

    async def _ends_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)
        return self._ending.is_set()

    def _any(self, *kinds: str) -> Member:
        candidates = [each for each in self._scene.members if each.kind in kinds or not kinds]
        return self._scene.dice.choice([each for each in candidates if each.callable])

    async def _pid(self, *kinds: str) -> int | None:
        return (await self._scene.records())[self._any(*kinds or LOCAL).name]["pid"]

    async def _kill(self) -> None:
        if pid := await self._pid():
            send(pid, signal.SIGKILL)

    async def _hold(self) -> None:
        if pid := await self._pid():
            await self._hold_pid(pid, HELD)

    async def _freeze(self) -> None:
        """Hold a server, mostly one with a fallback, for longer than its calls may take."""
        kinds = self._scene.dice.choice([(GUARDED,), (GUARDED,), LOCAL])
        while not self._ending.is_set():
            if pid := await self._pid(*kinds):
                await self._hold_pid(pid, FROZEN)
                return
            await asyncio.sleep(BETWEEN_DEEDS)

    async def _hold_pid(self, pid: int, seconds: tuple[float, float]) -> None:
        self._held.add(pid)
        send(pid, signal.SIGSTOP)
        await self._ends_within(self._scene.dice.uniform(*seconds))
        send(pid, signal.SIGCONT)
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
            await self._hold_pid(self._scene.remotes.pid, HELD)

    async def _kill_keeper(self) -> None:
        # Waiting for the turn would keep other deeds from being done.
        if not self._scene.keeper_lock.locked():
            self._complain(await kill_keeper(self._scene))

    async def _hang_keeper(self) -> None:
        self._complain(await hang_keeper(self._scene))

    def _complain(self, of: str) -> None:
        self.odd += [of] if of else []


def _is_projects(member: Member) -> bool:
    return member.scope == "project" and member.callable
