"""Profiles and call tokens in dialogs: made, changed, taken away."""

import json
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import CHANGED, refused
from mcpyard.web.context import PageContext
from mcpyard.web.filters import pretty
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.profiles import Profile

EVERY: Final = "*"

_LONGEST_NAME: Final = 80
_MOST_DAYS: Final = 3650


class ProfilePages:
    """Makes and changes the profiles of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def dialog(self, request: Request) -> Response:
        """The form of a profile: a new one, or one that there is."""
        name = requests.chosen(request.query_params, "name")
        profile = self._yard.profiles.get(name) if name else Profile("")
        names = [EVERY, *(each.server.name for each in self._yard.pictures())]
        data: TemplateData = {
            "profile": profile,
            "known": names,
            "patterns": [each for each in profile.servers if each not in names],
            "tools": pretty(profile.view().tools) if profile.tools else "",
        }
        return answer(request, "dialogs/profile.html", data)

    async def save(self, request: Request) -> Response:
        """Keep a profile as it was filled in."""
        form = await requests.form(request)
        try:
            body: dict[str, object] = {"servers": _servers(form), "tools": _tools(form["tools"])}
            if form["was"]:
                profile = await self._yard.profiles.replace(form["was"], body)
            else:
                profile = await self._yard.profiles.create(body | {"name": form["name"].strip()})
        except YardError as error:
            return refused(request, error)
        return done_notice(request, "profiles.saved", profile.name)

    async def ask(self, request: Request) -> Response:
        """Ask before a profile is taken away."""
        name = self._yard.profiles.get(request.query_params.get("name", "")).name
        data: TemplateData = {"what": "profile", "ref": name, "name": name}
        return answer(request, "dialogs/take_away.html", data)

    async def remove(self, request: Request) -> Response:
        """Take a profile away."""
        name = (await requests.form(request))["ref"]
        await self._yard.profiles.remove(name)
        return done_notice(request, "profiles.removed", name)


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
        await self._tokens.revoke(token)
        return done_notice(request, "tokens.revoked", "")


def done_notice(request: Request, key: str, name: str) -> Response:
    """That something was done, which closes the dialog."""
    return answer(request, "parts/said.html", {"key": key, "name": name}, headers=CHANGED)


def _servers(form: Form) -> list[str]:
    patterns = [*form.all("server"), *(each.strip() for each in form.all("pattern"))]
    return [*dict.fromkeys(each for each in patterns if each)]


def _tools(text: str) -> object:
    try:
        return orjson.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise ArgumentsRefused.of(Problem("tools", f"this is not JSON: {error}")) from None


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
