"""The routes of the stored secrets; no answer has a value."""

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api import requests
from mcpyard.api.bodies import SecretBody
from mcpyard.api.clients import REST
from mcpyard.api.responses import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.secrets import SecretBook, SecretChange


class SecretRoutes:
    """Sets and removes the secrets of one yard."""

    def __init__(self, secrets: SecretBook) -> None:
        self._secrets = secrets

    async def secrets(self, _request: Request) -> Response:
        """Every stored secret."""
        return answer(self._secrets.all())

    async def put(self, request: Request) -> Response:
        """Store a secret, or allow files of projects to use it."""
        body, name = await requests.read(request, SecretBody), requests.part(request, "secret")
        if body.value is UNSET:
            if not body.allow or body.dry_run:
                raise ArgumentsRefused.of(Problem("value", "is required"))
            return answer(await self._secrets.allow(name, body.allow, REST))
        change = SecretChange(name, body.value, body.store, body.allow, REST)
        if body.dry_run:
            return answer(self._secrets.preview(change))
        return answer(await self._secrets.change(change))

    async def remove(self, request: Request) -> Response:
        """Delete a secret."""
        change = SecretChange(requests.part(request, "secret"), who=REST)
        return answer(await self._secrets.change(change))


def secret_routes(secrets: SecretBook) -> list[Route]:
    """Every route of the secrets."""
    routes, one = SecretRoutes(secrets), "/api/secrets/{secret}"
    return [
        Route("/api/secrets", routes.secrets),
        Route(one, routes.put, methods=["PUT"]),
        Route(one, routes.remove, methods=["DELETE"]),
    ]
