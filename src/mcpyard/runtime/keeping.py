"""The yard's side of the keeper: spawn children through it, hear of their ends, end them.

The keeper is a process of its own so that it can outlive the yard by the moment it takes to kill
every descendant. Should the keeper die instead, its children are as good as lost: they are told to
be, what carries this yard's mark is killed, and the next spawn starts a new keeper.
"""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcpyard.runtime import keeper
from mcpyard.runtime.channel import Channel
from mcpyard.runtime.orphans import Mark, end_marked

_START_SECONDS: Final = 10.0
"""A Python with five imports; only a machine in distress needs longer."""
_END_SECONDS: Final = keeper.GIVE_UP_SECONDS + 2.0
"""The keeper gives up by itself first, and says how much is left."""
_EXIT_SECONDS: Final = 0.05
"""Half of the 100 ms in which the calls in flight must fail after a crash."""
_SEEN_SECONDS: Final = 0.5
"""A look takes milliseconds; no stop is to hang on it."""
_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH",)
"""What the interpreter may need to start; no mark of an outer yard, no secrets."""

_log = logging.getLogger(__name__)


class SpawnFailed(Exception):
    """A child could not be started.

    Attributes:
        errno: The operating system's reason.
        message: The same in words.
        which: What was at fault: the `command`, the `cwd`, or the `keeper` itself.
    """

    def __init__(self, code: int, message: str, which: str) -> None:
        super().__init__(message)
        self.errno = code
        self.message = message
        self.which = which


@dataclass(frozen=True, slots=True)
class Exit:
    """How a main process ended; both are None when nobody was left to see it."""

    code: int | None = None
    signal: int | None = None

    def describe(self) -> str:
        """The end in words that follow the server's name."""
        if self.code is not None:
            return f"exited with code {self.code}"
        if self.signal is None:
            return "was lost with its keeper"
        try:
            return f"was killed by {signal.Signals(self.signal).name}"
        except ValueError:
            return f"was killed by signal {self.signal}"


@dataclass(frozen=True, slots=True)
class StopPolicy:
    """How long a child may take to end by itself."""

    eof_grace: float = 2.0
    term_grace: float = 3.0


@dataclass(eq=False, slots=True)
class Child:
    """A running server process. Its three pipe ends belong to whoever spawned it.

    Attributes:
        exited: Resolves when the main process has ended. Shield it: whoever cancels it, cancels
            it for all.
        gone: Resolves when its whole tree has ended, with the number of processes that would not.
        seen: Set when the keeper has noted of which processes it consists.
    """

    number: int
    stdin: int
    stdout: int
    stderr: int
    exited: asyncio.Future[Exit]
    gone: asyncio.Future[int]
    _tell: Callable[[Mapping[str, object]], None] = field(repr=False)
    pid: int = 0
    seen: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def terminate(self) -> None:
        """Ask the process group to end."""
        self._tell({"do": "signal", "n": self.number, "signal": signal.SIGTERM})

    async def last_exit(self) -> Exit | None:
        """How it ended, of one that hung up; None when it only did that, and lives on.

        One that is dying is waited for: on a busy machine the keeper may take a while to say how.
        """
        if not await self._exits_within(_EXIT_SECONDS):
            row = keeper.read_process(self.pid)
            if row is None or row.dying:
                await self._exits_within(_END_SECONDS)
        return self.exited.result() if self.exited.done() else None

    async def kill(self) -> bool:
        """Kill the child and all its descendants; whether the tree is known to be empty."""
        self._end()
        await asyncio.wait({self.gone}, timeout=_END_SECONDS)
        return self.gone.done() and self.gone.result() == 0

    async def stop(self, close_stdin: Callable[[], None], policy: StopPolicy) -> Exit:
        """End the child in order: end of input, TERM, KILL; its descendants in any case.

        Cancelling skips the patience, not the KILL.
        """
        try:
            await self._be_seen()
            close_stdin()
            if not await self._exits_within(policy.eof_grace):
                self.terminate()
                await self._exits_within(policy.term_grace)
        finally:
            self._end()
        await self.kill()
        return self.exited.result() if self.exited.done() else Exit()

    def _end(self) -> None:
        if not self.gone.done():
            self._tell({"do": "end", "n": self.number})

    async def _be_seen(self) -> None:
        # Once it ends, what it leaves behind may not be recognisable any more.
        if not self.exited.done():
            self.seen.clear()
            self._tell({"do": "look", "n": self.number})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.seen.wait(), _SEEN_SECONDS)

    async def _exits_within(self, seconds: float) -> bool:
        await asyncio.wait({self.exited}, timeout=seconds)
        return self.exited.done()


@dataclass(eq=False, slots=True)
class _Run:
    """One keeper process, from its start to its end."""

    process: subprocess.Popen[bytes]
    channel: Channel
    ready: asyncio.Future[bool]
    ended: asyncio.Future[None]


class Keeper:
    """Starts and ends the children of one yard.

    Attributes:
        lost: How many keepers have died before their time.
    """

    def __init__(self, instance: str, on_lost: Callable[[], None] = lambda: None) -> None:
        self.lost = 0
        self._instance = instance
        self._on_lost = on_lost
        self._lock = asyncio.Lock()
        self._run: _Run | None = None
        self._aftermath: asyncio.Task[None] | None = None
        self._closing = False
        self._count = 0
        self._children: dict[int, Child] = {}
        self._answers: dict[int, asyncio.Future[None]] = {}

    @property
    def pid(self) -> int | None:
        """The keeper's pid, None while there is no keeper."""
        return self._run.process.pid if self._run else None

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

    async def spawn(self, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Child:
        """Start a child with exactly this environment, plus the yard's mark.

        Raises:
            SpawnFailed: It could not be started, and nothing is left of the attempt.
        """
        await self.start()
        self._count += 1
        number = self._count
        child, far_ends = self._prepare(number)
        mark = Mark.of_this_process(self._instance).of_child(number)
        marked = {**env, keeper.MARK: mark}
        request = {"do": "spawn", "n": number, "argv": [*argv], "env": marked, "cwd": cwd}
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._children[number] = child
        try:
            self._tell(request, far_ends)
            await answer
        except BaseException:
            # Requests are served in their order: if the child still comes to be, this meets it.
            self._tell({"do": "end", "n": number})
            self._children.pop(number, None)
            _close((child.stdin, child.stdout, child.stderr))
            raise
        finally:
            del self._answers[number]
        return child

    async def close(self) -> None:
        """End the keeper and with it all children; nothing is left afterwards. May be repeated."""
        async with self._lock:
            if run := self._run:
                self._closing = True
                run.channel.finish()
                await asyncio.wait({run.ended}, timeout=_END_SECONDS)
                if not run.ended.done():
                    run.process.kill()
                    await asyncio.wait({run.ended}, timeout=_END_SECONDS)
            await self._settle()
            self._closing = False

    def _launch(self) -> _Run:
        loop = asyncio.get_running_loop()
        ready, ended = loop.create_future(), loop.create_future()
        try:
            process, ours = _run_program()
        except OSError as error:
            raise SpawnFailed(error.errno or 0, str(error), "keeper") from error
        return _Run(process, Channel(ours, self._hear, self._ended), ready, ended)

    def _prepare(self, number: int) -> tuple[Child, tuple[int, ...]]:
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as undo:
            try:
                pipes = [_pipe(undo) for _ in range(keeper.PIPE_ENDS)]
            except OSError as error:
                raise SpawnFailed(error.errno or 0, str(error), "command") from error
            undo.pop_all()
        (far_in, stdin), (stdout, far_out), (stderr, far_err) = pipes
        for fd in (stdin, stdout, stderr):
            os.set_blocking(fd, False)
        child = Child(
            number, stdin, stdout, stderr, loop.create_future(), loop.create_future(), self._tell
        )
        return child, (far_in, far_out, far_err)

    def _tell(self, request: Mapping[str, object], fds: tuple[int, ...] = ()) -> None:
        if self._run:
            self._run.channel.send(request, fds)
        else:
            _close(fds)
            self._fail({"n": request["n"], "errno": errno.ECHILD, "which": "keeper"})

    def _hear(self, message: dict[str, Any]) -> None:
        match message["say"]:
            case "ready" if self._run:
                _resolve(self._run.ready, True)
            case "spawned":
                self._spawned(message)
            case "spawn_failed":
                self._fail(message)
            case "exited" if child := self._children.get(message["n"]):
                _resolve(child.exited, Exit(message["status"], message["signal"]))
            case "gone" if child := self._children.pop(message["n"], None):
                _resolve(child.gone, message["left"])
            case "looked" if child := self._children.get(message["n"]):
                child.seen.set()
            case "refused":
                _log.error("The keeper refused a request: %s", message["message"])
            case _:
                """Of a child whose spawning was cancelled."""

    def _spawned(self, message: dict[str, Any]) -> None:
        child, answer = self._children.get(message["n"]), self._answers.get(message["n"])
        if child and answer:
            child.pid = message["pid"]
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
        for number in self._answers:
            self._fail({"n": number, "errno": errno.ECHILD, "which": "keeper"})
        for child in children.values():
            _resolve(child.exited, Exit())
        _resolve(run.ready, False)
        _resolve(run.ended, None)
        self._aftermath = asyncio.create_task(self._clean_up(run, children))
        if not self._closing:
            self.lost += 1
            self._on_lost()

    async def _clean_up(self, run: _Run, children: Mapping[int, Child]) -> None:
        left = len(children)
        run.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(run.process.wait, _END_SECONDS)
        try:
            left = (await asyncio.to_thread(end_marked, Mark.of_this_process(self._instance))).left
        except OSError:
            _log.exception("What a lost keeper left behind could not be ended for certain")
        for child in children.values():
            _resolve(child.gone, left)

    async def _settle(self) -> None:
        if self._aftermath:
            # Whoever stops waiting leaves it to the next, and however it ends, it is over then.
            await asyncio.wait({self._aftermath})
            self._aftermath = None


def _run_program() -> tuple[subprocess.Popen[bytes], socket.socket]:
    program = Path(keeper.__file__)
    with contextlib.ExitStack() as undo:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        undo.enter_context(ours)
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own program, by our own interpreter
                [sys.executable, "-I", "-S", program, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        undo.pop_all()
    return process, ours


def _pipe(undo: contextlib.ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    undo.callback(_close, ends)
    return ends


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)
