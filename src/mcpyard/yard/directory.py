"""The servers that clients of the gateway can use, and what each offers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from uuid import UUID

from mcpyard.catalog.routes import Route
from mcpyard.domain.definition.this_yard import NAME as OWN_NAME
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.lifecycle import ASLEEP
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Era, Observed
from mcpyard.domain.ports import LogLine, Servers
from mcpyard.yard.book import ToolBook
from mcpyard.yard.views.resources import FiguresView, figures_view


class ServerDirectory:
    """Finds servers, their tools and the owners of addresses."""

    def __init__(
        self,
        book: ToolBook,
        servers: Servers,
        desired: Callable[[], Mapping[UUID, DesiredServer]],
    ) -> None:
        self._book = book
        self._servers = servers
        self._desired = desired

    def servers(self) -> list[tuple[DesiredServer, Observed]]:
        """The servers that can be used now, or are started by a call; by name."""
        pairs = [(server, self.observed(server.id)) for server in self._desired().values()]
        usable = [
            (server, observed)
            for server, observed in pairs
            if server.wanted is Wanted.ON_DEMAND or observed.state.takes_calls
        ]
        return sorted(usable, key=lambda pair: pair[0].name)

    def routes(self, server: UUID) -> Iterator[Route]:
        """The tools of a server, in its order."""
        yield from self._book.routes(server)

    def offered(self, server: DesiredServer, *, everything: bool) -> Iterator[Route]:
        """The tools of a server that can be called now, or everything it has."""
        state = self.observed(server.id).state
        asleep = server.wanted is Wanted.ON_DEMAND and state.phase in ASLEEP
        if everything or asleep or state.takes_calls:
            routes = self._book.routes(server.id)
            yield from (each for each in routes if everything or each.policy.enabled)

    def observed(self, server: UUID) -> Observed:
        """How a server is."""
        return self._servers.observed().get(server) or Observed(server)

    def figures(self, server: UUID) -> FiguresView | None:
        """What the processes of a server use; None where it has none."""
        return figures_view(self._servers.figures(server))

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The last lines that a server wrote to its standard error, wherever it runs."""
        return await self._servers.fetch_log(server)

    def holder(self, address: str) -> UUID | None:
        """The server that an address belongs to, as far as one listed it."""
        return self._book.addresses.holder(address, self._desired())

    def era(self, server: UUID) -> Era | None:
        """The era of a server; None while it is not connected."""
        session = self.observed(server).session
        return session.era if session else None

    def is_yard(self, server: UUID) -> bool:
        """Whether a server is a yard itself, so that hops must be counted."""
        return is_a_yard(self.observed(server))


def is_a_yard(observed: Observed) -> bool:
    """Whether a server is a yard, by its own word."""
    session = observed.session
    return session is not None and session.server_info.get("name") == OWN_NAME
