"""The event loop that a yard runs on, and the ways to it from every other loop and thread.

Everything of a yard belongs to one loop: connections, queues, timers. An agent may live on another
one: a thread of a web server, a library that starts a loop for each run, a notebook. So whatever is
asked from elsewhere is carried to the yard's loop, and its result back.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from threading import Thread, get_ident
from typing import Any, Final, TypeVar

from mcpyard.domain.errors import Disconnected
from mcpyard.yard.calls.call_context import Progress

_Result = TypeVar("_Result")
_Work = Coroutine[Any, Any, _Result]

_CLOSED: Final = "mcpyard is closed, or its event loop does not run"
_ADVICE: Final = "Call within the block that opened mcpyard, or open it with Yard.open_sync()."
_BLOCKING: Final = (
    "a blocking call would stop the event loop that mcpyard runs on: await the call instead, "
    "or open mcpyard with Yard.open_sync()"
)


class YardLoop:
    """The event loop that is running where this is made."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_running = self._loop.is_running
        self._thread = get_ident()

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this loop."""
        # A thread runs one loop at a time; `asyncio.get_running_loop` costs a system call.
        return get_ident() == self._thread and self._is_running()

    @property
    def is_open(self) -> bool:
        """Whether anything can be run on this loop."""
        return not self._loop.is_closed()

    async def carry(self, work: _Work[_Result]) -> _Result:
        """Await a coroutine on this loop, from any other; cancelling the one cancels the other.

        Raises:
            Disconnected: This loop does not run any more.
        """
        if self.is_current:
            return await work
        future = self._submit(work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if future.cancelled() and not (task and task.cancelling()):
                raise _closed() from None
            raise

    def wait(self, work: _Work[_Result]) -> _Result:
        """Run a coroutine on this loop, and block the calling thread until it is done.

        Raises:
            RuntimeError: The caller is this loop itself, which would wait for ever.
            Disconnected: This loop does not run any more.
        """
        if get_ident() == self._thread:
            if self._loop.is_running():
                work.close()
                raise RuntimeError(_BLOCKING)
            if not self._loop.is_closed():
                return self._loop.run_until_complete(work)
        future = self._submit(work)
        try:
            return future.result()
        except CancelledError:
            raise _closed() from None
        except BaseException:
            future.cancel()
            raise

    def read(self, function: Callable[[], _Result]) -> _Result:
        """Call a function in the thread of this loop; it must be quick.

        Raises:
            Disconnected: This loop does not run any more.
        """
        if get_ident() == self._thread:
            return function()

        async def call() -> _Result:
            return function()

        return self.wait(call())

    def returning(self, progress: Progress | None) -> Progress | None:
        """A callback that is called on the loop of the caller, wherever it is called from."""
        if progress is None or self.is_current:
            return progress
        caller = asyncio.get_running_loop()
        return lambda report: _hand_back(caller, progress, report)

    def _submit(self, work: _Work[_Result]) -> Future[_Result]:
        if not self._loop.is_running():
            work.close()
            raise _closed()
        return asyncio.run_coroutine_threadsafe(work, self._loop)


def wait_anywhere(loop: YardLoop | None, work: _Work[_Result]) -> _Result:
    """Run a coroutine and block until it is done: on the loop of a yard, or on one of its own.

    Raises:
        RuntimeError: The caller is the loop of the yard, which would wait for ever.
        Disconnected: The yard was closed meanwhile.
    """
    if loop is not None and loop.is_open:
        return loop.wait(work)
    if not _has_loop():
        return asyncio.run(work)
    done: Future[_Result] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001  the caller gets it
            done.set_exception(error)

    Thread(target=run, name="mcpyard call", daemon=True).start()
    return done.result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _hand_back(loop: asyncio.AbstractEventLoop, progress: Progress, report: Any) -> None:  # noqa: ANN401  as it is
    # The caller may have gone; nobody waits for its progress then.
    if not loop.is_closed():
        loop.call_soon_threadsafe(progress, report)


def _closed() -> Disconnected:
    return Disconnected(_CLOSED).advising(_ADVICE)
