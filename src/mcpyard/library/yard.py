"""Mcpyard inside a Python program, usable from any event loop and any thread.

A facade: whatever the interfaces need of the core besides stays hidden, and every call is carried
to the event loop that the core runs on.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Self

from mcpyard.agents.toolbox_source import ToolboxSource
from mcpyard.app import TRUSTING, ServerDefinitions, WiredYard, open_yard
from mcpyard.catalog.routes import Route
from mcpyard.client.attached import AttachedYard
from mcpyard.domain.definition.merge import Patch
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.errors import Problem, YardError
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.domain.model import Config
from mcpyard.domain.ports import LogLine
from mcpyard.domain.source import Source
from mcpyard.gateway.in_process import InProcessClient
from mcpyard.library.loop_thread import LoopThread
from mcpyard.library.sync_yard import SyncYard
from mcpyard.yard.calls.call_context import (
    LIBRARY,
    LIBRARY_CALL,
    CallContext,
    Progress,
    with_meta,
)
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.edit import Change
from mcpyard.yard.event_loop import YardLoop
from mcpyard.yard.events import Subscription
from mcpyard.yard.readiness import READY_TIMEOUT, Readiness
from mcpyard.yard.server_content import ServerContent
from mcpyard.yard.server_questions import OnElicit, OnSample, QuestionAnswerer
from mcpyard.yard.trust import ApprovalPolicy
from mcpyard.yard.views.calls import CallView
from mcpyard.yard.views.servers import RevealedView, ServerView, ToolView, TrialView


class Yard(ServerContent, ToolboxSource):
    """Runs and supervises MCP servers in this process: the entry point of the library.

    Every method can be called from any event loop and any thread; `events()` and `clients` belong
    to the event loop that opened it.

    Attributes:
        code: The servers registered from Python; `code.add(name, config)` adds one.
        registry: The servers and their statuses, as a typed registry.
    """

    def __init__(
        self, core: WiredYard, on_elicit: OnElicit | None = None, on_sample: OnSample | None = None
    ) -> None:
        self._core = core
        self._loop = YardLoop()
        answerer = QuestionAnswerer(on_elicit, on_sample)
        client = InProcessClient(core, answerer)
        self._requests = client
        # Without somebody to ask, a call needs no client of the gateway.
        self._call_with = client.call_with if answerer else core.calls.call_with
        self._route = core.calls.route
        self.code = CodeServers(core, self._loop)
        self.registry = core.registry

    @classmethod
    @asynccontextmanager
    async def open(  # noqa: PLR0913  one parameter a choice of the caller's
        cls,
        project: str | Path | None = None,
        *,
        servers: ServerDefinitions | None = None,
        sources: Sequence[Source] = (),
        home: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        approval: ApprovalPolicy = TRUSTING,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
    ) -> AsyncGenerator[Self]:
        """Run a private mcpyard inside the block; its servers stop when the block ends.

        Without a home, nothing is stored and no files of the user are changed.

        Args:
            project: A folder whose `.mcp.json` is loaded and watched; edits apply at once.
            servers: Definitions of servers by name, in any accepted format; they are started
                unless their `wanted` says otherwise.
            sources: Additional sources of definitions.
            home: A folder for persistent state; one process at a time can use it.
            environment: The environment variables for definitions and server processes;
                default `os.environ`.
            approval: Which project files need the user's approval; default none.
            on_elicit: Answers a server that asks a person for something during a call: takes an
                `ElicitRequest`, returns what was entered, or None to decline. May be `async`;
                other functions run in a thread. Default: such questions are refused.
            on_sample: Answers a server that asks for the answer of a model: takes a
                `SampleRequest`, returns the text. Default: such requests are refused.

        Raises:
            YardBusy: Another process uses the home; names its pid and address.
        """
        async with open_yard(
            project,
            servers=servers,
            sources=sources,
            home=home,
            environment=environment,
            approval=approval,
        ) as core:
            yard = cls(core, on_elicit, on_sample)
            try:
                yield yard
            finally:
                await yard._requests.close()

    @classmethod
    def open_sync(  # noqa: PLR0913  one parameter a choice of the caller's
        cls,
        project: str | Path | None = None,
        *,
        servers: ServerDefinitions | None = None,
        sources: Sequence[Source] = (),
        home: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        approval: ApprovalPolicy = TRUSTING,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
    ) -> AbstractContextManager[SyncYard]:
        """Run a private mcpyard inside a `with` block, on a thread of its own, for blocking code.

        Args:
            project: See `open`, like all others.
            servers: Definitions of servers by name.
            sources: Additional sources of definitions.
            home: A folder for persistent state.
            environment: The environment variables.
            approval: Which project files need the user's approval.
            on_elicit: Answers questions of servers to a person.
            on_sample: Answers requests of servers for a model's answer.
        """
        return LoopThread(
            cls.open(
                project,
                servers=servers,
                sources=sources,
                home=home,
                environment=environment,
                approval=approval,
                on_elicit=on_elicit,
                on_sample=on_sample,
            ),
            SyncYard,
        )

    @staticmethod
    def attach(
        home: str | Path | None = None,
        *,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
    ) -> AbstractAsyncContextManager[AttachedYard]:
        """Connect to a running mcpyard: `async with Yard.attach() as yard`.

        The result has the calls, edits and events of `Yard`.

        Args:
            home: The home of the running mcpyard; default the user's home.
            on_elicit: Answers questions of servers to a person (see `open`).
            on_sample: Answers requests of servers for a model's answer (see `open`).
        """
        return AttachedYard.attach(home, on_elicit=on_elicit, on_sample=on_sample)

    @staticmethod
    def attach_sync(
        home: str | Path | None = None,
        *,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
    ) -> AbstractContextManager[SyncYard]:
        """Connect to a running mcpyard from blocking code: `with Yard.attach_sync() as yard`.

        Args:
            home: The home of the running mcpyard; default the user's home.
            on_elicit: Answers questions of servers to a person (see `open`).
            on_sample: Answers requests of servers for a model's answer (see `open`).
        """
        attached = AttachedYard.attach(home, on_elicit=on_elicit, on_sample=on_sample)
        return LoopThread(attached, SyncYard)

    async def ready(
        self,
        timeout: float = READY_TIMEOUT,  # noqa: ASYNC109  it raises nothing when it runs out
        *,
        check: bool = False,
    ) -> Readiness:
        """Wait until the servers that should run are connected; returns which are not, and why.

        Args:
            timeout: Seconds to wait; a server that failed for good is not waited for.
            check: Raise an error if a server is missing or a definition is invalid.

        Raises:
            StartFailed: With `check`: names each of them, with its cause.
        """
        state = await self._loop.carry(self._core.ready(timeout))
        if check:
            state.check()
        return state

    async def settled(self, ref: str) -> ServerView:
        """Wait until a server reaches its desired state, or cannot without intervention."""
        return await self._loop.carry(self._core.settled(ref))

    @property
    def clients(self) -> Clients:
        """The servers in the configuration files of other clients on this machine."""
        return self._core.clients

    @property
    def desired(self) -> Desired:
        """The desired state."""
        return self._loop.read(lambda: self._core.desired)

    @property
    def version(self) -> int:
        """The id of the last event; records do not change while it stays the same."""
        return self._loop.read(lambda: self._core.version)

    def problems(self) -> Sequence[Problem]:
        """Return the definitions that were ignored because they are invalid."""
        return self._loop.read(self._core.problems)

    def server(self, ref: str) -> DesiredServer:
        """Return the definition of a server, by id or name."""
        return self._loop.read(lambda: self._core.server(ref))

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """Return the record of one server, with its current resource usage."""
        return self._loop.read(lambda: self._core.record(ref, tools=tools))

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """Return the records of all servers, sorted by name."""
        return self._loop.read(lambda: self._core.servers(tools=tools))

    def tools(self, ref: str | None = None) -> list[ToolView]:
        """Return the tools of all available servers, or all tools of one server."""
        return self._loop.read(lambda: self._core.tools(ref))

    async def call(  # noqa: PLR0913  one a part of a call
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
        meta: Mapping[str, object] | None = None,
        who: str = LIBRARY,
    ) -> Outcome:
        """Call a tool by its exposed name, with fallback servers."""
        context = LIBRARY_CALL
        if meta or progress or timeout is not None or who is not LIBRARY:
            progress = self._loop.returning(progress)
            context = CallContext(who, timeout, with_meta(meta), progress)
        if self._loop.is_current:
            return await self._call_with(self._route(name), arguments, context)
        find = partial(self._route, name)
        return await self._loop.carry(self._call(find, arguments, context))

    async def call_tool(  # noqa: PLR0913  one a part of a call
        self,
        ref: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        meta: Mapping[str, object] | None = None,
        who: str = LIBRARY,
    ) -> Outcome:
        """Call a tool by server and own name, without fallback servers."""
        context = CallContext(who, timeout, with_meta(meta), fall_back=False)
        find = partial(self._core.route, ref, tool)
        return await self._loop.carry(self._call(find, arguments, context))

    async def _call(
        self,
        find: Callable[[], Route],
        arguments: Mapping[str, object] | None,
        context: CallContext,
    ) -> Outcome:
        return await self._call_with(find(), arguments, context)

    async def start(self, ref: str, *, wait: float = 0) -> ServerView:
        """Start a server; does nothing if it runs or is starting."""
        return await self._loop.carry(self._core.start(ref, wait=wait))

    async def stop(self, ref: str, *, wait: float = 0) -> ServerView:
        """Stop a server."""
        return await self._loop.carry(self._core.stop(ref, wait=wait))

    async def restart(self, ref: str, *, wait: float = 0) -> ServerView:
        """Restart a server."""
        return await self._loop.carry(self._core.restart(ref, wait=wait))

    async def register(self, body: Mapping[str, object], *, wait: float = 0) -> ServerView:
        """Add a server; returns its record with warnings."""
        return await self._loop.carry(self._core.register(body, wait=wait))

    async def register_all(
        self, bodies: Iterable[Mapping[str, object]]
    ) -> list[ServerView | YardError]:
        """Add servers in one edit; returns the record of each, or why it was refused."""
        return await self._loop.carry(self._core.register_all(bodies))

    async def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> ServerView:
        """Change a server; returns its record with warnings."""
        return await self._loop.carry(self._core.change(ref, change, wait=wait))

    async def change_tool(self, ref: str, tool: str, change: Change | Patch) -> ToolView:
        """Change the policy of a tool; returns its record."""
        return await self._loop.carry(self._core.change_tool(ref, tool, change))

    async def remove(self, ref: str, *, wait: float = SHUTDOWN) -> None:
        """Stop a server if it runs, and remove its definition."""
        await self._loop.carry(self._core.remove(ref, wait=wait))

    async def trial(self, body: Mapping[str, object]) -> TrialView:
        """Start a server that is not registered, list its tools, and stop it."""
        return await self._loop.carry(self._core.trial(body))

    async def login(self, ref: str, redirect_uri: str) -> str:
        """Begin a sign-in at a remote server; returns the URL to open in a browser."""
        return await self._loop.carry(self._core.login(ref, redirect_uri))

    async def logged_in(self, answer: Mapping[str, str]) -> str:
        """Finish a sign-in with the parameters of the redirect; returns the name of the server."""
        return await self._loop.carry(self._core.logged_in(answer))

    async def logout(self, ref: str, *, wait: float = 0) -> ServerView:
        """Delete the tokens of a remote server; one that runs is connected anew without them."""
        return await self._loop.carry(self._core.logout(ref, wait=wait))

    def signed_in(self, server: DesiredServer) -> bool:
        """Whether mcpyard sends a token of a sign-in to a server."""
        return self._loop.read(lambda: self._core.signed_in(server))

    def reveal(self, ref: str) -> RevealedView:
        """Return the literal values that a server's record masks."""
        return self._loop.read(lambda: self._core.reveal(ref))

    async def approve(self, folder: str | Path, *, replace: Collection[str] = ()) -> list[str]:
        """Approve the current content of a project's file; returns the approved servers."""
        return await self._loop.carry(self._core.approve(folder, replace=replace))

    def log(self, ref: str) -> Sequence[LogLine]:
        """Return the last lines of a server's standard error."""
        return self._loop.read(lambda: self._core.log(ref))

    async def failed_calls(self, limit: int = 20) -> list[CallView]:
        """Return the last failed calls, newest first."""
        return await self._loop.carry(self._core.failed_calls(limit))

    def events(self, after: int | None = None) -> Subscription:
        """Iterate over events from now on, or after an event id."""
        return self._core.events(after)


class CodeServers:
    """The servers registered from Python; they wait until they are started."""

    def __init__(self, core: WiredYard, loop: YardLoop) -> None:
        self._source = core.code
        self._loop = loop

    def add(self, name: str, config: Config | Mapping[str, object]) -> None:
        """Register a server; the definition can have any accepted format."""
        self._loop.read(lambda: self._source.add(name, config))

    def remove(self, name: str) -> None:
        """Remove a server."""
        self._loop.read(lambda: self._source.remove(name))
