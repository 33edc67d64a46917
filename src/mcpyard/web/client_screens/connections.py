"""Which clients use the gateway: what their files say, and whether they were seen there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.web.badges import CONFIGURED, CONNECTED, NEVER_SEEN, NOT_CONNECTED, StatusBadge
from mcpyard.web.client_screens.presenters import OWN
from mcpyard.web.templating import TemplateData
from mcpyard.yard.token_costs import leads_here, profile_of
from mcpyard.yard.views.access import SeenClientView
from mcpyard.yard.views.clients import ScopeView
from mcpyard.yard.yard import YardCore

RECENT: Final = timedelta(minutes=2)
"""A client without sessions is taken for connected so long after it was heard of."""


@dataclass(frozen=True, slots=True)
class GatewayEntry:
    """An entry of the gateway in a client's file."""

    at: str
    scope: str
    name: str
    profile: str


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """A client, whether it is here, its entries of the gateway, and when it was seen there."""

    client: str
    title: str
    exists: bool
    entries: tuple[GatewayEntry, ...]
    seen: SeenClientView | None = None
    active: bool = False

    @property
    def badge(self) -> StatusBadge:
        """How that looks: connected is only who is there."""
        if self.active:
            return CONNECTED
        if not self.entries:
            return NOT_CONNECTED
        return CONFIGURED if self.seen else NEVER_SEEN


async def connections_of(yard: YardCore, address: str) -> TemplateData:
    """What the part of the connections shows."""
    clients = await yard.clients.seen()
    groups = await yard.clients.groups()
    return {
        "gateway": address,
        "connections": connections(groups, yard.identity, clients, datetime.now(UTC)),
        "others": [each for each in clients if each.client is None],
        "profiles": [each.view() for each in yard.profiles.all()],
    }


def connections(
    groups: Iterable[ScopeView],
    identity: SelfIdentity,
    clients: Iterable[SeenClientView],
    now: datetime,
) -> list[ClientConnection]:
    """Every other program: those that are connected first, then those that are here."""
    # The one that was heard of last is the first of its name.
    latest: dict[str, SeenClientView] = {}
    active: set[str] = set()
    for each in clients:
        if each.client is not None:
            latest.setdefault(each.client, each)
            if each.sessions or now - datetime.fromisoformat(each.last_seen) < RECENT:
                active.add(each.client)
    by_client: dict[str, ClientConnection] = {}
    for group in groups:
        client = group.client
        before = by_client.get(client)
        entries = tuple(_gateway_entries(group, identity))
        by_client[client] = ClientConnection(
            client,
            group.title,
            group.exists or (before is not None and before.exists),
            (*(before.entries if before else ()), *entries),
            latest.get(client),
            client in active,
        )
    by_client.pop(OWN, None)
    order = by_client.values()
    return sorted(order, key=lambda each: (not each.active, not each.entries, not each.exists))


def _gateway_entries(group: ScopeView, identity: SelfIdentity) -> Iterable[GatewayEntry]:
    at = f"{group.client}:{group.scope}"
    for each in group.servers:
        if leads_here(each, identity):
            yield GatewayEntry(at, group.scope, each.name, profile_of(each))
