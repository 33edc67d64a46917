"""The yard's side of the keeper: spawn children through it, learn of their ends, end them.

The keeper is a process of its own so that it can outlive the yard by the moment it takes to kill
every descendant. Should the keeper die instead, or stop responding, its children are as good as
lost: they are told to be, everything it left behind is killed, and the next spawn starts a new one.
"""

import asyncio
import errno
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from mcpyard.domain.degradation import Degradation
from mcpyard.domain.model import NO_LIMITS, ResourceLimits
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.cgroups import Cgroup
from mcpyard.runtime.processes.channel import Channel
from mcpyard.runtime.processes.child import END_SECONDS, ChildProcess, Exit, SpawnFailed, StopPolicy
from mcpyard.runtime.processes.keeper_process import (
    KeeperRun,
    close_all,
    make_pipes,
    reap_keeper,
)
from mcpyard.runtime.processes.keeper_program import KeeperProgram, start_program
from mcpyard.runtime.processes.limit_watch import LimitWatch
from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.orphans import Remains
from mcpyard.runtime.processes.table import MARK

__all__ = ["ChildProcess", "Exit", "KeeperClient", "Pulse", "SpawnFailed", "StopPolicy"]

_START_SECONDS: Final = 10.0
"""A Python with five imports; only a machine in distress needs longer."""
_STRIKE_SECONDS: Final = 0.5
"""For the first look at what a lost keeper left: callers wait for it, but not for long."""
_LOST: Final = "the keeper process, which starts servers, died"
_HUNG: Final = "the keeper process, which starts servers, stopped responding"
_SILENT: Final = 2
"""Pings without an answer: the last one is always on its way."""
_REPLACED: Final = "No action is needed: mcpyard replaces it and starts its servers again."

_log = logging.getLogger(__name__)


class Pulse(Struct, frozen=True):
    """How often a keeper is asked whether it responds, and how often in a row it may not."""

    seconds: float = 2.0
    misses: int = 5


_PULSE: Final = Pulse()


class KeeperClient:
    """Starts and ends the children of one yard.

    Attributes:
        lost: How many keepers have died before their time, or were replaced.
        limit_watch: Ends children that use more than they may.
    """

    def __init__(
        self,
        instance: str,
        on_lost: Callable[[], None] = lambda: None,
        *,
        key: MarkKey | None = None,
        program: KeeperProgram | None = None,
        pulse: Pulse = _PULSE,
    ) -> None:
        self.lost = 0
        self._instance = instance
        self._on_lost = on_lost
        self._key = key or MarkKey()
        self._program = program
        self._pulse = pulse
        self._lock = asyncio.Lock()
        self._run: KeeperRun | None = None
        self._early: asyncio.Task[None] | None = None
        self._aftermath: asyncio.Task[None] | None = None
        self._closing = False
        self._until = 0.0
        self._count = 0
        self._children: dict[int, ChildProcess] = {}
        self._answers: dict[int, asyncio.Future[None]] = {}
        self.limit_watch = LimitWatch()

    @property
    def pid(self) -> int | None:
        """The keeper's pid, None while there is no keeper."""
        return self._run.process.pid if self._run else None

    async def check(self) -> Degradation | None:
        """Whether the keeper responds; none runs before the first local server."""
        run = self._run
        if run is None or run.unanswered < _SILENT:
            return None
        return Degradation("keeper", f"{_HUNG} (pid {run.process.pid})", _REPLACED)

    def start_early(self) -> None:
        """Let the keeper start meanwhile; if that fails, the first spawn tries again and tells."""
        self._early = asyncio.create_task(self.start(), name="keeper start")
        self._early.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def start(self) -> None:
        """Start the keeper, unless it runs.

        Raises:
            SpawnFailed: The keeper itself does not come up.
        """
        async with self._lock:
            await self._settle()
            if self._run is None:
                self._run = run = self._launch()
                await asyncio.wait({run.ready}, timeout=_START_SECONDS)
                if not (run.ready.done() and run.ready.result()):
                    run.process.kill()
                    raise SpawnFailed(errno.ECHILD, "the keeper did not start", "keeper")
                run.watching = asyncio.create_task(self._watch(run), name="keeper watch")

    async def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        limits: ResourceLimits = NO_LIMITS,
        *,
        fenced: bool = False,
    ) -> ChildProcess:
        """Start a child with exactly this environment, plus the yard's mark.

        One that is fenced runs for as long as `until` says, and is not started afterwards.

        Raises:
            SpawnFailed: It could not be started, and nothing is left of the attempt.
        """
        await self.start()
        self._count += 1
        number = self._count
        child, far_ends = self._prepare(number)
        mark = self._key.sign(Mark.of_this_process(self._instance), number)
        marked = {**env, MARK: mark}
        group = self._limit(child, limits)
        request = {"do": "spawn", "n": number, "argv": [*argv], "env": marked, "cwd": cwd}
        request |= {"cgroup": str(group.folder)} if group else {}
        request |= {"fenced": True, "until": self._until} if fenced else {}
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._children[number] = child
        try:
            self._send(request, far_ends)
            await answer
        except BaseException:
            # Requests are served in their order: if the child still comes to be, this meets it.
            self._send({"do": "end", "n": number})
            self._children.pop(number, None)
            close_all((child.stdin, child.stdout, child.stderr))
            if group:
                group.remove()
            raise
        finally:
            del self._answers[number]
        if group and not group.holds(child.pid) and child.lives:
            # Without its group, the looks at the tree have to do.
            child.cgroup = None
            group.remove()
        self.limit_watch.watch(child)
        return child

    def until(self, at: float) -> None:
        """Let fenced children run until then, on CLOCK_BOOTTIME, and not a moment longer.

        Their trees are killed at that moment, whatever becomes of this process meanwhile. A moment
        that has passed, as 0, ends them at once.
        """
        self._until = at
        if self._run:
            self._run.channel.send({"do": "until", "n": 0, "at": at})

    async def close(self) -> None:
        """End the keeper and with it all children; nothing is left afterwards. May be repeated."""
        _cancel(self._early)
        async with self._lock:
            if run := self._run:
                self._closing = True
                self.limit_watch.close()
                _cancel(run.watching)
                run.channel.finish()
                await asyncio.wait({run.ended}, timeout=END_SECONDS)
                if not run.ended.done():
                    run.process.kill()
                    await asyncio.wait({run.ended}, timeout=END_SECONDS)
            await self._settle()
            self._closing = False

    def _launch(self) -> KeeperRun:
        loop = asyncio.get_running_loop()
        ready, ended = loop.create_future(), loop.create_future()
        program, self._program = self._program, None
        try:
            process, ours = program or start_program()
        except OSError as error:
            raise SpawnFailed(error.errno or 0, str(error), "keeper") from error
        cgroup = self._enclose(process.pid)
        return KeeperRun(process, Channel(ours, self._receive, self._ended), cgroup, ready, ended)

    def _enclose(self, pid: int) -> Cgroup | None:
        """Put the keeper into a control group of its own, before it starts anything."""
        name = self._key.sign_group(Mark.of_this_process(self._instance), self._count)
        cgroup = Cgroup.make(name)
        if cgroup and not cgroup.take_keeper(pid):
            cgroup.remove()
            return None
        return cgroup

    def _limit(self, child: ChildProcess, limits: ResourceLimits) -> Cgroup | None:
        """Note the limits of a child; the control group that enforces them, where one can be."""
        child.limits, child.on_limits = limits, self.limit_watch.watch
        cgroup = self._run and self._run.cgroup
        if cgroup is None or limits == NO_LIMITS:
            return None
        child.cgroup = cgroup.for_server(child.number, limits)
        return child.cgroup

    async def _watch(self, run: KeeperRun) -> None:
        # Beats are counted, not seconds: a yard that was stopped meanwhile, and its keeper with it,
        # finds one beat unanswered when it goes on, however long that was.
        while run.unanswered < self._pulse.misses:
            run.unanswered += 1
            run.channel.send({"do": "ping", "n": 0})
            await asyncio.sleep(self._pulse.seconds)
        _log.error("The keeper (pid %d) stopped responding and is replaced", run.process.pid)
        run.hung = True
        run.process.kill()
        run.channel.abandon()

    def _prepare(self, number: int) -> tuple[ChildProcess, tuple[int, ...]]:
        loop = asyncio.get_running_loop()
        try:
            (far_in, stdin), (stdout, far_out), (stderr, far_err) = make_pipes()
        except OSError as error:
            raise SpawnFailed(error.errno or 0, str(error), "command") from error
        for fd in (stdin, stdout, stderr):
            os.set_blocking(fd, False)
        child = ChildProcess(
            number, stdin, stdout, stderr, loop.create_future(), loop.create_future(), self._send
        )
        return child, (far_in, far_out, far_err)

    def _send(self, request: Mapping[str, object], fds: tuple[int, ...] = ()) -> None:
        if self._run:
            self._run.channel.send(request, fds)
        else:
            close_all(fds)
            self._fail(_lost_spawn(request["n"], _LOST))

    def _receive(self, message: dict[str, Any]) -> None:
        if self._run:
            self._note_alive(self._run, message["say"])
        match message["say"]:
            case "spawned":
                self._spawned(message)
            case "spawn_failed":
                self._fail(message)
            case "refused":
                _log.error("The keeper refused a request: %s", message["message"])
            case _ if child := self._children.get(message.get("n", 0)):
                self._receive_of(child, message)
            case _:
                """Of the keeper itself, or of a child whose spawning was cancelled."""

    def _receive_of(self, child: ChildProcess, message: dict[str, Any]) -> None:
        match message["say"]:
            case "exited":
                _resolve(
                    child.exited,
                    child.ended(message["status"], message["signal"], expired=message["expired"]),
                )
            case "gone":
                del self._children[child.number]
                if child.cgroup:
                    child.cgroup.remove()
                _resolve(child.gone, message["left"])
            case "detached":
                child.detached = tuple((pid, start) for pid, start in message["roots"])
            case _:
                child.seen.set()

    def _note_alive(self, run: KeeperRun, what: str) -> None:
        run.unanswered = 0
        if what == "ready":
            _resolve(run.ready, True)
        elif what == "pong":
            ADOPTION.spare_present(run.process.pid)

    def _spawned(self, message: dict[str, Any]) -> None:
        child, answer = self._children.get(message["n"]), self._answers.get(message["n"])
        if child and answer:
            child.pid, child.start = message["pid"], message["start"]
            _resolve(answer, None)

    def _fail(self, message: Mapping[str, Any]) -> None:
        answer = self._answers.get(message["n"])
        if answer and not answer.done():
            text = message.get("message") or os.strerror(message["errno"])
            answer.set_exception(SpawnFailed(message["errno"], text, message["which"]))

    def _ended(self) -> None:
        run, self._run = self._run, None
        children, self._children = self._children, {}
        if run is None:
            return
        _cancel(run.watching)
        for number in self._answers:
            self._fail(_lost_spawn(number, _HUNG if run.hung else _LOST))
        _resolve(run.ready, False)
        _resolve(run.ended, None)
        self._aftermath = asyncio.create_task(self._clean_up(run, children))
        if not self._closing:
            self.lost += 1
            self._on_lost()

    async def _clean_up(self, run: KeeperRun, children: Mapping[int, ChildProcess]) -> None:
        run.process.kill()
        mains = [(child.pid, child.start) for child in children.values() if child.start]
        mark = Mark.of_this_process(self._instance)
        remains = Remains(mark, self._key, mains, run.cgroup)
        # Whoever hears of the end closes the pipes, and by that lets what is left scatter.
        striking = asyncio.create_task(asyncio.to_thread(remains.strike))
        await asyncio.wait({striking}, timeout=_STRIKE_SECONDS)
        for child in children.values():
            _resolve(child.exited, Exit(keeper_hung=run.hung))
        left = len(children)
        try:
            await striking
            await asyncio.to_thread(reap_keeper, run.process)
            left = (await asyncio.to_thread(remains.end)).left
        except OSError:
            _log.exception("What a lost keeper left behind could not be ended for certain")
        for child in children.values():
            _resolve(child.gone, left)

    async def _settle(self) -> None:
        if self._aftermath:
            # Whoever stops waiting leaves it to the next, and however it ends, it is over then.
            await asyncio.wait({self._aftermath})
            self._aftermath = None


def _lost_spawn(number: object, message: str) -> dict[str, object]:
    return {"n": number, "errno": errno.ECHILD, "message": message, "which": "keeper"}


def _cancel(task: asyncio.Task[None] | None) -> None:
    if task:
        task.cancel()


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)
