"""Whether calls are recorded, and what is recorded of one."""

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from mcpyard.domain.call_contents import CallContents, ContentsUsage, RecordingMode, TracedCall
from mcpyard.domain.errors import CallUnknown
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.calls.accounts import Accounts
from mcpyard.yard.calls.fallback import CallDeps
from mcpyard.yard.calls.recorder import CallRecorder


class NotRecording(StrEnum):
    """Why calls are not recorded."""

    OFF = "off"
    """An administrator said so."""
    NO_HOME = "no-home"
    """Nothing is stored at all."""
    LIBRARY = "library"
    """A program uses mcpyard as a library."""
    NETWORK = "network"
    """Others than this machine can reach mcpyard."""
    CLUSTER = "cluster"
    TOKENS = "tokens"
    """Somebody else may have a call token."""


class VolatileRecordingSettings:
    """Settings that are forgotten at the end."""

    def __init__(self) -> None:
        self._mode = RecordingMode.AUTO

    def mode(self) -> RecordingMode:
        """Whether to record."""
        return self._mode

    async def set_mode(self, mode: RecordingMode) -> None:
        """Record from now on, or not."""
        self._mode = mode


class RecordingState(Struct, frozen=True):
    """Whether calls are recorded, and how much is.

    Attributes:
        mode: What an administrator said.
        reason: Why calls are not recorded; None where they are.
        usage: How much is recorded.
        dropped: Calls that were not recorded since the start, because there were too many.
    """

    mode: RecordingMode
    reason: NotRecording | None
    usage: ContentsUsage
    dropped: int


def _as_library() -> NotRecording | None:
    return NotRecording.LIBRARY


Objection = Callable[[], NotRecording | None]
"""Why calls are not recorded unless an administrator says so; None for no reason."""


class Recording:
    """Records the calls of one yard as long as that is wanted.

    Attributes:
        objection: Why not to record by default, at the moment.
    """

    def __init__(self, accounts: Accounts, deps: CallDeps) -> None:
        self.objection: Objection = _as_library
        self._accounts = accounts
        self._settings = deps.recording or VolatileRecordingSettings()
        self._journal = accounts.journal
        self._recorder = None
        if self._journal is not None:
            contents, servers = self._journal.contents, deps.servers
            self._recorder = CallRecorder(contents, deps.desired, servers.observed)
            self._journal.record_by(self._take)
        self.refresh()

    @property
    def reason(self) -> NotRecording | None:
        """Why calls are not recorded; None where they are."""
        if self._journal is None:
            return NotRecording.NO_HOME
        mode = self._settings.mode()
        if mode is RecordingMode.AUTO:
            return self.objection()
        return NotRecording.OFF if mode is RecordingMode.OFF else None

    def refresh(self) -> None:
        """Begin or end to record, if what decides it has changed."""
        self._accounts.recorder = None if self.reason else self._recorder

    def hide(self, secret: str) -> None:
        """Mask a secret of the yard itself, such as its admin token, in all that is recorded."""
        if self._recorder:
            self._recorder.hide(secret)

    async def set_mode(self, mode: RecordingMode) -> None:
        """Record from now on, or not."""
        await self._settings.set_mode(mode)
        self.refresh()

    async def state(self) -> RecordingState:
        """Whether calls are recorded, and how much is."""
        self.refresh()
        await self._flush()
        usage = await self._journal.contents.usage() if self._journal else ContentsUsage()
        dropped = self._recorder.dropped if self._recorder else 0
        return RecordingState(self._settings.mode(), self.reason, usage, dropped)

    async def get(self, call: int) -> tuple[CallRecord, CallContents | None]:
        """A call, and what is recorded of it.

        Raises:
            CallUnknown: The journal does not have it.
        """
        await self._flush()
        record = await self._journal.get(call) if self._journal else None
        if self._journal is None or record is None:
            raise CallUnknown(f"there is no call {call} in the journal")
        return record, await self._journal.contents.get(call)

    async def clear(self) -> int:
        """Delete everything that is recorded; of how many calls that was."""
        await self._flush()
        return await self._journal.contents.clear() if self._journal else 0

    async def close(self) -> None:
        """Record what is to be recorded yet, and end."""
        if self._recorder:
            await self._flush()
            await self._recorder.close()

    async def _flush(self) -> None:
        if self._journal and self._recorder:
            await self._journal.flush()
            await self._recorder.flush()

    def _take(self, first: int | None, calls: Sequence[TracedCall]) -> None:
        # Somebody may have got a token meanwhile.
        self.refresh()
        if self._recorder is None:
            return
        if self._accounts.recorder is None or first is None:
            self._recorder.forget(calls, dropped=first is None)
        else:
            self._recorder.take(first, calls)
