"""All servers: carries out plans, answers what is, ends everything in time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from mcpyard.domain import lifecycle, limits, plan
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.plan import Action
from mcpyard.domain.ports import CallTerms, LogLine, NotificationInterest, NotificationListener
from mcpyard.domain.started_calls import CallWaiter, StartedCall
from mcpyard.runtime.client_connections import ClientConnections
from mcpyard.runtime.connection import Connection
from mcpyard.runtime.figures import UsageMeter
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.trial import try_out

log = logging.getLogger(__name__)

_EVENTS: dict[type[Action], lifecycle.Event] = {
    plan.StartServer: lifecycle.StartWanted(),
    plan.StopServer: lifecycle.StopWanted(),
    plan.Replace: lifecycle.Changed(),
}


class Supervisor:
    """Holds one connection a server. The `Servers` port of the yard."""

    def __init__(self, deps: RuntimeDeps) -> None:
        self._deps = deps
        self._connections: dict[UUID, Connection] = {}
        self._observed: dict[UUID, Observed] = {}
        self._on_change: Callable[[Observed], None] = lambda _: None
        self._listener: NotificationListener | None = None
        self._of_clients = ClientConnections(deps)
        self._meter = UsageMeter()

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed."""
        self._on_change = on_change

    def set_listener(self, listener: NotificationListener) -> None:
        """Send the notifications of servers to a listener (see `Servers`)."""
        self._listener = listener

    def observed(self) -> Mapping[UUID, Observed]:
        """What is, of every server it holds."""
        return self._observed

    def share(self, desired: Desired) -> Desired:
        """All of the desired state: there is one machine."""
        return desired

    def held(self) -> Mapping[UUID, Observed]:
        """The same as `observed`: there is one machine."""
        return self._observed

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Carry out a plan."""
        for action in actions:
            self._apply(action, desired.get(action.id))

    def call(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool (see `Servers`)."""
        return self._connection(server, terms).call(tool, arguments, terms)

    def start(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> StartedCall | None:
        """Call a tool without waiting for anything (see `Servers`)."""
        connection = self._connections.get(server)
        # To find the process of one client may mean to start it, or to refuse that.
        if connection is None or connection.server.config.isolation == "per-client":
            return None
        return connection.start(tool, arguments, terms, waiter)

    def request(
        self, server: UUID, method: str, params: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server anything (see `Servers`)."""
        return self._connection(server, terms).request(method, params, terms)

    def probe(self, server: UUID) -> None:
        """Try a remote server that is away (see `Servers`)."""
        if connection := self._connections.get(server):
            connection.probe()

    def tune(self, server: UUID, interest: NotificationInterest) -> None:
        """Which notifications of a server are wanted from now on."""
        if connection := self._connections.get(server):
            connection.tune(interest)

    def release(self, client_key: str) -> None:
        """End the processes that a client had for itself."""
        self._of_clients.end(client_key=client_key)

    async def trial(self, server: DesiredServer) -> Observed:
        """Open a server that is not held, look at it, and end it again."""
        return await try_out(server, self._deps)

    def log(self, server: UUID) -> tuple[LogLine, ...]:
        """The last lines a server wrote to its standard error."""
        connection = self._connections.get(server)
        return connection.ring.lines() if connection else ()

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The same as `log`: there is one machine."""
        return self.log(server)

    def figures(self, server: UUID) -> Figures | None:
        """What a server's processes use just now."""
        own = self._connections.get(server)
        connections: list[Connection] = [own] if own else []
        connections += [each for each in self._of_clients.all() if each.server.id == server]
        roots = [root for each in connections for root in each.roots]
        return self._meter.figures(server, roots) if roots else None

    async def close(self) -> None:
        """End every server, in parallel, within the limit of a shutdown; then the rest."""
        self.apply(plan.plan(Desired({}), self._observed), {})
        self._of_clients.end()
        ending = [asyncio.create_task(each.ended()) for each in self._all()]
        if ending:
            _, late = await asyncio.wait(ending, timeout=limits.SHUTDOWN)
            if late:
                self.force_close()
                await asyncio.wait(late, timeout=limits.TERM_GRACE)
        await self._deps.opener.close()

    def force_close(self) -> None:
        """Kill what still runs at once."""
        for connection in self._all():
            connection.force_close()

    def _all(self) -> list[Connection]:
        return [*self._connections.values(), *self._of_clients.all()]

    def _connection(self, server: UUID, terms: CallTerms) -> Connection:
        connection = self._connections.get(server)
        if connection is None:
            raise ServerUnknown("the server was removed")
        key = terms.client_key
        if key is None or connection.server.config.isolation != "per-client":
            return connection
        # A client gets a process of its own only of a server that could be used at all.
        if not connection.usable:
            return connection
        return self._of_clients.of(connection.server, key, terms.caller)

    def _apply(self, action: Action, server: DesiredServer | None) -> None:
        if isinstance(action, plan.StopServer | plan.Replace | plan.Forget):
            moved = isinstance(action, plan.StopServer) and action.moved
            self._of_clients.end(server=action.id, moved=moved)
        if isinstance(action, plan.Forget):
            self._connections.pop(action.id, None)
            self._observed.pop(action.id, None)
            return
        connection = self._connections.get(action.id)
        if connection is None:
            if server is None:
                return
            connection = Connection(server, self._deps, self._changed, self._listener)
            self._connections[action.id] = connection
        if server is not None:
            connection.take_over(server)
        elif isinstance(action, plan.StopServer):
            connection.let_go(moved=action.moved)
            return
        if event := _EVENTS.get(type(action)):
            connection.dispatch(event)
        self._changed(connection)

    def _changed(self, connection: Connection) -> None:
        observed = connection.observed()
        if self._observed.get(observed.id) != observed:
            self._observed[observed.id] = observed
            self._on_change(observed)
