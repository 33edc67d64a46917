"""What one address of the gateway shows: all servers, a profile's, or a single one.

An exposure is made anew when something changed and somebody looks. Lists are
encoded once and then given out as they are, so that they cost no more than their bytes. While many
servers start, somebody looks again and again: a tool that is as it was is not encoded again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from msgspec import Struct, field

from mcpyard.catalog.names import ToolKey, assign
from mcpyard.catalog.resource_uris import ui_addresses, with_meta_changed
from mcpyard.catalog.routes import Route
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.narrowing import is_object, mapping_of
from mcpyard.domain.observed import CacheHint, Era, Items, Observed
from mcpyard.gateway.resource_uris import Addresses
from mcpyard.yard.directory import ServerDirectory
from mcpyard.yard.profiles import Profile

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

_META: Final = "_meta"
_TASK_SUPPORT: Final = "taskSupport"

PHASE: Final = "mcpyard/phase"
"""The member of `_meta` that says that the server of a tool does not respond."""

Take = Callable[[UUID, str], "str | None"]
"""Takes an address of a server over; what it is called, None when it cannot be shown."""


class Target(NamedTuple):
    """A tool, and what is known of its server.

    Attributes:
        route: The way to it.
        era: Of its server; None while that is not connected.
    """

    route: Route
    era: Era | None


class Named(NamedTuple):
    """A prompt and what its server calls it."""

    server: UUID
    own: str


class _Item(NamedTuple):
    """A tool of a list, encoded, and what it was made from."""

    route: Route
    made_from: tuple[str, str | None, bool]
    encoded: bytes


class _List(Struct, frozen=True):
    items: list[bytes] = field(default_factory=list[bytes])
    cache_hints: list[CacheHint] = field(default_factory=list[CacheHint])

    def encoded(self, member: bytes, *, modern: bool) -> bytes:
        body = b'"%b":[%b]' % (member, b",".join(self.items))
        if not modern:
            return b"{%b}" % body
        ttls = [each.ttl_ms for each in self.cache_hints if each.ttl_ms is not None]
        public = bool(self.cache_hints) and all(each.public for each in self.cache_hints)
        scope = b"public" if public else b"private"
        hints = b'"resultType":"complete","ttlMs":%d,"cacheScope":"%b"' % (
            min(ttls, default=0),
            scope,
        )
        return b"{%b,%b}" % (hints, body)


class ExposureScope(Struct, frozen=True):
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
            settings = self.profile.override(server, route.tool.name)
            name = settings.name or name
            enabled = enabled if settings.enabled is None else settings.enabled
            description = description if settings.description is None else settings.description
        return (name, description) if enabled else None

    def allows(self, server: DesiredServer, route: Route) -> bool:
        """Whether it shows a tool of a server."""
        return self.shows(server) and self.tool(server, route) is not None


class Exposure:
    """What an address shows at one moment.

    Attributes:
        version: Of the yard, when it was made.
        servers: The servers it shows that can be used, by name.
        tools: The way to each tool, by the name it has here.
        prompts: The prompts by the names they have here.
        addresses: What resources and templates are called here, and whose they are.
        allows: What its callers may use; None for everything.
    """

    def __init__(
        self,
        directory: ServerDirectory,
        scope: ExposureScope,
        version: int,
        before: "Exposure | None" = None,
    ) -> None:
        self.version = version
        self._items: dict[int, _Item] = {}
        self._items_before = before._items if before else {}  # noqa: SLF001  of the same class
        self.allows = scope.allows if scope.profile else None
        self.servers = [pair for pair in directory.servers() if scope.shows(pair[0])]
        self.tools: dict[str, Target] = {}
        self.prompts: dict[str, Named] = {}
        self.addresses = Addresses(directory.holder, as_they_are=scope.own_names)
        self._lists = {method: _List() for method in LISTS}
        self._encoded: dict[tuple[str, bool], bytes] = {}
        for server, observed in self.servers:
            has_resources = observed.session is None or "resources" in observed.session.capabilities
            self.addresses.add_server(server.id, server.name, has_resources=has_resources)
        for server, observed in self.servers:
            self._take_tools(scope, server, observed, directory.routes(server.id))
            self._take_resources(server.id, observed)
        self._take_prompts(scope)
        self._items_before = {}

    def encoded_list(self, method: str, *, modern: bool) -> bytes:
        """The answer to a request for a list."""
        body = self._encoded.get((method, modern))
        if body is None:
            body = self._lists[method].encoded(_MEMBERS[method], modern=modern)
            self._encoded[method, modern] = body
        return body

    def _take_tools(
        self,
        scope: ExposureScope,
        server: DesiredServer,
        observed: Observed,
        routes: Iterable[Route],
    ) -> None:
        tools = self._lists[TOOLS]
        tools.cache_hints.append(observed.tools.cache_hint)
        era = observed.session.era if observed.session else None
        for route in routes:
            exposed = scope.tool(server, route)
            if exposed is None or exposed[0] in self.tools:
                continue
            name, description = exposed
            self.tools[name] = Target(route, era)
            tools.items.append(self._item(route, name, description, observed.state.phase))

    def _item(self, route: Route, name: str, description: str | None, phase: Phase) -> bytes:
        made_from = (name, description, phase is Phase.DEGRADED)
        item = self._items_before.get(id(route))
        if item is None or item.route is not route or item.made_from != made_from:
            for own in ui_addresses(route.tool.raw):
                self.addresses.take(route.server, own)
            item = _Item(route, made_from, self._encode(route, made_from))
        # What addresses are called here may change with the other servers.
        if _META not in route.tool.raw:
            self._items[id(route)] = item
        return item.encoded

    def _encode(self, route: Route, made_from: tuple[str, str | None, bool]) -> bytes:
        name, description, degraded = made_from
        raw = self._with_addresses(route.server, without_tasks(route.tool.raw))
        if degraded:
            raw = _marked(raw, Phase.DEGRADED)
        changed = {} if description is None else {"description": description}
        return encoded({**raw, "name": name, **changed})

    def _with_addresses(self, server: UUID, item: Mapping[str, object]) -> Mapping[str, object]:
        """An item whose `_meta` has the addresses that are used here."""
        if self.addresses.as_they_are:
            return item
        return with_meta_changed(item, partial(self.addresses.exposed, server))

    def _take_resources(self, server: UUID, observed: Observed) -> None:
        self._take_addresses(
            server, RESOURCES, "uri", observed.offer.resources, self.addresses.take
        )
        templates, take = observed.offer.templates, self.addresses.take_template
        self._take_addresses(server, TEMPLATES, "uriTemplate", templates, take)

    def _take_addresses(
        self, server: UUID, method: str, key: str, items: Items, take: Take
    ) -> None:
        listing = self._lists[method]
        names: set[str] = set()
        for own, each in _each(listing, items, key):
            exposed = take(server, own)
            if exposed is not None and exposed not in names:
                names.add(exposed)
                item = self._with_addresses(server, each)
                listing.items.append(encoded({**item, key: exposed}))

    def _take_prompts(self, scope: ExposureScope) -> None:
        listing = self._lists[PROMPTS]
        keys = {
            ToolKey(server.id, server.name, own): item
            for server, observed in self.servers
            for own, item in _each(listing, observed.offer.prompts, "name")
        }
        names = {key: key.tool for key in keys} if scope.own_names else assign(keys, {})
        for key, item in keys.items():
            self.prompts[names[key]] = Named(key.server_id, key.tool)
            listing.items.append(encoded({**item, "name": names[key]}))


def _each(listing: _List, items: Items, key: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    if items.items:
        listing.cache_hints.append(items.cache_hint)
    for item in items.items:
        name = item.get(key)
        if isinstance(name, str) and name:
            yield name, item


def without_tasks(tool: Mapping[str, object]) -> Mapping[str, object]:
    """A tool without its offer to run as a task, which the gateway does not support."""
    execution = tool.get("execution")
    if not is_object(execution) or _TASK_SUPPORT not in execution:
        return tool
    members = execution
    rest = {key: value for key, value in members.items() if key != _TASK_SUPPORT}
    others = {key: value for key, value in tool.items() if key != "execution"}
    return {**others, "execution": rest} if rest else others


def _marked(tool: Mapping[str, object], phase: Phase) -> Mapping[str, object]:
    """A tool with the phase of its server in its `_meta`."""
    return {**tool, _META: {**mapping_of(tool.get(_META)), PHASE: phase}}


def encoded(item: Mapping[str, object]) -> bytes:
    """An item of a list as JSON."""
    return orjson.dumps(item)
