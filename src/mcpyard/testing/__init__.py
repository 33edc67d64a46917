"""Public fakes of the ports, for tests of mcpyard and of programs that use it."""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

from msgspec import structs

from mcpyard.domain import plan
from mcpyard.domain.cause import Cause
from mcpyard.domain.desired import Definition, Desired, DesiredServer, Document, Owner
from mcpyard.domain.errors import (
    Disconnected,
    DocumentMoved,
    FileBusy,
    NameTaken,
    StartFailed,
)
from mcpyard.domain.files import FileLock, FileText, FileWrite
from mcpyard.domain.lifecycle import OPEN, Phase, State
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.observed import Figures, Observed, Tools
from mcpyard.domain.plan import Action
from mcpyard.domain.ports import CallTerms, LogLine, NotificationInterest, NotificationListener
from mcpyard.domain.started_calls import CallWaiter, StartedCall
from mcpyard.domain.tool import ToolDefinition
from mcpyard.store.memory import VolatileMemory, VolatilePolicies

__all__ = [
    "FakeClientFiles",
    "FakeEditableSource",
    "FakeServers",
    "FakeSource",
    "ManualClock",
    "VolatileMemory",
    "VolatilePolicies",
]


class FakeClientFiles:
    """Files of other clients, in memory.

    Attributes:
        texts: What each file says, by path.
        faults: Raised instead of the next write of a path.
        meanwhile: Called just before a write, as if somebody else wrote then.
        held: The paths that are locked just now.
        modes: Who may read and write each file.
        missing: The folders that are not there; every other is.
    """

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.texts = dict(texts or {})
        self.missing: set[str] = set()
        self.faults: dict[str, Exception] = {}
        self.meanwhile: Callable[[], None] = lambda: None
        self.held: set[str] = set()
        self.modes: dict[str, int] = {}

    async def is_folder(self, path: str) -> bool:
        """Whether there is a folder at that path."""
        return path not in self.missing

    async def read(self, paths: Iterable[str], *, fresh: bool = False) -> Mapping[str, FileText]:
        """The texts of files."""
        del fresh
        return {
            path: FileText(path, self.texts.get(path), mode=self.modes.get(path)) for path in paths
        }

    async def real(self, paths: Iterable[str]) -> Mapping[str, str]:
        """The paths themselves: there are no links."""
        return {path: path for path in paths}

    @asynccontextmanager
    async def locked(self, paths: Iterable[str], locks: Iterable[FileLock]) -> AsyncGenerator[None]:
        """Hold the locks of files and of programs."""
        taken = {*paths, *(each.path for each in locks)}
        if taken & self.held:
            raise FileBusy(f"{min(taken & self.held)} is held")
        self.held |= taken
        try:
            yield
        finally:
            self.held -= taken

    async def write(self, change: FileWrite) -> None:
        """Replace the old text with the new one."""
        self.meanwhile()
        if fault := self.faults.pop(change.path, None):
            raise fault
        if self.texts.get(change.path) != change.before:
            raise DocumentMoved(f"{change.path} was changed meanwhile")
        if change.after is None:
            del self.texts[change.path]
        else:
            self.texts[change.path] = change.after

    async def set_mode(self, path: str, before: int, after: int) -> None:
        """Change who may read and write a file."""
        if self.modes.get(path) != before:
            raise DocumentMoved(f"the permissions of {path} were changed since")
        self.modes[path] = after


Answer = Callable[[str, bytes], bytes]


class ManualClock:
    """A clock that a test advances."""

    def __init__(self) -> None:
        self._passed = 0.0

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self._passed

    def now(self) -> datetime:
        """The first day of 2030 plus the time that has passed since the clock was made."""
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self._passed)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._passed += seconds


class FakeSource:
    """A source whose document a test sets."""

    def __init__(self, document: Document | None = None) -> None:
        self._document = document or Document(Owner(Scope.PROJECT, "fake"))
        self._wake: Callable[[], None] | None = None

    @property
    def owner(self) -> Owner:
        """The document's owner."""
        return self._document.owner

    @property
    def is_open(self) -> bool:
        """Whether somebody listens."""
        return self._wake is not None

    async def open(self, wake: Callable[[], None]) -> None:
        """Begin to report changes."""
        self._wake = wake

    def document(self) -> Document:
        """The last document."""
        return self._document

    async def close(self) -> None:
        """Stop reporting changes."""
        self._wake = None

    def say(self, document: Document) -> None:
        """Set another document."""
        self._document = document
        if self._wake:
            self._wake()


class FakeEditableSource(FakeSource):
    """A source that can be edited, in memory.

    Attributes:
        fault: Raised instead of the next change.
    """

    def __init__(self, document: Document | None = None) -> None:
        super().__init__(document)
        self.fault: Exception | None = None

    async def add(self, configs: Mapping[str, Config]) -> Mapping[str, NameTaken]:
        """Add the definitions whose names are free."""
        there = {each.name: each for each in self.document().definitions}
        free = {name: Definition(name, each) for name, each in configs.items() if name not in there}
        self._keep({**there, **free})
        taken = configs.keys() - free.keys()
        return {name: NameTaken(f'the name "{name}" is in use') for name in taken}

    async def put(self, name: str, config: Config, instead_of: Config) -> None:
        """Change a definition."""
        there = {each.name: each for each in self.document().definitions}
        if there[name].config != instead_of:
            raise DocumentMoved(f'"{name}" moved')
        self._keep({**there, name: Definition(name, config)})

    async def remove(self, *names: str) -> None:
        """Remove definitions."""
        there = {each.name: each for each in self.document().definitions}
        for name in names:
            del there[name]
        self._keep(there)

    async def rename(self, name: str, new_name: str) -> None:
        """Rename a definition."""
        there = {each.name: each for each in self.document().definitions}
        there[new_name] = structs.replace(there.pop(name), name=new_name)
        self._keep(there)

    def _keep(self, definitions: Mapping[str, Definition]) -> None:
        if fault := self.fault:
            self.fault = None
            raise fault
        self.say(structs.replace(self.document(), definitions=tuple(definitions.values())))


class FakeServers:
    """Servers without processes: they start at once and return the answers a test sets.

    Attributes:
        tools: The tools each server offers once it is connected, by name.
        answers: Gives the result object for a tool and its arguments, by server name.
        broken: Why a server fails instead of starting, by name.
        applied: The actions that were carried out.
        calls: The calls that came: server, tool, arguments, terms.
        deaf: Whether plans are ignored, as if everything took very long.
        closed: Whether the yard has closed them.
        listener: Receives the notifications of servers; the yard sets it.
        tuned: What was wanted last to be heard of each server.
        probed: The servers that were to be probed.
        released: The clients whose own processes were ended.
    """

    def __init__(self) -> None:
        self.tools: dict[str, Sequence[Mapping[str, object]]] = {}
        self.answers: dict[str, Answer] = {}
        self.broken: dict[str, Cause] = {}
        self.applied: list[Action] = []
        self.calls: list[tuple[str, str, bytes, CallTerms]] = []
        self.deaf = False
        self.closed = False
        self.listener: NotificationListener | None = None
        self.tuned: dict[UUID, NotificationInterest] = {}
        self.probed: list[UUID] = []
        self.released: list[str] = []
        self._observed: dict[UUID, Observed] = {}
        self._names: dict[UUID, str] = {}
        self._on_change: Callable[[Observed], None] = lambda _: None

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Report every change of the observed state."""
        self._on_change = on_change

    def observed(self) -> Mapping[UUID, Observed]:
        """The observed state."""
        return self._observed

    def share(self, desired: Desired) -> Desired:
        """All of the desired state: there is one machine."""
        return desired

    def held(self) -> Mapping[UUID, Observed]:
        """The same as `observed`: there is one machine."""
        return self._observed

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Execute a plan at once."""
        for action in () if self.deaf else actions:
            self.applied.append(action)
            if isinstance(action, plan.Forget):
                self._observed.pop(action.id, None)
            else:
                self._show(action, desired.get(action.id))

    async def call(self, server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        """Return the prepared answer."""
        name = self._names[server]
        self.calls.append((name, tool, arguments, terms))
        answer = self.answers.get(name)
        if answer is None:
            raise Disconnected(f'the server "{name}" does not answer')
        return answer(tool, arguments)

    def start(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> StartedCall | None:
        """Leave every call to `call`."""
        del server, tool, arguments, terms, waiter

    async def request(self, server: UUID, method: str, params: bytes, terms: CallTerms) -> bytes:
        """Return the prepared answer, with the method in place of the tool."""
        return await self.call(server, method, params, terms)

    def probe(self, server: UUID) -> None:
        """Record the server."""
        self.probed.append(server)

    def set_listener(self, listener: NotificationListener) -> None:
        """Record the listener."""
        self.listener = listener

    def tune(self, server: UUID, interest: NotificationInterest) -> None:
        """Record the subscription."""
        self.tuned[server] = interest

    def release(self, client_key: str) -> None:
        """Record the client that left."""
        self.released.append(client_key)

    async def trial(self, server: DesiredServer) -> Observed:
        """Return a trial as if the server had been started."""
        tried = self._started(Observed(server.id), server)
        if cause := tried.state.cause:
            raise StartFailed(cause.message).because(cause)
        return tried

    def log(self, server: UUID) -> Sequence[LogLine]:
        """Return no log lines."""
        del server
        return ()

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The same as `log`: there is one machine."""
        return self.log(server)

    def figures(self, server: UUID) -> Figures | None:
        """Return figures as if each server were one process."""
        connected = self._observed[server].state.phase in OPEN
        return Figures(1, 1024, 0.5) if connected else None

    async def close(self) -> None:
        """Record the close."""
        self.closed = True

    def lose(self, server: UUID, cause: Cause, *, probing: bool = False) -> None:
        """Let a server fail, for good unless it is probed."""
        state = State(Phase.FAILED, cause=cause, probing=probing)
        lost = structs.replace(self._observed[server], state=state)
        self._observed[server] = lost
        self._on_change(lost)

    def _show(self, action: Action, server: DesiredServer | None) -> None:
        observed = self._observed.get(action.id) or Observed(action.id)
        if server:
            self._names[server.id] = server.name
            observed = structs.replace(
                observed,
                launch_digest=server.launch_digest,
                policy_digest=server.policy_digest,
                turn=server.turn,
            )
        if isinstance(action, plan.StopServer):
            observed = structs.replace(observed, state=State())
        elif server and not isinstance(action, plan.UpdateInterest):
            observed = self._started(observed, server)
        self._observed[action.id] = observed
        self._on_change(observed)

    def _started(self, observed: Observed, server: DesiredServer) -> Observed:
        if cause := self.broken.get(server.name):
            return structs.replace(
                observed, state=State(Phase.FAILED, observed.state.epoch + 1, cause=cause)
            )
        raw = self.tools.get(server.name, ())
        tools = tuple(ToolDefinition(str(each["name"]), each) for each in raw)
        state = State(Phase.CONNECTED, observed.state.epoch + 1)
        return structs.replace(observed, state=state, tools=Tools(tools, str(raw)))
