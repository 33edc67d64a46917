"""The book of tools: which there are, what each is called outside, and where a call of it goes.

Looked up on every call, so it is kept as plain dictionaries and rebuilt for one server at a time,
only when that server's tools, name or policy changed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from uuid import UUID

from msgspec import Struct

from mcpyard.catalog.names import ToolKey, assign, name_fault
from mcpyard.catalog.routes import Route, fallbacks_of
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NameRefused, NameTaken, Problem
from mcpyard.domain.model import UNCHANGED
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Memory
from mcpyard.yard.resource_uris import AddressBook


class _Page(Struct, frozen=True):
    """One server's tools, and what they were made from."""

    server: DesiredServer
    observed: Observed
    routes: Mapping[str, Route]

    @property
    def made_from(self) -> tuple[str, str, str]:
        return _source(self.server, self.observed)


class ToolBook:
    """All tools of all servers.

    Attributes:
        addresses: Which server an address belongs to.
        on_renamed: Called with a server whose tools have other names than before.
    """

    def __init__(self, memory: Memory) -> None:
        self.addresses = AddressBook(memory)
        self._memory = memory
        self._pages: dict[UUID, _Page] = {}
        self._exposed: dict[str, Route] = {}
        self.on_renamed: Callable[[DesiredServer], None] = lambda _: None
        memory.watch_names(self._rename)

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
        page = self._pages.get(server.id)
        if page and page.made_from == _source(server, observed):
            return False
        self._enter(server, observed)
        return True

    def remove(self, server: UUID) -> bool:
        """Drop a server's tools; whether there were any."""
        self.addresses.forget(server)
        page = self._pages.pop(server, None)
        for route in page.routes.values() if page else ():
            self._exposed.pop(route.exposed, None)
        return page is not None

    def check_name(self, route: Route, name: str) -> None:
        """Refuse a name that a person gives to a tool and that cannot be used.

        Raises:
            NameRefused: Agents would not accept it.
            NameTaken: Another tool is called so, or was.
        """
        if fault := name_fault(name):
            raise NameRefused.of(Problem("name", fault))
        if not self._is_free(name, (route.server, route.tool.name)):
            raise NameTaken(f'another tool is called "{name}"')

    def _enter(self, server: DesiredServer, observed: Observed) -> None:
        self.remove(server.id)
        routes = self._make(server, observed)
        self._pages[server.id] = _Page(server, observed, routes)
        self._exposed |= {route.exposed: route for route in routes.values()}

    def _rename(self, servers: Collection[UUID]) -> None:
        """Give other names to tools that lost theirs to tools that another node named."""
        for page in [self._pages[each] for each in servers if each in self._pages]:
            self._enter(page.server, page.observed)
            self.on_renamed(page.server)

    def _make(self, server: DesiredServer, observed: Observed) -> dict[str, Route]:
        tools = observed.tools.definitions
        keys = {tool.name: ToolKey(server.id, server.name, tool.name) for tool in tools}
        names = self._named(keys.values())
        routes: dict[str, Route] = {}
        for tool in tools:
            policy = server.config.tools.get(tool.name) or UNCHANGED
            exposed = names[keys[tool.name]]
            if policy.name and self._may_be_called(policy.name, keys[tool.name], routes.values()):
                exposed = policy.name
            fallbacks = fallbacks_of(tool.name, policy, server.config.fallback)
            routes[tool.name] = Route(
                server.id, server.name, tool, exposed, policy, fallbacks=fallbacks
            )
        return routes

    def _named(self, keys: Collection[ToolKey]) -> dict[ToolKey, str]:
        """The names of tools: those they had, else new ones that nothing has or ever had."""
        stored = self._memory.exposed_names()
        earlier = {
            key: name for key in keys if (name := stored.get((key.server_id, key.tool))) is not None
        }
        if len(earlier) == len(keys):
            return earlier
        # Those that people gave are kept by nobody, but in use.
        reserved = {*stored.values(), *self._exposed}
        names = assign(keys, earlier, reserved=reserved)
        self._memory.keep_names({(key.server_id, key.tool): name for key, name in names.items()})
        return names

    def _may_be_called(self, name: str, key: ToolKey, siblings: Iterable[Route]) -> bool:
        return (
            name_fault(name) is None
            and self._is_free(name, (key.server_id, key.tool))
            and all(each.exposed != name for each in siblings)
        )

    def _is_free(self, name: str, tool: tuple[UUID, str]) -> bool:
        stored = self._memory.exposed_names()
        if any(each == name and key != tool for key, each in stored.items()):
            return False
        route = self._exposed.get(name)
        return route is None or (route.server, route.tool.name) == tool


def _source(server: DesiredServer, observed: Observed) -> tuple[str, str, str]:
    """What a page is made from."""
    return server.name, observed.tools.digest, server.policy_digest
