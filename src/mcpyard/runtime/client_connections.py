"""The processes that clients have for themselves, of servers with `isolation: per-client`.

Each is supervised like the server's own, but nobody sees it: it begins with a client's first call
and ends with the client.
"""

import asyncio
from collections.abc import Iterator
from uuid import UUID

from mcpyard.domain.callers import Caller
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.lifecycle import StartWanted
from mcpyard.runtime.connection import Connection
from mcpyard.runtime.session_runner import RuntimeDeps


class ClientConnections:
    """One connection a server and client."""

    def __init__(self, deps: RuntimeDeps) -> None:
        self._deps = deps
        self._connections: dict[tuple[UUID, str], Connection] = {}
        self._callers: dict[tuple[UUID, str], Caller] = {}
        self._ending: dict[asyncio.Task[None], Connection] = {}

    def of(
        self, server: DesiredServer, client_key: str, caller: Caller | None = None
    ) -> Connection:
        """A client's connection to a server, begun with its first use.

        Raises:
            OverQuota: The caller has too many of them.
        """
        key = server.id, client_key
        connection = self._connections.get(key)
        if connection is None:
            if caller:
                caller.add_process(client_key)
                self._callers[key] = caller
            connection = Connection(server, self._deps, _unwatched)
            self._connections[key] = connection
            connection.dispatch(StartWanted())
        return connection

    def end(
        self, *, server: UUID | None = None, client_key: str | None = None, moved: bool = False
    ) -> None:
        """End the connections to a server, which may have moved, those of a client, or all."""
        for key in [*self._connections]:
            if server in {None, key[0]} and client_key in {None, key[1]}:
                connection = self._connections.pop(key)
                if caller := self._callers.pop(key, None):
                    caller.remove_process(key[1])
                connection.let_go(moved=moved)
                if not connection.is_over:
                    self._see_off(connection)

    def all(self) -> Iterator[Connection]:
        """Every connection of which something may be left."""
        yield from self._connections.values()
        yield from self._ending.values()

    def _see_off(self, connection: Connection) -> None:
        ending = asyncio.create_task(connection.ended())
        self._ending[ending] = connection
        ending.add_done_callback(self._ending.pop)


def _unwatched(_connection: Connection) -> None:
    """The status of a client's own process is not reported."""
