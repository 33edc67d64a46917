"""All servers: carries out plans, answers what is, ends everything in time."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any
from uuid import UUID

from mcpyard.domain import lifecycle, limits, plan
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.plan import Action
from mcpyard.domain.ports import CallTerms, LogLine, NotificationInterest, OnNotice, Telling
from mcpyard.runtime.client_lanes import ClientLanes
from mcpyard.runtime.connection import Connection
from mcpyard.runtime.figures import figures
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

    def __init__(self, crew: RuntimeDeps) -> None:
        self._crew = crew
        self._connections: dict[UUID, Connection] = {}
        self._observed: dict[UUID, Observed] = {}
        self._on_change: Callable[[Observed], None] = lambda _: None
        self._on_notice: OnNotice = lambda _server, _method, _params: None
        self._lanes = ClientLanes(crew)

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed."""
        self._on_change = on_change

    def hear(self, on_notice: OnNotice) -> None:
        """Tell of what servers say outside any call."""
        self._on_notice = on_notice

    def observed(self) -> Mapping[UUID, Observed]:
        """What is, of every server it holds."""
        return self._observed

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Carry out a plan."""
        for action in actions:
            self._apply(action, desired.get(action.id))

    def call(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool (see `Servers`)."""
        return self._connection(server, terms.lane).call(tool, arguments, terms)

    def request(
        self, server: UUID, method: str, params: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server anything (see `Servers`)."""
        return self._connection(server, terms.lane).request(method, params, terms)

    def tune(self, server: UUID, tuning: NotificationInterest) -> None:
        """What is wanted to be heard of a server from now on."""
        if connection := self._connections.get(server):
            connection.tune(tuning)

    def release(self, lane: str) -> None:
        """End the processes that a client had for itself."""
        self._lanes.end(lane=lane)

    async def trial(self, server: DesiredServer) -> Observed:
        """Open a server that is not held, look at it, and end it again."""
        return await try_out(server, self._crew)

    def log(self, server: UUID) -> tuple[LogLine, ...]:
        """The last lines a server wrote to its standard error."""
        connection = self._connections.get(server)
        return connection.ring.lines() if connection else ()

    def figures(self, server: UUID) -> Figures | None:
        """What a server's processes use just now."""
        observed = self._observed.get(server)
        return figures(observed.pid) if observed and observed.pid else None

    async def close(self) -> None:
        """End every server, in parallel, within the limit of a shutdown; then the rest."""
        self.apply(plan.plan(Desired({}), self._observed), {})
        self._lanes.end()
        ending = [asyncio.create_task(each.ended()) for each in self._all()]
        if ending:
            _, late = await asyncio.wait(ending, timeout=limits.SHUTDOWN)
            if late:
                self.hurry()
                await asyncio.wait(late, timeout=limits.TERM_GRACE)
        await self._crew.opener.close()

    def hurry(self) -> None:
        """Skip all patience: kill what still runs."""
        for connection in self._all():
            connection.hurry()

    def _all(self) -> list[Connection]:
        return [*self._connections.values(), *self._lanes.all()]

    def _connection(self, server: UUID, lane: str | None) -> Connection:
        connection = self._connections.get(server)
        if connection is None:
            raise ServerUnknown("the server was removed")
        if lane is None or connection.server.config.lanes != "per-client":
            return connection
        # A client gets a process of its own only of a server that could be used at all.
        return self._lanes.of(connection.server, lane) if connection.usable else connection

    def _apply(self, action: Action, server: DesiredServer | None) -> None:
        if isinstance(action, plan.StopServer | plan.Replace | plan.Forget):
            self._lanes.end(server=action.id)
        if isinstance(action, plan.Forget):
            self._connections.pop(action.id, None)
            self._observed.pop(action.id, None)
            return
        connection = self._connections.get(action.id)
        if connection is None:
            if server is None:
                return
            connection = Connection(server, self._crew, self._changed, self._notice_of(server.id))
            self._connections[action.id] = connection
        if server is not None:
            connection.take_over(server)
        elif isinstance(action, plan.StopServer):
            connection.let_go()
            return
        if event := _EVENTS.get(type(action)):
            connection.tell(event)
        self._changed(connection)

    def _notice_of(self, server: UUID) -> Telling:
        return lambda method, params: self._on_notice(server, method, params)

    def _changed(self, connection: Connection) -> None:
        observed = connection.observed()
        if self._observed.get(observed.id) != observed:
            self._observed[observed.id] = observed
            self._on_change(observed)
