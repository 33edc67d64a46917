"""The routes that write the gateway into a program's own configuration, and take it out."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final
from urllib.parse import quote
from uuid import uuid4

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.bodies import ConnectBody, DisconnectBody
from mcpyard.api.clients import REST, project_of
from mcpyard.api.responses import answer
from mcpyard.api.security.keys import PREFIX, Keys, hashed, make_secret
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.stored import CallToken
from mcpyard.yard.clients.clients import EditTerms, words_of
from mcpyard.yard.clients.connecting import NAME, VARIABLE, Addressed, Bridged
from mcpyard.yard.views.clients import SecretView, change_view, connect_view
from mcpyard.yard.yard import YardCore

_UNMADE: Final = f"{PREFIX}..."


class ConnectRoutes:
    """Connects programs to one yard."""

    def __init__(self, yard: YardCore, keys: Keys) -> None:
        self._yard = yard
        self._keys = keys

    async def connect(self, request: Request) -> Response:
        """Write the gateway down; a token that was made for it is shown this once."""
        body = await requests.read(request, ConnectBody)
        words, dry = words_of(body.client, body.scope), body.dry_run
        profile = None if body.profile is UNSET else body.profile
        if profile is not None:
            self._yard.profiles.get(profile)
        terms = EditTerms(project_of(body.project), dry, who=REST, unverified=body.unverified)
        name = body.name or NAME
        if not body.http:
            done, _ = await self._yard.clients.connect(
                words, name, _bridged(body.command, profile), terms
            )
            return answer(connect_view(done, None))
        url, connect = f"{request.base_url}mcp{_part(profile)}", self._yard.clients.connect
        # What would be refused anyway is refused before there is a token for it.
        look = Addressed(url, _UNMADE)
        done, by_variable = await connect(words, name, look, replace(terms, dry_run=True))
        if dry:
            return answer(connect_view(done, _shown(_UNMADE) if by_variable else None))
        self._yard.clients.refuse_unverified(words, terms)
        secret = PREFIX + make_secret()
        async with self._kept(words, secret, profile):
            done, by_variable = await connect(words, name, Addressed(url, secret), terms)
        return answer(connect_view(done, _shown(secret) if by_variable else None))

    async def disconnect(self, request: Request) -> Response:
        """Take the gateway out of a program's configuration."""
        body = await requests.read(request, DisconnectBody)
        folder = project_of(body.project)
        terms = EditTerms(folder, body.dry_run, who=REST, unverified=body.unverified)
        words = words_of(body.client, body.scope)
        return answer(change_view(await self._yard.clients.disconnect(words, terms)))

    @asynccontextmanager
    async def _kept(self, words: str, secret: str, profile: str | None) -> AsyncGenerator[None]:
        """Keep a token before anybody has it; one that could not be handed over is worthless."""
        identity = uuid4()
        name = f"{self._yard.clients.client_id(words)} {identity.hex[:8]}"
        made = CallToken(identity, name, hashed(secret), profile, self._keys.clock.now())
        await self._keys.tokens.add(made)
        try:
            yield
        except Exception:
            await self._keys.tokens.revoke(identity, self._keys.clock.now())
            raise


def _bridged(command: list[str], profile: str | None) -> Bridged:
    if not command:
        raise ArgumentsRefused.of(Problem("command", "must be a list of strings"))
    return Bridged((*command, *(("--profile", profile) if profile else ())))


def _shown(secret: str) -> SecretView:
    return SecretView(variable=VARIABLE, value=secret)


def _part(profile: str | None) -> str:
    return f"/{quote(profile, safe='')}" if profile else ""
