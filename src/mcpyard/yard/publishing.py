"""Publishing changes: to the registry, to the book of tools, and as events."""

from collections.abc import Container, Mapping
from uuid import UUID

from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.desired_changes import DesiredChanges
from mcpyard.domain.observed import Observed
from mcpyard.domain.status import Status, public_words
from mcpyard.yard.book import ToolBook
from mcpyard.yard.events import EventBus
from mcpyard.yard.server_registry import RegistryBook
from mcpyard.yard.views.events import documents_event, status_event


class Publisher:
    """Publishes what changed of the desired and of the observed state."""

    def __init__(self, registered: RegistryBook, book: ToolBook, bus: EventBus) -> None:
        self._registered = registered
        self._book = book
        self._bus = bus
        book.on_renamed = self._tell_tools

    def desired_changed(
        self, desired: Desired, different: DesiredChanges, observed: Mapping[UUID, Observed]
    ) -> None:
        """Publish another desired state, in one event for all servers."""
        self._registered.hold(desired.servers.values())
        for gone in different.gone:
            if self._book.remove(gone):
                self._bus.publish("removed", {"id": str(gone)})
        for server in different.changed:
            if seen := observed.get(server.id):
                self._publish_tools(server, seen, desired.servers)
        self._bus.publish("documents", documents_event(desired))

    def observed(self, server: DesiredServer, observed: Observed, defined: Container[UUID]) -> None:
        """Publish the status of a server, and its tools if they changed."""
        self._publish_tools(server, observed, defined)
        status, cause = public_words(observed.state).status, observed.state.cause
        error = cause.message if cause and status is Status.ERROR else None
        self._registered.update_status(server.name, status, error)
        self._bus.publish("status", status_event(server, observed))

    def _publish_tools(
        self, server: DesiredServer, observed: Observed, defined: Container[UUID]
    ) -> None:
        self._book.addresses.claim(observed, defined)
        if self._book.update(server, observed):
            self._tell_tools(server)

    def _tell_tools(self, server: DesiredServer) -> None:
        names = [route.exposed for route in self._book.routes(server.id)]
        self._registered.update_tool_count(server.name, len(names))
        self._bus.publish("tools", {"name": server.name, "id": str(server.id), "tools": names})
