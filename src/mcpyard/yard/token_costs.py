"""What lists of tools cost a model: of each server, each profile, and each client."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

import orjson
from msgspec import UNSET, UnsetType

from mcpyard.catalog.routes import Route
from mcpyard.catalog.token_estimate import estimate_tokens
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import DesiredServer
from mcpyard.yard.clients.yard_scope import YARD
from mcpyard.yard.profiles import Profile
from mcpyard.yard.views.charts import TokenCostView, TokensChartView
from mcpyard.yard.views.clients import EntryBrief, ScopeView
from mcpyard.yard.yard import YardCore

_GATEWAY: Final = "/mcp"
_PROFILE: Final = "--profile"
_BATCH: Final = 200
"""Tools that are measured before others get their turn."""


class _Measured(NamedTuple):
    route: Route
    tokens: int


class TokenCosts:
    """Estimates what tool lists cost; a tool is measured once, until it changes."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard
        self._measured: dict[int, _Measured] = {}

    async def all(self) -> TokensChartView:
        """Everything, the dearest first."""
        await self._measure_all()
        defined = [*self._yard.desired.servers.values()]
        servers = [self._cost(each.name, self._routes(each), id=str(each.id)) for each in defined]
        every = self._cost("", [route for each in defined for route in self._routes(each)])
        profiles = {each.name: self._profile(each) for each in self._yard.profiles.all()}
        by_name = {each.name: each for each in servers}
        groups = await self._yard.clients.groups()
        clients = client_costs(groups, self._yard.identity, by_name, profiles | {"": every})
        return TokensChartView(
            all=every,
            servers=_by_cost(servers),
            profiles=_by_cost(profiles.values()),
            clients=_by_cost(clients),
        )

    def _routes(self, server: DesiredServer) -> list[Route]:
        return [each for each in self._yard.directory.routes(server.id) if each.policy.enabled]

    def _profile(self, profile: Profile) -> TokenCostView:
        tokens = tools = 0
        for server in profile.select(self._yard.desired.servers.values()):
            for route in self._routes(server):
                override = profile.override(server, route.tool.name)
                if override.enabled is not False:
                    tools += 1
                    tokens += self._tokens(route, override.description)
        return TokenCostView(name=profile.name, tools=tools, tokens=tokens)

    def _cost(self, name: str, routes: list[Route], id: str | UnsetType = UNSET) -> TokenCostView:  # noqa: A002
        tokens = sum(map(self._tokens, routes))
        return TokenCostView(name=name, id=id, tools=len(routes), tokens=tokens)

    async def _measure_all(self) -> None:
        fresh: dict[int, _Measured] = {}
        for server in [*self._yard.desired.servers.values()]:
            for number, route in enumerate(self._routes(server)):
                self._tokens(route)
                fresh[id(route)] = self._measured[id(route)]
                if number % _BATCH == _BATCH - 1:
                    await asyncio.sleep(0)
            await asyncio.sleep(0)
        self._measured = fresh

    def _tokens(self, route: Route, description: str | None = None) -> int:
        if description is not None and description != route.description:
            return _tokens_of(route, description)
        measured = self._measured.get(id(route))
        if measured is None or measured.route is not route:
            tokens = _tokens_of(route, route.description)
            measured = self._measured[id(route)] = _Measured(route, tokens)
        return measured.tokens


def leads_here(server: EntryBrief, identity: SelfIdentity) -> bool:
    """Whether a client's entry is this gateway."""
    if server.url:
        return identity.is_at(server.url)
    return identity.is_run_by([server.command or "", *(server.args or ())], {})


def profile_of(server: EntryBrief) -> str:
    """The profile that an entry of this gateway names; empty for none."""
    if server.url:
        return unquote(urlsplit(server.url).path.removeprefix(_GATEWAY).strip("/"))
    words = [*(server.args or ())]
    for word, after in zip(words, [*words, ""][1:], strict=True):
        if word == _PROFILE:
            return after
        if word.startswith(f"{_PROFILE}="):
            return word.removeprefix(f"{_PROFILE}=")
    return ""


def client_costs(
    groups: Iterable[ScopeView],
    identity: SelfIdentity,
    servers: Mapping[str, TokenCostView],
    profiles: Mapping[str, TokenCostView],
) -> list[TokenCostView]:
    """What clients that are here get from the gateway, and from servers that they start."""
    costs: dict[str, TokenCostView] = {}
    for group in groups:
        if group.client == YARD:
            continue
        for entry in group.servers:
            if not entry.enabled:
                continue
            is_ours = leads_here(entry, identity)
            more = profiles.get(profile_of(entry)) if is_ours else servers.get(entry.name)
            before = costs.get(group.client) or TokenCostView(
                name=group.title, id=group.client, tools=0, tokens=0, unknown=0
            )
            costs[group.client] = _with(before, more)
    return [*costs.values()]


def _with(cost: TokenCostView, more: TokenCostView | None) -> TokenCostView:
    return TokenCostView(
        name=cost.name,
        id=cost.id,
        tools=cost.tools + (more.tools if more else 0),
        tokens=cost.tokens + (more.tokens if more else 0),
        unknown=(cost.unknown or 0) + (more is None),
    )


def _tokens_of(route: Route, description: str | None) -> int:
    described = {} if description is None else {"description": description}
    tool = {**route.tool.raw, "name": route.exposed, **described}
    return estimate_tokens(orjson.dumps(tool, default=str).decode())


def _by_cost(costs: Iterable[TokenCostView]) -> list[TokenCostView]:
    return sorted(costs, key=lambda each: (-each.tokens, each.name))
