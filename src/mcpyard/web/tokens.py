"""Call tokens in dialogs: created and revoked."""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import CHANGED, refused
from mcpyard.web.context import PageContext
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer

_LONGEST_NAME: Final = 80
_MOST_DAYS: Final = 3650


class TokenPages:
    """Makes and revokes the tokens of a yard's gateway."""

    def __init__(self, presenter: ServerPresenter, context: PageContext) -> None:
        self._yard = presenter.yard
        self._tokens = context.tokens

    async def dialog(self, request: Request) -> Response:
        """The form of a new token."""
        profiles = [each.name for each in self._yard.profiles.all()]
        return answer(request, "dialogs/token.html", {"profiles": profiles})

    async def create(self, request: Request) -> Response:
        """Make a token, and show it this once."""
        form = await requests.form(request)
        try:
            name = _name(form["name"].strip())
            expires = _expiry(form["expires"])
            _, secret = await self._tokens.create(name, form["profile"] or None, expires)
        except YardError as error:
            return refused(request, error)
        data: TemplateData = {"secret": secret, "variable": None}
        return answer(request, "dialogs/secret.html", data, headers=CHANGED)

    async def ask(self, request: Request) -> Response:
        """Ask before a token is revoked."""
        ref = request.query_params.get("ref", "")
        name = next((each.name for each in self._tokens.all() if str(each.id) == ref), ref)
        data: TemplateData = {"what": "token", "ref": ref, "name": name}
        return answer(request, "dialogs/take_away.html", data)

    async def revoke(self, request: Request) -> Response:
        """Make a token worthless."""
        ref = (await requests.form(request))["ref"]
        try:
            token = UUID(ref)
        except ValueError:
            raise ArgumentsRefused.of(Problem("ref", "must be the id of a token")) from None
        missing = ", ".join(await self._tokens.revoke(token))
        if missing:
            return done_notice(request, "tokens.revoked_partly", missing, tone="warn")
        return done_notice(request, "tokens.revoked", "")


def done_notice(request: Request, key: str, name: str, tone: str = "good") -> Response:
    """That something was done, which closes the dialog."""
    data: TemplateData = {"key": key, "name": name, "tone": tone}
    return answer(request, "parts/said.html", data, headers=CHANGED)


def _expiry(days: str) -> datetime | None:
    if not days:
        return None
    number = whole_number(days, _MOST_DAYS)
    if not number:
        problem = f"must be a whole number from 1 to {_MOST_DAYS}"
        raise ArgumentsRefused.of(Problem("expires", problem))
    return datetime.now(UTC) + timedelta(days=number)


def _name(text: str) -> str:
    if 0 < len(text) <= _LONGEST_NAME and text.isprintable():
        return text
    fault = f"must be a text of 1 to {_LONGEST_NAME} printable characters"
    raise ArgumentsRefused.of(Problem("name", fault))
