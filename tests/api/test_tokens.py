"""Call tokens: shown once, good for the gateway alone, worthless when revoked."""

import hashlib
from uuid import UUID

import httpx2
import pytest

from mcpyard.api.app import build
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.runtime.clock import SystemClock
from tests.api.asgi import YardApi, asked_yard, client_of
from tests.api.doors import PROBES, every_door

pytestmark = pytest.mark.real


async def make(api: YardApi, name: str = "laptop", profile: str | None = None) -> dict[str, str]:
    made = await api.post("/api/tokens", {"name": name, "profile": profile})
    assert made.status_code == 201, made.text
    return made.json()


def holding(api: YardApi, token: str) -> httpx2.AsyncClient:
    return client_of(api.app, {"Authorization": f"Bearer {token}"})


async def test_a_token_is_shown_once_and_only_its_hash_is_kept() -> None:
    async with asked_yard() as api:
        made = await make(api)
        assert made["token"].startswith("mcpyard_")
        listed = (await api.get("/api/tokens")).json()
        assert listed == [{key: value for key, value in made.items() if key != "token"}]
        assert listed[0]["lastUsed"] is None
        (stored,) = api.yard.storage.call_tokens.all()
        assert stored.hash == hashlib.sha256(made["token"].encode()).hexdigest()


async def test_a_call_token_opens_the_gateway_and_nothing_else() -> None:
    async with asked_yard() as api:
        made = await make(api)
        async with holding(api, made["token"]) as client:
            for path in ("/mcp", "/mcp/work", "/mcp/servers/x"):
                assert (await client.post(path)).status_code == 404, "let in; there is no route yet"
            for method, path in await every_door(api):
                answer = await client.request(method, path)
                if path in PROBES:
                    assert method == "HEAD" or answer.json() == (
                        {"ok": True, "status": "ready"} if path == "/readyz" else {"ok": True}
                    )
                elif path not in {"/login", "/oauth/callback"}:
                    assert answer.status_code == 403, (method, path)
            for path in ("/mcpx", "/mcp%2F..%2Fapi", "/MCP", "//mcp", "/", "/api/mcp/servers"):
                assert (await client.get(path)).status_code == 403, path
        assert (await api.get("/api/tokens")).json()[0]["lastUsed"]


async def test_a_token_of_a_profile_opens_that_profile_alone() -> None:
    async with asked_yard() as api:
        await api.post("/api/profiles", {"name": "my work"})
        made = await make(api, profile="my work")
        async with holding(api, made["token"]) as client:
            for path in ("/mcp/my%20work", "/mcp/my%20work/more"):
                assert (await client.post(path)).status_code == 404, path
            for path in ("/mcp", "/mcp/", "/mcp/other", "/mcp/my%20workshop", "/api/my%20work"):
                assert (await client.post(path)).status_code == 403, path


@pytest.mark.parametrize("by", ["id", "name"])
async def test_a_revoked_token_is_worthless_and_its_name_free(by: str) -> None:
    async with asked_yard() as api:
        made = await make(api)
        gone = await api.client.delete(f"/api/tokens/{made[by]}")
        assert gone.status_code == 204
        async with holding(api, made["token"]) as client:
            assert (await client.post("/mcp")).status_code == 401
        again = await api.client.delete(f"/api/tokens/{made[by]}")
        assert (again.status_code, again.json()["type"]) == (404, "urn:mcpyard:error:token-unknown")
        assert (await api.get("/api/tokens")).json()[0]["revoked"]
        await make(api)


async def test_a_name_that_is_in_use_or_no_name_is_refused() -> None:
    async with asked_yard() as api:
        made = await make(api)
        assert UUID(made["id"])
        assert (await api.post("/api/tokens", {"name": "laptop"})).status_code == 409
        for body in ({}, {"name": ""}, {"name": 5}, {"name": "x" * 81}, {"name": "a\nb"}):
            assert (await api.post("/api/tokens", body)).status_code == 422
        assert (await api.post("/api/tokens", {"name": "n", "profile": ""})).status_code == 422


async def test_a_token_of_a_profile_that_is_not_there_is_not_made() -> None:
    async with asked_yard() as api:
        refused = await api.post("/api/tokens", {"name": "n", "profile": "none such"})
        assert (refused.status_code, refused.json()["type"][-15:]) == (404, "profile-unknown")
        assert (await api.get("/api/tokens")).json() == []


async def test_the_admin_token_is_renewed_and_the_old_one_is_worthless() -> None:
    async with asked_yard() as api:
        storage = api.yard.storage
        admin = AdminKey("old-one", lambda: "new-one")
        keys = Keys(admin, storage.call_tokens, storage.sessions, SystemClock())
        app = build(api.yard, keys=keys, hosts=[], closing=api.closing)
        async with (
            client_of(app, {"Authorization": "Bearer old-one"}) as old,
            client_of(app, {"Authorization": "Bearer new-one"}) as new,
        ):
            assert (await new.get("/api/tokens")).status_code == 401
            rotated = await old.post("/api/tokens/rotate")
            assert (rotated.status_code, rotated.text) == (204, "")
            assert (await old.get("/api/tokens")).status_code == 401
            assert (await new.get("/api/tokens")).status_code == 200


def test_an_admin_token_that_is_empty_fits_nothing() -> None:
    assert not AdminKey("").fits(b"")
    assert AdminKey("some").fits(b"some")


async def test_an_admin_token_that_is_fixed_from_outside_stays() -> None:
    async with asked_yard() as api:
        refused = await api.post("/api/tokens/rotate")
        assert (refused.status_code, refused.json()["type"]) == (
            409,
            "urn:mcpyard:error:token-fixed",
        )
        assert (await api.get("/api/tokens")).status_code == 200
