"""The gateway stands behind the same door as everything else."""

import asyncio

import pytest

from mcpyard.api.app import build
from mcpyard.app import open_yard
from mcpyard.gateway.app import Gateway
from tests.api.asgi import client_of, keys_of

pytestmark = pytest.mark.real

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def test_nobody_asks_the_gateway_without_a_token_or_by_another_name() -> None:
    closing = asyncio.Event()
    async with open_yard(environment={}) as yard:
        gateway = Gateway(yard, closing)
        app = build(yard, keys=keys_of(yard), hosts=[], closing=closing, gateway=gateway)
        for headers, status in (({}, 401), ({"Host": "evil.example"}, 421)):
            async with client_of(app, headers) as outsider:
                for path in ("/mcp", "/mcp/work", "/mcp/servers/x"):
                    assert (await outsider.post(path, json=PING)).status_code == status
        closing.set()


async def test_answers_of_the_gateway_are_neither_guessed_at_nor_kept() -> None:
    closing = asyncio.Event()
    async with open_yard(environment={}) as yard:
        gateway = Gateway(yard, closing)
        app = build(yard, keys=keys_of(yard), hosts=[], closing=closing, gateway=gateway)
        async with client_of(app) as owner, client_of(app, {}) as outsider:
            for client in (owner, outsider):
                answer = await client.post("/mcp", json=PING)
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.headers["cache-control"] == "no-store"
                assert "content-security-policy" not in answer.headers
        closing.set()
