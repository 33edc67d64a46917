"""An async context manager on an event loop in a thread of its own, for code that blocks."""

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, TypeVar

_Opened = TypeVar("_Opened")
_Face = TypeVar("_Face")


class LoopThread(Generic[_Opened, _Face]):
    """Holds a context manager open in a thread, in one task from its begin to its end.

    Args:
        manager: What is held open.
        face: Makes what the `with` block gets of what the manager gives; called in the thread.
    """

    def __init__(
        self, manager: AbstractAsyncContextManager[_Opened], face: Callable[[_Opened], _Face]
    ) -> None:
        self._manager = manager
        self._face = face
        self._opened: Future[_Face] = Future()
        self._closed: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None
        # A program that ends without leaving the block must not wait for the thread; the keeper
        # ends the servers then.
        self._thread = threading.Thread(target=self._run, name="mcpyard", daemon=True)

    def __enter__(self) -> _Face:
        self._thread.start()
        try:
            return self._opened.result()
        except BaseException:
            # Interrupted, or it could not be opened: then the thread is at its end already.
            self._end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()
        self._thread.join()
        self._closed.result()

    def _end(self) -> None:
        loop, leave = self._loop, self._leave
        if loop and leave and not loop.is_closed():
            loop.call_soon_threadsafe(leave.set)

    def _run(self) -> None:
        factory = None
        if sys.platform != "win32":
            import uvloop  # noqa: PLC0415  there is none on Windows

            factory = uvloop.new_event_loop
        try:
            with asyncio.Runner(loop_factory=factory) as runner:
                runner.run(self._hold())
        except BaseException as error:  # noqa: BLE001  the thread that waits gets it
            (self._closed if self._opened.done() else self._opened).set_exception(error)
        else:
            self._closed.set_result(None)

    async def _hold(self) -> None:
        self._loop, self._leave = asyncio.get_running_loop(), asyncio.Event()
        async with self._manager as opened:
            self._opened.set_result(self._face(opened))
            await self._leave.wait()
