"""The Settings screen: the gateway and its clients, profiles, tokens, preferences, about."""

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.stored import CallToken
from mcpyard.web.assets import FOLDER
from mcpyard.web.badges import CONNECTED, EXPIRED, EXPIRES_SOON, NOT_CONNECTED, StatusBadge
from mcpyard.web.client_screens.presenters import OWN, digest_of
from mcpyard.web.context import PageContext
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.views.clients import EntryBrief, ScopeView

PAST: Final = 5
"""Revoked tokens that are still shown."""

_UNCHANGED: Final = 204


@dataclass(frozen=True, slots=True)
class Connected:
    """A program, whether it is here, and where the gateway stands in its files, if it does."""

    client: str
    title: str
    exists: bool
    places: tuple[str, ...]

    @property
    def badge(self) -> StatusBadge:
        """How that looks."""
        return CONNECTED if self.places else NOT_CONNECTED


class SettingsRoutes:
    """Shows what can be set about a yard."""

    def __init__(self, presenter: ServerPresenter, context: PageContext) -> None:
        self._presenter = presenter
        self._yard = presenter.yard
        self._context = context

    async def screen(self, request: Request) -> Response:
        """Everything."""
        data: TemplateData = {
            "servers": len(self._yard.desired.servers),
            "home": self._context.home,
            "address": str(request.base_url).rstrip("/"),
            "python": platform.python_version(),
            "licences": licences(),
        }
        frame = self._presenter.frame("settings")
        return answer(request, "screens/settings.html", frame | data | await self._part(request))

    async def part(self, request: Request) -> Response:
        """What others may change meanwhile; nothing where it was seen already."""
        data = await self._part(request)
        if data["seen"] == request.query_params.get("seen"):
            return Response(status_code=_UNCHANGED)
        return answer(request, "parts/settings.html", data)

    async def _part(self, request: Request) -> TemplateData:
        tokens = self._context.tokens.all()
        data: TemplateData = {
            "gateway": f"{request.base_url}mcp",
            "connections": connections(await self._yard.clients.groups(), self._yard.identity),
            "profiles": [each.view() for each in self._yard.profiles.all()],
            "tokens": [each for each in reversed(tokens) if each.revoked is None],
            "expiring": expiring(tokens, datetime.now(UTC)),
            "past_tokens": past_tokens(tokens),
        }
        return {"seen": digest_of(data)} | data


def expiring(tokens: Iterable[CallToken], now: datetime) -> dict[str, StatusBadge]:
    """The badges of the tokens that have expired, or soon will, by their ids."""
    return {
        str(each.id): EXPIRED if each.is_expired(now) else EXPIRES_SOON
        for each in tokens
        if each.is_expired(now) or each.expires_soon(now)
    }


def past_tokens(tokens: Iterable[CallToken]) -> list[CallToken]:
    """The tokens that were revoked last, newest first."""
    revoked = [(each.revoked, each) for each in tokens if each.revoked]
    return [each for _, each in sorted(revoked, key=lambda each: each[0])[: -PAST - 1 : -1]]


def connections(groups: Iterable[ScopeView], identity: SelfIdentity) -> list[Connected]:
    """Every other program, those that are here first."""
    by_client: dict[str, Connected] = {}
    for group in groups:
        client = group.client
        before = by_client.get(client) or Connected(client, group.title, False, ())
        ours = tuple(
            f"{group.scope}: {each.name}" for each in group.servers if leads(each, identity)
        )
        exists = before.exists or group.exists
        by_client[client] = Connected(client, before.title, exists, (*before.places, *ours))
    by_client.pop(OWN, None)
    return sorted(by_client.values(), key=lambda each: not each.exists)


def leads(server: EntryBrief, identity: SelfIdentity) -> bool:
    """Whether a program's server is this yard's gateway."""
    if server.url:
        return identity.is_at(server.url)
    return identity.is_run_by([server.command or "", *(server.args or ())], {})


@cache
def licences() -> dict[str, str]:
    """The licences of the scripts that the page brings along."""
    texts = sorted((FOLDER / "vendor").glob("*.LICENSE"))
    return {each.stem: each.read_text(encoding="utf-8") for each in texts}
