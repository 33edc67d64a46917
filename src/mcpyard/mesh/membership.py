"""The loop that keeps a node in its cluster: joins, beats, looks, and does what is due.

The beat, the clock and the looks have a task each: a slow answer to one holds up no other.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from math import inf
from typing import Final
from uuid import UUID

from mcpyard.cluster.lease import MemberWatch
from mcpyard.domain.cluster import LeaseStore, Member, Node, NodeState
from mcpyard.domain.errors import NodeTaken, StoreAway, YardError
from mcpyard.mesh.duties import NodeDuties
from mcpyard.mesh.isolation import is_isolated
from mcpyard.mesh.mesh import Mesh
from mcpyard.wire.change_signal import ChangeSignal

log = logging.getLogger(__name__)

BEAT_EVERY: Final = 1.0
TICK_EVERY: Final = 0.25
LOOK_EVERY: Final = 1.0
HINT_PAUSE: Final = 0.02
"""Between two looks: a hundred servers that start at once are a hundred hints."""

WAKE_SECONDS: Final = 1.0
"""How long a node that woke asks what happened meanwhile, before it goes on."""


def boot_time() -> float:
    """CLOCK_BOOTTIME: it goes on while the machine or the process sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Membership:
    """One node's membership in its cluster.

    Attributes:
        duties: What it does for the cluster after each look.
        on_deadline: Called with the moment at which singletons must be gone, by CLOCK_BOOTTIME,
            whenever it is another one.
        on_taken: Called when another daemon has the name of this one: it must end.
    """

    def __init__(
        self,
        node: Node,
        leases: LeaseStore,
        mesh: Mesh,
        *,
        clock: Callable[[], float] = boot_time,
        replace: bool = False,
    ) -> None:
        self._node = node
        self._leases = leases
        self._mesh = mesh
        self._view = mesh.view
        self.on_deadline: Callable[[float], None] = lambda _: None
        self.on_taken: Callable[[NodeTaken], None] = lambda _: None
        self._clock = clock
        self._replace = replace
        self._hint = asyncio.Event()
        self._looked = ChangeSignal()
        # A list that was read before a move must not be taken over after it.
        self._turn = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []
        self._waking: asyncio.Task[None] | None = None
        self._has_joined = False
        self._beats: dict[str, tuple[int, int]] = {}
        self.duties = NodeDuties(leases, mesh)
        mesh.on_hint = self.hint
        mesh.on_ended = self._left

    @property
    def isolated(self) -> bool:
        """See `is_isolated`."""
        return is_isolated(self._view, self._mesh.links)

    async def start(self) -> None:
        """Join the cluster and stay in it; without the database once it answers.

        Raises:
            NodeTaken: Another daemon has the name of the node.
        """
        try:
            await self._join()
            await self._look()
        except StoreAway as error:
            self._view.store_lost()
            log.warning("%s; only servers of this machine's own files run meanwhile", error.message)
        loops = {"beat": self._beat, "tick": self._tick, "look": self._watch}
        for name, loop in loops.items():
            self._tasks.append(asyncio.create_task(loop(), name=f"cluster {name}"))

    def hint(self) -> None:
        """Something may have changed in the store: look now."""
        self._hint.set()

    async def move(self, server: UUID, node: str) -> None:
        """Move a server to another node; returns as soon as that is planned.

        Raises:
            ServerUnknown: It has no node.
            NodeUnknown: There is no such node, or it takes no servers.
        """
        async with self._turn:
            self._mesh.learn([await self._leases.plan_move(server, node)], from_store=True)
        self.hint()

    async def hand_over(self) -> None:
        """Have other nodes run the servers of this one, each once it can be called there.

        Returns when nothing is left here that another node can run, and no call of it; at once
        without the database.
        """
        await self._guard(self._hand_over)

    async def _hand_over(self) -> None:
        name = self._node.name
        if not await self._leases.beat(name, self._view.lease.epoch):
            # The name may be that of another daemon by now.
            return
        await self._leases.set_state(name, NodeState.DRAINING)
        self.hint()
        while self._view.lease.epoch and not self._view.database_away:
            if self.duties.is_emptied:
                return
            await self._looked.wait(inf)

    async def close(self) -> None:
        """Stop beating, and have other nodes run all but singletons, which end here first.

        Without the database the other nodes take over when the lease ends.
        """
        tasks = [*self._tasks, *([self._waking] if self._waking else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._leave(keep_singletons=True)
        # Calls of singletons wait from now on, for the node that gets them.
        self._view.lease.release()

    async def _left(self) -> None:
        """All servers of this node have ended: have other nodes run the rest, and be gone."""
        await self._leave(keep_singletons=False)

    async def _leave(self, *, keep_singletons: bool) -> None:
        if self._view.lease.epoch and not self._view.database_away:
            await self._guard(partial(self.duties.leave, keep_singletons=keep_singletons))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_EVERY)
            await self._guard(self._beat_once)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_EVERY)
            if self._view.admission.woken and (self._waking is None or self._waking.done()):
                self._waking = asyncio.create_task(self._wake(), name="cluster wake")
            self._mesh.looked()

    async def _watch(self) -> None:
        while True:
            try:
                async with asyncio.timeout(LOOK_EVERY):
                    await self._hint.wait()
            except TimeoutError:
                pass
            self._hint.clear()
            await self._guard(self._look)
            self._looked.happened()
            await asyncio.sleep(HINT_PAUSE)

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do something that the store may be away for, or that may fail: the loop goes on."""
        try:
            await work()
        except StoreAway:
            if not self._view.database_away:
                log.warning("the database of the cluster cannot be reached")
            self._view.store_lost()
        except YardError as error:
            log.error("%s", error.message)  # noqa: TRY400  it says all
        except Exception:
            # One round that fails must not end the membership.
            log.exception("a round of the cluster failed")

    async def _beat_once(self) -> None:
        lease = self._view.lease
        if not lease.epoch:
            await self._join_again()
            return
        asked_at = self._clock()
        held = await self._leases.beat(self._node.name, lease.epoch)
        self._view.beaten(asked_at, held=held)
        self.on_deadline(lease.until)
        if not held:
            log.warning("another node took over the servers of this one; it joins again")
            await self._look()
            await self._join_again()

    async def _join_again(self) -> None:
        try:
            await self._join()
        except NodeTaken as taken:
            self.on_taken(taken)

    async def _join(self) -> None:
        asked_at = self._clock()
        try:
            epoch = await self._leases.join(self._node, replace=self._replace)
        except NodeTaken as taken:
            if self._has_joined:
                # What has the name now came after this one.
                raise
            asked_at, epoch = await self._join_later(taken)
        self._replace = False
        self._view.joined(epoch, asked_at)
        self.on_deadline(self._view.lease.until)
        self.duties.rejoined()
        self._has_joined = True
        self.hint()

    async def _join_later(self, taken: NodeTaken) -> tuple[float, int]:
        """Join once the daemon that has the name was seen not to beat for its time to live."""
        watch = MemberWatch()
        while True:
            members = await self._leases.members()
            before = next((it for it in members if it.node.name == self._node.name), None)
            if before is None or (before.node.home != self._node.home and not self._replace):
                raise taken
            now = self._clock()
            watch.seen([before], now)
            if watch.silent(before, now):
                asked_at = self._clock()
                return asked_at, await self._leases.join(
                    self._node, watched=before, replace=self._replace
                )
            await asyncio.sleep(TICK_EVERY)

    async def _look(self) -> None:
        if not self._has_joined:
            return
        async with self._turn:
            asked_at = self._clock()
            members = await self._leases.members()
            placements = await self._leases.placements()
            self._note_beats(members)
            self._mesh.placed(self._view.listed(members, placements, asked_at))
            self._mesh.links.follow(self._view.peers)
            self._mesh.looked()
            if self._view.lease.epoch:
                await self.duties.do()

    def _note_beats(self, members: Sequence[Member]) -> None:
        for each in members:
            beat = each.epoch, each.beat
            name = each.node.name
            if self._beats.get(name, beat) != beat:
                self._mesh.router.last_beat[name] = self._clock()
            self._beats[name] = beat

    async def _wake(self) -> None:
        """Ask the store and the other nodes what happened meanwhile; go on without an answer."""
        admission, asked_at = self._view.admission, self._clock()
        questions = {asyncio.create_task(self._guard(self._look))}
        for link in self._mesh.links.all():
            questions.add(asyncio.create_task(self._ask_peer(link.node, asked_at)))
        try:
            async with asyncio.timeout(WAKE_SECONDS):
                while questions and admission.woken:
                    _, questions = await asyncio.wait(
                        questions, return_when=asyncio.FIRST_COMPLETED
                    )
        except TimeoutError:
            log.warning("this node slept, and nobody could say what happened meanwhile")
        finally:
            for task in questions:
                task.cancel()
        admission.confirm(self._clock())
        self._mesh.looked()

    async def _ask_peer(self, node: str, asked_at: float) -> None:
        link = self._mesh.links.get(node)
        if link is None:
            return
        try:
            await self._mesh.ask_placements(link)
        except YardError:
            return
        self._view.admission.confirm(asked_at)
