"""The application in the test's own process, asked without a network."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
from starlette.types import ASGIApp

from mcpyard.api.app import build
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.app import WiredYard, open_yard
from mcpyard.runtime.clock import SystemClock

TOKEN = "the-" + "token"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True, slots=True)
class YardApi:
    """A yard and somebody who may ask it anything."""

    yard: WiredYard
    app: ASGIApp
    client: httpx2.AsyncClient
    closing: asyncio.Event

    async def get(self, path: str) -> httpx2.Response:
        return await self.client.get(path)

    async def post(self, path: str, body: object = None) -> httpx2.Response:
        return await self.client.post(path, json=body)


def client_of(app: ASGIApp, headers: Mapping[str, str] = BEARER) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    named = [(name.encode(), value.encode()) for name, value in headers.items()]
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=named)


def slug(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the type of a problem."""
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["type"].removeprefix("urn:mcpyard:error:")


def keys_of(yard: WiredYard) -> Keys:
    storage = yard.storage
    return Keys(AdminKey(TOKEN), storage.call_tokens, storage.sessions, SystemClock())


@asynccontextmanager
async def asked_yard(**servers: dict[str, object]) -> AsyncGenerator[YardApi]:
    """A yard of these servers, all of them settled, behind the application."""
    closing = asyncio.Event()
    definitions = {name: {"wanted": "running", **each} for name, each in servers.items()}
    async with open_yard(servers=definitions, environment={}) as yard:
        for name in servers:
            await yard.settled(name)
        app = build(yard, keys=keys_of(yard), hosts=["yard.example"], closing=closing)
        async with client_of(app) as client:
            yield YardApi(yard, app, client, closing)
        closing.set()
