"""The Settings screen: the gateway, tokens, secrets, preferences, about."""

import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.stored import CallToken
from mcpyard.web.assets import FOLDER
from mcpyard.web.badges import EXPIRED, EXPIRES_SOON, StatusBadge
from mcpyard.web.client_screens.presenters import digest_of
from mcpyard.web.context import PageContext
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer

PAST: Final = 5
"""Revoked tokens that are still shown."""

_UNCHANGED: Final = 204


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
        return answer(request, "screens/settings.html", frame | data | self._part(request))

    async def part(self, request: Request) -> Response:
        """What others may change meanwhile; nothing where it was seen already."""
        data = self._part(request)
        if data["seen"] == request.query_params.get("seen"):
            return Response(status_code=_UNCHANGED)
        return answer(request, "parts/settings.html", data)

    def _part(self, request: Request) -> TemplateData:
        tokens = self._context.tokens.all()
        data: TemplateData = {
            "gateway": f"{request.base_url}mcp",
            "tokens": [each for each in reversed(tokens) if each.revoked is None],
            "expiring": expiring(tokens, datetime.now(UTC)),
            "past_tokens": past_tokens(tokens),
            "secrets": self._yard.secrets.all(),
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


@cache
def licences() -> dict[str, str]:
    """The licences of the scripts that the page brings along."""
    texts = sorted((FOLDER / "vendor").glob("*.LICENSE"))
    return {each.stem: each.read_text(encoding="utf-8") for each in texts}
