"""The use cases of every interface, over the ports alone."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from mcpyard.catalog.routes import Route
from mcpyard.domain.definition.merge import Patch
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.this_yard import THIS_YARD_NOTE
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.desired_changes import DesiredChanges
from mcpyard.domain.errors import (
    Disabled,
    Problem,
    ServerUnknown,
    ThisYard,
    ToolUnknown,
    YardError,
)
from mcpyard.domain.lifecycle import UP
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import LogLine
from mcpyard.yard.approving import ProjectApprovals
from mcpyard.yard.book import ToolBook
from mcpyard.yard.calls.accounts import Accounts
from mcpyard.yard.calls.call_context import LIBRARY, NO_EXTRAS, CallContext, Progress, with_meta
from mcpyard.yard.calls.fallback import CallDeps
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.calls.pipeline import CallPipeline
from mcpyard.yard.closing import STEP_TIMEOUT, bounded, wait_up_to
from mcpyard.yard.cluster_operations import ClusterOperations
from mcpyard.yard.directory import ServerDirectory
from mcpyard.yard.edit import Change, ServerEditor
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.events import EventBus, Subscription
from mcpyard.yard.intent import Intent
from mcpyard.yard.noted_editor import NotedEditor
from mcpyard.yard.notifications import Notifications
from mcpyard.yard.ports import OverPorts, Ports
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.publishing import Publisher
from mcpyard.yard.readiness import READY_TIMEOUT, Readiness, readiness
from mcpyard.yard.reconcile import Reconciler, by_ref
from mcpyard.yard.secrets import SecretBook
from mcpyard.yard.self_checks import SelfChecks, reconciler_check
from mcpyard.yard.server_fixes import ServerFixes
from mcpyard.yard.server_registry import Registry
from mcpyard.yard.server_sign_ins import ServerSignIns
from mcpyard.yard.views.calls import CallView, call_view
from mcpyard.yard.views.servers import (
    Picture,
    RevealedView,
    ServerView,
    ToolView,
    TrialView,
    revealed_view,
    server_view,
    tool_view,
    trial_view,
    with_warnings,
)

if TYPE_CHECKING:
    from mcpyard.domain.stored import CallToken
    from mcpyard.yard.clients.reaching import ReachedClients


class YardCore(OverPorts):
    """The core of `Yard`, over its ports; `mcpyard.app` provides real ones.

    Attributes:
        instance: A unique id of this run.
        registry: The servers and their statuses, as a typed registry.
        accounts: The outcomes of calls.
        profiles: The profiles of the gateway.
        secrets: The stored secrets.
        calls: Executes calls and other requests.
        directory: The servers that clients of the gateway can use.
        notifications: Notifications of servers outside of calls.
        approvals: The entries of project files that need approval.
        identity: Identifies entries that point back to this instance.
        fault: Returns the reason if nothing can be stored.
        checks: Checks of mcpyard itself.
        token_revoked: Called with a token that an undo revoked; set before `clients` is used.
    """

    def __init__(self, ports: Ports) -> None:
        self.instance = ports.identity.instance or uuid4().hex[:12]
        self.identity = ports.identity
        self.fault = ports.fault
        self.registry = Registry()
        self._servers = ports.servers
        self._sign_ins = ServerSignIns(ports.sign_ins)
        self._book = ToolBook(ports.memory)
        self._bus = EventBus()
        self._publisher = Publisher(self.registry.manage(), self._book, self._bus)
        self.profiles = ProfileBook(
            ports.profiles, lambda name: self._bus.publish("profiles", {"name": name})
        )
        self._intent = Intent(ports.policies, ports.trust, ports.turns)
        self.approvals = ProjectApprovals(ports.sources, self._intent, ports.read_project)
        self._reconciler = Reconciler(
            ports.sources, ports.memory, ports.servers, self._intent, ports.inputs
        )
        self._reconciler.follow(ports.secrets)
        self.accounts = Accounts(ports.journal, ports.clock, ports.cluster, ports.history)
        desired, publish = self._reconciler.servers, self._bus.publish
        deps = CallDeps(self._book, ports.servers, desired, ports.clock, publish, ports.recording)
        self.calls = CallPipeline(deps, self.accounts)
        self.directory = ServerDirectory(self._book, ports.servers, desired)
        self.notifications = Notifications(ports.servers)
        editor = ServerEditor(ports.by_scope, ports.memory, self._intent, self._reconciler)
        reach = None if ports.clients is None else lambda: self.clients
        self._editor = NotedEditor(editor, reach)
        self.secrets = SecretBook(ports.secret_store, lambda: desired().values(), reach)
        self.fixes = ServerFixes(self.secrets, ports.commands)
        self.cluster = ClusterOperations(ports.cluster, desired, self.server, publish)
        self._ports = ports
        self.checks = SelfChecks([*ports.checks, reconciler_check(lambda: self._loop_task)])
        self.token_revoked: Callable[[CallToken], None] = lambda _: None
        self._loop_task: asyncio.Task[None] | None = None

    @cached_property
    def clients(self) -> "ReachedClients":
        """The servers in the configuration files of other clients on this machine."""
        # It knows the formats of all of them, which most yards never need.
        from mcpyard.yard.clients.reaching import reach_clients  # noqa: PLC0415

        return reach_clients(self._ports, self._editor.plain, self)

    @property
    def desired(self) -> Desired:
        """The desired state."""
        return self._reconciler.desired

    @property
    def version(self) -> int:
        """The id of the last event; records do not change while it stays the same."""
        self._reconciler.refresh()
        return self._bus.newest

    async def begin(self) -> None:
        """Read the sources and start the servers that should run."""
        self._servers.listen(self._observed)
        await self._reconciler.open(self._desired_changed)
        self._loop_task = asyncio.create_task(self._reconciler.run(), name="reconcile")

    async def close(self) -> None:
        """Stop every server and release all resources, even if a part fails or hangs."""
        async with contextlib.AsyncExitStack() as rest:
            rest.push_async_callback(self.calls.recording.close)
            rest.callback(self._bus.close)
            rest.push_async_callback(self._ports.memory.close)
            rest.push_async_callback(self._servers.close)
            rest.push_async_callback(lambda: bounded(self._reconciler.close(), STEP_TIMEOUT))
            if self._loop_task:
                self._loop_task.cancel()
                await asyncio.wait({self._loop_task}, timeout=STEP_TIMEOUT)

    def server(self, ref: str) -> DesiredServer:
        """Return the definition of a server, by id or name."""
        server = by_ref(self.desired.servers, ref)
        if server is None:
            raise ServerUnknown(f'there is no server "{ref[:80]}"')
        return server

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """Return the record of one server, with its current resource usage."""
        server = self.server(ref)
        used = self.directory.figures(server.id)
        return msgspec.structs.replace(self._record(server, tools=tools), figures=used)

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """Return the records of all servers, sorted by name."""
        return [self.record_of(picture, tools=tools) for picture in self.pictures()]

    def pictures(self) -> list[Picture]:
        """Return the data for the records of all servers, sorted by name."""
        servers = sorted(self.desired.servers.values(), key=attrgetter("name"))
        return [Picture(server, self.directory.observed(server.id)) for server in servers]

    def record_of(self, picture: Picture, *, tools: bool = True) -> ServerView:
        """Return the record for this data."""
        routes = [each for each in self._book.routes(picture.server.id) if each.policy.enabled]
        return self.cluster.place(server_view(*picture, routes, tools=tools), picture.server)

    def tools(self, ref: str | None = None) -> list[ToolView]:
        """Return the tools of all available servers, or all tools of one server."""
        servers = [self.server(ref)] if ref is not None else self.desired.servers.values()
        return [
            self._tool_view(route)
            for server in servers
            for route in self.directory.offered(server, everything=ref is not None)
        ]

    def route(self, ref: str, tool: str) -> Route:
        """Return the route to a server's tool, by the server's own name for it."""
        server = self.server(ref)
        route = self._book.find(server.id, tool)
        if route is None:
            raise ToolUnknown(f'the server "{server.name}" has no tool "{tool[:80]}"')
        return route

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
        """Call a tool by its exposed name, with fallback servers (see `CallPipeline.call`)."""
        context = CallContext(who, timeout, with_meta(meta) if meta else NO_EXTRAS, progress)
        return await self.calls.call_with(self.calls.route(name), arguments, context)

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
        """Call a tool by server and own name, without fallback servers (see `call`)."""
        context = CallContext(who, timeout, with_meta(meta), fall_back=False)
        return await self.calls.call_with(self.route(ref, tool), arguments, context)

    async def start(self, ref: str, *, wait: float = 0) -> ServerView:
        """Start a server; does nothing if it runs or is starting."""
        server = self.server(ref)
        if not server.config.enabled:
            raise Disabled(f'the server "{server.name}" is disabled').about(server.name)
        if server.this_yard:
            raise ThisYard(f'the server "{server.name}" {THIS_YARD_NOTE}')
        running = self._intent.wanted(server) is Wanted.RUNNING
        if not running or server.id in self._intent.unkept:
            await self._intent.want(server.id, Wanted.RUNNING)
        if running and self.directory.observed(server.id).state.phase not in UP:
            await self._intent.turn(server.id)
        return await self._after(server, wait)

    async def stop(self, ref: str, *, wait: float = 0) -> ServerView:
        """Stop a server."""
        server = self.server(ref)
        goals = {self._intent.wanted(server), server.wanted, server.config.wanted}
        if goals != {Wanted.STOPPED} or server.id in self._intent.unkept:
            await self._intent.want(server.id, Wanted.STOPPED)
        return await self._after(server, wait)

    async def restart(self, ref: str, *, wait: float = 0) -> ServerView:
        """Restart a server."""
        server = self.server(ref)
        if self._intent.wanted(server) is not Wanted.RUNNING:
            return await self.start(ref, wait=wait)
        await self._intent.turn(server.id)
        return await self._after(server, wait)

    async def register(
        self, body: Mapping[str, object], *, wait: float = 0, note: EditNote | None = None
    ) -> ServerView:
        """Add a server (see `ServerEditor.register`); returns its record with warnings."""
        added = await self._editor.register(body, note)
        record = await self._after(self.server(str(added.id)), wait)
        return with_warnings(record, added.warnings)

    async def register_all(
        self, bodies: Iterable[Mapping[str, object]], note: EditNote | None = None
    ) -> list[ServerView | YardError]:
        """Add servers in one edit; returns the record of each, or why it was refused."""
        return [
            each
            if isinstance(each, YardError)
            else with_warnings(self._record(self.server(str(each.id))), each.warnings)
            for each in await self._editor.register_all([*bodies], note)
        ]

    async def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> ServerView:
        """Change a server (see `ServerEditor.change`); returns its record with warnings."""
        server = self.server(ref)
        odd = await self._editor.change(server, Change.of(change))
        return with_warnings(await self._after(server, wait), odd)

    async def change_tool(self, ref: str, tool: str, change: Change | Patch) -> ToolView:
        """Change the policy of a tool; returns its record."""
        server, route, change = self.server(ref), self.route(ref, tool), Change.of(change)
        if isinstance(name := change.patch.get("name"), str):
            self._book.check_name(route, name)
        if change.patch:
            patch = {"tools": {tool: change.patch}}
            await self._editor.change(server, replace(change, patch=patch))
        return self._tool_view(self.route(str(server.id), tool))

    async def remove(
        self, *refs: str, wait: float = SHUTDOWN, note: EditNote | None = None
    ) -> None:
        """Stop servers if they run, and remove their definitions, in one edit."""
        servers = [self.server(each) for each in refs]
        await self._editor.remove_all(servers, note)
        await wait_up_to(self._reconciler.gone({each.id for each in servers}), wait)
        await self._sign_ins.forget(servers, self.desired.servers.values())

    async def trial(self, body: Mapping[str, object]) -> TrialView:
        """Start a server that is not registered, list its tools, and stop it."""
        reading = read_definition(body)
        server = await self._reconciler.on_trial(reading.config)
        return trial_view(await self._servers.trial(server), reading.warnings)

    async def login(self, ref: str, redirect_uri: str) -> str:
        """Begin a sign-in at a remote server; returns the URL to open in a browser."""
        return await self._sign_ins.begin(self.server(ref), redirect_uri)

    async def logged_in(self, answer: Mapping[str, str]) -> str:
        """Finish a sign-in with the callback parameters; returns the name of the server."""
        server = self.server(str(await self._sign_ins.finish(answer)))
        if server.wanted is not Wanted.STOPPED:
            await self._intent.turn(server.id)
        return server.name

    async def logout(self, ref: str, *, wait: float = 0) -> ServerView:
        """Delete the tokens of a remote server; one that runs is connected anew without them."""
        server = self.server(ref)
        await self._sign_ins.end(server)
        if self.directory.observed(server.id).state.phase in UP:
            await self._intent.turn(server.id)
        return await self._after(server, wait)

    def signed_in(self, server: DesiredServer) -> bool:
        """Whether mcpyard sends a token of a sign-in to a server."""
        return self._sign_ins.signed_in(server)

    def reveal(self, ref: str) -> RevealedView:
        """Return the literal values that a server's record masks."""
        return revealed_view(self.server(ref))

    async def approve(self, folder: str | Path, *, replace: Collection[str] = ()) -> list[str]:
        """Approve the current content of a project's file; returns the approved servers."""
        return (await self.approvals.approve(Path(folder), replace=replace)).servers

    async def settled(self, ref: str) -> ServerView:
        """Wait until a server reaches its desired state, or cannot without intervention."""
        server = self.server(ref)
        await self._reconciler.settled(server.id)
        return self._record(server)

    async def ready(self, timeout: float = READY_TIMEOUT) -> Readiness:  # noqa: ASYNC109  no error
        """Wait until all servers that should run are connected; says which are not, and why."""
        await wait_up_to(self._reconciler.all_settled(), timeout)
        return readiness(self.servers(tools=False), self.problems())

    def problems(self) -> Sequence[Problem]:
        """Return the definitions that were ignored because they are invalid."""
        return self.desired.problems

    def log(self, ref: str) -> Sequence[LogLine]:
        """Return the last lines of the standard error of a server of this machine."""
        return self._servers.log(self.server(ref).id)

    async def failed_calls(self, limit: int = 20) -> list[CallView]:
        """Return the last failed calls, newest first."""
        return [call_view(each) for each in self.accounts.failed_calls(limit)]

    def events(self, after: int | None = None) -> Subscription:
        """Iterate over events from now on, or after an event id."""
        return self._bus.subscribe(after)

    async def _after(self, server: DesiredServer, wait: float) -> ServerView:
        await wait_up_to(self._reconciler.settled(server.id), wait)
        return self.record(str(server.id))

    def _record(self, server: DesiredServer, *, tools: bool = True) -> ServerView:
        return self.record_of(Picture(server, self.directory.observed(server.id)), tools=tools)

    def _tool_view(self, route: Route) -> ToolView:
        stale = self.directory.observed(route.server).tools.stale
        return tool_view(route, stale=stale or self.calls.fallback.breakers.is_open(route))

    def _observed(self, observed: Observed) -> None:
        defined = self.desired.servers
        if server := defined.get(observed.id):
            self._publisher.observed(server, observed, defined)
            self.calls.observed(server, observed)
        self._reconciler.server_changed(observed.id)

    def _desired_changed(self, desired: Desired, different: DesiredChanges) -> None:
        self._publisher.desired_changed(desired, different, self._servers.observed())
