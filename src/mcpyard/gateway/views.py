"""What one address of the gateway shows: all servers, a profile's, or a single one.

A view is made anew whenever something in the yard changed, and only when somebody looks. Lists are
encoded once and then given out as they are, so that they cost no more than their bytes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

import orjson

from mcpyard.catalog.names import ToolKey, assign
from mcpyard.catalog.routes import Route
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.observed import Era, Items, Keeping, Observed
from mcpyard.gateway.templates import Address, Template, template_of
from mcpyard.yard.profiles import Profile
from mcpyard.yard.relay import Relay, is_a_yard

TOOLS: Final = "tools/list"
RESOURCES: Final = "resources/list"
TEMPLATES: Final = "resources/templates/list"
PROMPTS: Final = "prompts/list"

_MEMBERS: Final[Mapping[str, bytes]] = {
    TOOLS: b"tools",
    RESOURCES: b"resources",
    TEMPLATES: b"resourceTemplates",
    PROMPTS: b"prompts",
}

LISTS: Final = frozenset(_MEMBERS)


class Target(NamedTuple):
    """A tool, and what is known of its server.

    Attributes:
        route: The way to it.
        era: Of its server; None while that is not connected.
        is_yard: Whether its server is a yard itself, so that hops must be counted.
    """

    route: Route
    era: Era | None
    is_yard: bool


class Named(NamedTuple):
    """A prompt and what its server calls it."""

    server: UUID
    own: str


@dataclass(frozen=True, slots=True)
class _List:
    items: list[bytes] = field(default_factory=list[bytes])
    keepings: list[Keeping] = field(default_factory=list[Keeping])

    def encoded(self, member: bytes, *, modern: bool) -> bytes:
        body = b'"%b":[%b]' % (member, b",".join(self.items))
        if not modern:
            return b"{%b}" % body
        said = [each.ttl_ms for each in self.keepings if each.ttl_ms is not None]
        public = bool(self.keepings) and all(each.public for each in self.keepings)
        scope = b"public" if public else b"private"
        hints = b'"resultType":"complete","ttlMs":%d,"cacheScope":"%b"' % (
            min(said, default=0),
            scope,
        )
        return b"{%b,%b}" % (hints, body)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which servers and tools an address shows, and under which names.

    Attributes:
        shows: Whether it shows a server.
        own_names: Whether tools and prompts keep the names of their server.
        profile: What is said of single tools.
    """

    shows: Callable[[DesiredServer], bool] = lambda _: True
    own_names: bool = False
    profile: Profile | None = None

    def tool(self, server: DesiredServer, route: Route) -> tuple[str, str | None] | None:
        """What a tool is called here, and its description if that is not the server's own."""
        name = route.tool.name if self.own_names else route.exposed
        enabled, description = route.policy.enabled, route.policy.description
        if self.profile:
            said = self.profile.view(server, route.tool.name)
            name = said.name or name
            enabled = enabled if said.enabled is None else said.enabled
            description = description if said.description is None else said.description
        return (name, description) if enabled else None

    def allows(self, server: DesiredServer, route: Route) -> bool:
        """Whether it shows a tool of a server."""
        return self.shows(server) and self.tool(server, route) is not None


class View:
    """What an address shows at one moment.

    Attributes:
        version: Of the yard, when it was made.
        servers: The servers it shows that can be used, by name.
        tools: The way to each tool, by the name it has here.
        prompts: The prompts by the names they have here.
        resources: Which server has which resource.
        templates: The templates of the servers, as far as they can be matched.
        allows: What its callers may use; None for everything.
    """

    def __init__(self, relay: Relay, scope: Scope, version: int) -> None:
        self.version = version
        self.allows = scope.allows if scope.profile else None
        self.servers = [pair for pair in relay.servers() if scope.shows(pair[0])]
        self.tools: dict[str, Target] = {}
        self.prompts: dict[str, Named] = {}
        self.resources: dict[str, UUID] = {}
        self.templates: list[tuple[Template | None, UUID, str]] = []
        self._lists = {method: _List() for method in LISTS}
        self._encoded: dict[tuple[str, bool], bytes] = {}
        for server, seen in self.servers:
            self._take_tools(scope, server, seen, relay.routes(server.id))
            self._take_resources(server.id, seen)
        self._take_prompts(scope)

    def listed(self, method: str, *, modern: bool) -> bytes:
        """The answer to a request for a list."""
        found = self._encoded.get((method, modern))
        if found is None:
            found = self._lists[method].encoded(_MEMBERS[method], modern=modern)
            self._encoded[method, modern] = found
        return found

    def readers(self, uri: str) -> Iterator[UUID]:
        """The servers that may have a resource, the likeliest first."""
        seen: set[UUID] = set()
        if (owner := self.resources.get(uri)) is not None:
            yield owner
            return
        address = Address(uri)
        fitting = (
            server for template, server, _ in self.templates if template and template.fits(address)
        )
        others = (server.id for server, seen in self.servers if _has(seen, "resources"))
        for server in (*fitting, *others):
            if server not in seen:
                seen.add(server)
                yield server

    def _take_tools(
        self, scope: Scope, server: DesiredServer, seen: Observed, routes: Iterable[Route]
    ) -> None:
        listed = self._lists[TOOLS]
        listed.keepings.append(seen.tools.keeping)
        era, is_yard = (seen.session.era if seen.session else None), is_a_yard(seen)
        for route in routes:
            shown = scope.tool(server, route)
            if shown is None or shown[0] in self.tools:
                continue
            name, description = shown
            self.tools[name] = Target(route, era, is_yard)
            changed = {} if description is None else {"description": description}
            listed.items.append(encoded({**route.tool.raw, "name": name, **changed}))

    def _take_resources(self, server: UUID, seen: Observed) -> None:
        for uri, item in _each(self._lists[RESOURCES], seen.offer.resources, "uri"):
            if uri not in self.resources:
                self.resources[uri] = server
                self._lists[RESOURCES].items.append(encoded(item))
        known = {template for _, _, template in self.templates}
        for template, item in _each(self._lists[TEMPLATES], seen.offer.templates, "uriTemplate"):
            if template not in known:
                self.templates.append((template_of(template), server, template))
                self._lists[TEMPLATES].items.append(encoded(item))

    def _take_prompts(self, scope: Scope) -> None:
        listed = self._lists[PROMPTS]
        keys = {
            ToolKey(server.id, server.name, own): item
            for server, seen in self.servers
            for own, item in _each(listed, seen.offer.prompts, "name")
        }
        names = {key: key.tool for key in keys} if scope.own_names else assign(keys, {})
        for key, item in keys.items():
            self.prompts[names[key]] = Named(key.server_id, key.tool)
            listed.items.append(encoded({**item, "name": names[key]}))


def _each(listed: _List, items: Items, key: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    if items.items:
        listed.keepings.append(items.keeping)
    for item in items.items:
        name = item.get(key)
        if isinstance(name, str) and name:
            yield name, item


def _has(seen: Observed, capability: str) -> bool:
    return seen.session is not None and capability in seen.session.capabilities


def encoded(item: Mapping[str, object]) -> bytes:
    """An item of a list as JSON."""
    return orjson.dumps(item)
