"""Records what calls were given and answered, in a thread of its own.

The event loop keeps references to the bytes of a call until its line in the journal is written. All
else (choosing, masking, cutting, sealing) happens here, and what is too much for that is counted
and left out.
"""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from mcpyard.catalog.routes import Route
from mcpyard.domain.call_contents import CallTrace, TracedCall
from mcpyard.domain.call_repositories import CallContentsStore
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.observed import Observed
from mcpyard.yard.calls.accounts import OK
from mcpyard.yard.calls.recording_budget import ProcessorShare, RecordingWindow

if TYPE_CHECKING:
    from mcpyard.yard.calls.contents_reader import ContentsReader

log = logging.getLogger(__name__)

MOST_WAITING: Final = 16 * 1024 * 1024
"""Bytes of calls that wait; those that failed may take twice as many."""

_END_SECONDS: Final = 2.0

_CHUNK: Final = 8
_PAUSE: Final = 0.003
"""Seconds after so many calls: to hold the interpreter for all of them would make others wait."""


class CalledServer(NamedTuple):
    """What was known of a server when its calls were taken."""

    desired: DesiredServer | None
    version: str
    protocol: str


class _Batch(NamedTuple):
    first: int
    calls: Sequence[TracedCall]
    servers: Mapping[UUID, CalledServer]


class CallRecorder:
    """Records calls of one yard.

    Args:
        contents: Where they are kept.
        desired: The servers as they should be.
        observed: The servers as they are.
    """

    def __init__(
        self,
        contents: CallContentsStore,
        desired: Callable[[], Mapping[UUID, DesiredServer]],
        observed: Callable[[], Mapping[UUID, Observed]],
    ) -> None:
        self._contents = contents
        self._desired = desired
        self._observed = observed
        self._window = RecordingWindow()
        self._share = ProcessorShare()
        self._pause = threading.Event()
        self._queue: queue.SimpleQueue[_Batch | threading.Event | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        # Each is changed by one thread only: the difference is what waits.
        self._admitted = 0
        self._done = 0
        self._refused = 0
        self._left_out = 0
        self._own: frozenset[str] = frozenset()

    @property
    def dropped(self) -> int:
        """Calls that were not recorded, since there were too many."""
        return self._refused + self._left_out

    def hide(self, secret: str) -> None:
        """Mask a secret of the yard itself from now on, whichever server is called."""
        self._own |= {secret}

    def has_room(self, route: Route, now: float, *, failed: bool) -> bool:
        """Whether one more call of a tool is recorded in this second."""
        if self._window.take(route.server, now, failed=failed):
            return True
        self._refused += _wanted(self._desired().get(route.server), route.tool.name)
        return False

    def admit(self, trace: CallTrace) -> CallTrace | None:
        """The trace of a call, if there is room for it until it is recorded."""
        most = MOST_WAITING * 2 if trace.error else MOST_WAITING
        if self._admitted - self._done + trace.size > most:
            self._refused += 1
            return None
        self._admitted += trace.size
        return trace

    def forget(self, calls: Sequence[TracedCall], *, dropped: bool) -> None:
        """Record some calls after all not; they count as dropped if they were to be recorded."""
        self._refused += len(calls) if dropped else 0
        self._admitted -= sum(each.trace.size for each in calls)

    def take(self, first: int, calls: Sequence[TracedCall]) -> None:
        """Record calls whose lines were written; `first` is the id of the line at place 0."""
        if self._thread is None:
            # A daemon: it must not keep a program from ending that forgot to close.
            self._thread = threading.Thread(target=self._work, name="call recorder", daemon=True)
            self._thread.start()
        desired, observed = self._desired(), self._observed()
        servers = {each.call.server for each in calls}
        called = {each: _server(desired.get(each), observed.get(each)) for each in servers}
        self._queue.put(_Batch(first, calls, called))

    async def flush(self) -> None:
        """Wait until the calls that were taken are recorded."""
        if self._thread is not None:
            done = threading.Event()
            self._queue.put(done)
            await asyncio.to_thread(done.wait, _END_SECONDS)

    async def close(self) -> None:
        """Record what was taken, and end."""
        if self._thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(self._thread.join, _END_SECONDS)

    def _work(self) -> None:
        # Masking takes modules that a yard needs for nothing else.
        from mcpyard.yard.calls.contents_reader import ContentsReader  # noqa: PLC0415

        reader = ContentsReader(lambda: self._own)
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
            else:
                self._record(item, reader)
            # Long arguments and results would be kept until the next call, which may come tomorrow.
            del item

    def _record(self, batch: _Batch, reader: "ContentsReader") -> None:
        servers = batch.servers
        calls = [
            each
            for each in batch.calls
            if _wanted(servers[each.call.server].desired, each.call.tool)
        ]
        # Failed ones first, should the time not be enough.
        calls.sort(key=lambda each: each.call.outcome == OK)
        done = 0
        for start in range(0, len(calls), _CHUNK):
            if not self._share.has_time(time.monotonic()):
                break
            if start:
                # The event loop has the interpreter in between.
                self._pause.wait(_PAUSE)
            began = time.thread_time()
            done += self._put(batch, calls[start : start + _CHUNK], reader)
            self._share.spend(time.thread_time() - began)
        self._left_out += len(calls) - done
        self._done += sum(each.trace.size for each in batch.calls)

    def _put(self, batch: _Batch, calls: Sequence[TracedCall], reader: "ContentsReader") -> int:
        """Record some calls; how many that were."""
        try:
            self._contents.put(
                [
                    (batch.first + each.place, each.call, reader.read(each, batch.servers))
                    for each in calls
                ]
            )
        except Exception:
            # What cannot be recorded must not end the recording of everything after it.
            log.exception("calls cannot be recorded")
            return 0
        return len(calls)


def _server(desired: DesiredServer | None, observed: Observed | None) -> CalledServer:
    session = observed.session if observed else None
    if session is None:
        return CalledServer(desired, "", "")
    name, version = (str(session.server_info.get(each) or "") for each in ("name", "version"))
    return CalledServer(desired, f"{name} {version}".strip()[:200], session.protocol_version)


def _wanted(server: DesiredServer | None, tool: str) -> bool:
    """Whether calls of a tool are recorded; not of a server that is gone."""
    if server is None:
        return False
    policy = server.config.tools.get(tool)
    by_tool = policy.record_calls if policy else None
    return server.config.record_calls if by_tool is None else by_tool
