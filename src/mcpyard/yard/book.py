"""The book of tools: which there are, what each is called outside, and where a call of it goes.

Looked up on every call, so it is kept as plain dictionaries and rebuilt for one server at a time,
only when that server's tools, name or policy changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from mcpyard.catalog.names import ToolKey, assign
from mcpyard.catalog.routes import Route
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.model import ToolPolicy
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Memory


@dataclass(frozen=True, slots=True)
class _Page:
    """One server's tools, and what they were made from."""

    made_from: tuple[str, str, str]
    routes: Mapping[str, Route]


class ToolBook:
    """All tools of all servers."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._pages: dict[UUID, _Page] = {}
        self._exposed: dict[str, Route] = {}

    def route(self, exposed: str) -> Route | None:
        """The way to the tool of that exposed name."""
        return self._exposed.get(exposed)

    def find(self, server: UUID, tool: str) -> Route | None:
        """The way to a server's tool by its own name."""
        page = self._pages.get(server)
        return page.routes.get(tool) if page else None

    def routes(self, server: UUID) -> Iterable[Route]:
        """The tools of one server, in its order."""
        page = self._pages.get(server)
        return page.routes.values() if page else ()

    def servers(self) -> Iterable[UUID]:
        """The servers that have a page."""
        return [*self._pages]

    def update(self, server: DesiredServer, observed: Observed) -> bool:
        """Take over what a server offers now; whether that changed anything."""
        made_from = (server.name, observed.tools.digest, server.policy_digest)
        page = self._pages.get(server.id)
        if page and page.made_from == made_from:
            return False
        self.remove(server.id)
        routes = self._make(server, observed)
        self._pages[server.id] = _Page(made_from, routes)
        self._exposed |= {route.exposed: route for route in routes.values()}
        return True

    def remove(self, server: UUID) -> bool:
        """Drop a server's tools; whether there were any."""
        page = self._pages.pop(server, None)
        for route in page.routes.values() if page else ():
            self._exposed.pop(route.exposed, None)
        return page is not None

    def _make(self, server: DesiredServer, observed: Observed) -> dict[str, Route]:
        tools = observed.tools.definitions
        earlier = {
            ToolKey(owner, "", tool): name
            for (owner, tool), name in self._memory.exposed_names().items()
        }
        keys = {tool.name: ToolKey(server.id, server.name, tool.name) for tool in tools}
        names = assign(keys.values(), earlier)
        self._memory.keep_names({(key.server_id, key.tool): name for key, name in names.items()})
        policies = server.config.tools
        return {
            tool.name: Route(
                server.id,
                server.name,
                tool,
                names[keys[tool.name]],
                policies.get(tool.name) or ToolPolicy(),
            )
            for tool in tools
        }
