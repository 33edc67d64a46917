"""Call tokens that expire: refused from then on, with the reason."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from msgspec import structs

from mcpyard.api.app import build
from mcpyard.api.security.expiry import ExpiryTimers
from mcpyard.domain.stored import CallToken
from tests.api.asgi import YardApi, asked_yard, client_of, keys_of
from tests.api.test_tokens import holding

pytestmark = pytest.mark.real

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


class HandClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()


def timed(api: YardApi, clock: HandClock) -> YardApi:
    keys = structs.replace(keys_of(api.yard), clock=clock)
    app = build(api.yard, keys=keys, hosts=[], closing=api.closing)
    return YardApi(api.yard, app, client_of(app), api.closing)


async def test_a_token_is_refused_from_its_expiry_on_and_the_reason_is_given() -> None:
    async with asked_yard() as private:
        api = timed(private, clock := HandClock())
        made = await api.post("/api/tokens", {"name": "ci", "expires": "2026-11-02T12:00:00Z"})
        assert made.json()["expires"] == "2026-11-02T12:00:00.000+00:00"
        assert (await api.get("/api/tokens")).json()[0]["expires"] == made.json()["expires"]
        async with holding(api, made.json()["token"]) as client:
            clock.time += timedelta(hours=23, minutes=59)
            assert (await client.post("/mcp")).status_code == 404, "let in; there is no route yet"
            clock.time += timedelta(minutes=1)
            for path in ("/mcp", "/mcp/work", "/api/tokens"):
                refused = await client.post(path)
                assert refused.status_code == 401, path
                assert refused.json()["type"] == "urn:mcpyard:error:token-expired"
                assert refused.json()["detail"] == 'the token "ci" expired at 2026-11-02 12:00 UTC'
                assert "mcpyard token create" in refused.json()["hint"]
            assert (await client.get("/livez")).status_code == 200


async def test_without_an_expiry_a_token_lasts() -> None:
    async with asked_yard() as private:
        api = timed(private, clock := HandClock())
        made = (await api.post("/api/tokens", {"name": "ci", "expires": None})).json()
        assert made["expires"] is None
        clock.time += timedelta(days=3650)
        async with holding(api, made["token"]) as client:
            assert (await client.post("/mcp")).status_code == 404


@pytest.mark.parametrize(
    "expires", ["2026-11-01T11:59:59Z", "2026-11-02T12:00:00", "tomorrow", 30, "", True]
)
async def test_an_expiry_that_is_none_or_over_is_refused(expires: object) -> None:
    async with asked_yard() as private:
        api = timed(private, HandClock())
        refused = await api.post("/api/tokens", {"name": "ci", "expires": expires})
        assert refused.status_code == 422, refused.text
        (problem,) = refused.json()["problems"]
        assert problem["field"] == "expires"
        assert problem["message"] == "must be a future time with its zone: 2027-01-31T12:00:00Z"


async def test_the_name_of_an_expired_token_is_free_again() -> None:
    async with asked_yard() as private:
        api = timed(private, clock := HandClock())
        body = {"name": "ci", "expires": "2026-11-02T12:00:00Z"}
        await api.post("/api/tokens", body)
        assert (await api.post("/api/tokens", {"name": "ci"})).status_code == 409
        clock.time += timedelta(days=2)
        assert (await api.post("/api/tokens", {"name": "ci"})).status_code == 201
        first, second = api.yard.storage.call_tokens.all()
        assert first.revoked == clock.time
        assert second.revoked is None


async def test_the_expiry_of_a_revoked_token_ends_nothing_of_another_with_its_name() -> None:
    async with asked_yard() as api:
        keys, dismissed = keys_of(api.yard), asyncio.Queue[str]()
        keys.revocations.listen(dismissed.put_nowait)
        timers = ExpiryTimers(keys)
        now = keys.clock.now()
        for number, name in enumerate(("revoked", "valid"), 1):
            expires = now + timedelta(milliseconds=50 * number)
            token = CallToken(uuid4(), name, name, None, now, expires=expires)
            await keys.tokens.add(token)
            timers.watch(token)
            if name == "revoked":
                await keys.tokens.revoke(token.id, now)
        assert await asyncio.wait_for(dismissed.get(), 5) == "token:valid"


def test_a_token_expires_soon_in_its_last_week() -> None:
    token = CallToken(uuid4(), "t", "", None, START)
    assert not token.is_expired(START)
    assert not token.expires_soon(START)
    short = replace(token, expires=START + timedelta(days=30))
    assert not short.expires_soon(START)
    assert short.expires_soon(START + timedelta(days=24))
    assert short.expires_soon(START + timedelta(days=29))
    assert not short.expires_soon(START + timedelta(days=30))
    assert short.is_expired(START + timedelta(days=30))
