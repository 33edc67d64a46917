"""The routes of the tokens: call tokens are made, listed and revoked, the admin token renewed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID, uuid4

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.bodies import EXPIRY_FAULT, LONGEST_NAME, NAME_FAULT, TokenBody
from mcpyard.api.problems import refusal
from mcpyard.api.responses import answer, refuse
from mcpyard.api.security.authenticator import ADMIN
from mcpyard.api.security.keys import PREFIX, Keys, hashed, make_secret
from mcpyard.asgi_scope import Principal
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.stored import CallToken
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.views.access import NewTokenView, RevocationView, token_view

_FIXED: Final = "the admin token is fixed by MCPYARD_TOKEN; change it there"

_Text = TypeVar("_Text", str, str | None)


class TokenStore:
    """Where call tokens are made and revoked."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def all(self) -> Sequence[CallToken]:
        """Every call token there is or was."""
        return self._keys.tokens.all()

    async def create(
        self, name: str, profile: str | None, expires: datetime | None = None
    ) -> tuple[CallToken, str]:
        """Make a call token; with its secret, which nobody is told again."""
        now, secret = self._keys.clock.now(), PREFIX + make_secret()
        if expires is not None and expires <= now:
            raise ArgumentsRefused.of(Problem("expires", EXPIRY_FAULT))
        for each in self._keys.tokens.all():
            # Its name is of more use to the next one.
            if each.name == name and each.revoked is None and each.is_expired(now):
                await self.revoke(each.id)
        made = CallToken(uuid4(), name, hashed(secret), profile, now, expires=expires)
        await self._keys.tokens.add(made)
        return made, secret

    async def revoke(self, token: UUID) -> Sequence[str]:
        """Make a call token worthless, and end what its holder has open.

        Returns:
            The names of the nodes of a cluster that did not confirm it in time.
        """
        since = self._keys.clock.monotonic()
        revoked = await self._keys.tokens.revoke(token, self._keys.clock.now())
        if revoked is None:
            return ()
        return await self._keys.revoked(Principal.holding(revoked).name, since, token=token)


class TokenRoutes:
    """Answers from the keys of one yard."""

    def __init__(self, keys: Keys, profiles: ProfileBook) -> None:
        self._keys = keys
        self._profiles = profiles
        self._store = TokenStore(keys)

    async def tokens(self, _request: Request) -> Response:
        """Every call token there is or was, without its secret."""
        return answer([token_view(each) for each in self._keys.tokens.all()])

    async def create(self, request: Request) -> Response:
        """Make a call token; the only answer that ever holds its secret."""
        body = await requests.read(request, TokenBody)
        name, profile = _printable("name", body.name), _printable("profile", body.profile)
        if profile is not None:
            self._profiles.get(profile)
        made, secret = await self._store.create(name, profile, body.expires)
        return answer(NewTokenView(**msgspec.structs.asdict(token_view(made)), token=secret), 201)

    async def revoke(self, request: Request) -> Response:
        """Make a call token worthless, by its id or its name."""
        ref = requests.part(request, "token")
        token = self._find(ref)
        if token is None:
            return refuse(refusal("token-unknown", f'there is no token "{ref[:LONGEST_NAME]}"'))
        return revoked_answer(await self._store.revoke(token))

    async def rotate(self, _request: Request) -> Response:
        """Put a new admin token in place of the old one; the home's file has it."""
        unconfirmed = await self._keys.rotate_admin(ADMIN.name)
        if unconfirmed is None:
            return refuse(refusal("token-fixed", _FIXED))
        return revoked_answer(unconfirmed)

    def _find(self, ref: str) -> UUID | None:
        active = [each for each in self._keys.tokens.all() if each.revoked is None]
        return next((each.id for each in active if ref in {str(each.id), each.name}), None)


def revoked_answer(unconfirmed: Sequence[str]) -> Response:
    """That something was revoked, and on which nodes it may still work."""
    if not unconfirmed:
        return Response(status_code=204)
    return answer(RevocationView(unconfirmed=[*unconfirmed]), 202)


def _printable(field: str, value: _Text) -> _Text:
    if value is None or value.isprintable():
        return value
    raise ArgumentsRefused.of(Problem(field, NAME_FAULT))
