"""Browsers: let in once by a link, reading by the cookie, changing with the key as well."""

import contextlib
import re
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from mcpyard.api.app import build
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.testing import ManualClock
from tests.api.asgi import TOKEN, YardApi, asked_yard, client_of
from tests.api.doors import Browser, every_door, let_in

pytestmark = pytest.mark.real

DAY = timedelta(days=1).total_seconds()


@contextlib.asynccontextmanager
async def timed_yard() -> AsyncGenerator[tuple[YardApi, ManualClock]]:
    """A yard whose keys go by a clock of the test's own."""
    async with asked_yard() as api:
        clock, storage = ManualClock(), api.yard.storage
        keys = Keys(AdminKey(TOKEN), storage.call_tokens, storage.sessions, clock)
        app = build(api.yard, keys=keys, hosts=[], closing=api.closing)
        async with client_of(app) as client:
            yield YardApi(api.yard, app, client, api.closing), clock


async def test_a_link_signs_one_browser_in_and_the_page_goes_on_by_itself() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        page = browser.page
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
        assert f'content="0; url=/#key={browser.key}"' in page.text
        assert "<script" not in page.text
        name, *attributes = page.headers["set-cookie"].split("; ")
        assert re.fullmatch(r"mcpyard_0=[\w-]{43}", name)
        assert {each.lower() for each in attributes} == {
            "httponly",
            "samesite=strict",
            "path=/",
            f"max-age={30 * 86400}",
        }
        assert browser.key not in name


async def test_the_cookie_carries_the_port_and_is_secure_over_tls() -> None:
    async with asked_yard() as api:
        for base, name, secure in (
            ("http://127.0.0.1:8712", "mcpyard_8712=", False),
            ("https://127.0.0.1:9000", "mcpyard_9000=", True),
        ):
            link = (await api.client.post(f"{base}/api/login-links")).json()["url"]
            assert link.startswith(f"{base}/login?link=")
            cookie = (await api.client.get(link)).headers["set-cookie"]
            assert cookie.startswith(name)
            assert ("; secure" in cookie.lower()) is secure


async def test_a_link_works_once_and_not_for_long() -> None:
    async with timed_yard() as (api, clock), client_of(api.app, {}) as browser:
        used = (await api.post("/api/login-links")).json()["url"]
        assert (await browser.get(used)).status_code == 200
        late = (await api.post("/api/login-links")).json()["url"]
        clock.advance(600)
        for link in (used, late, "/login", "/login?link=", "/login?link=x"):
            refused = await browser.get(link)
            assert refused.status_code == 403
            assert "set-cookie" not in refused.headers
            assert "mcpyard open" in refused.text


async def test_looking_at_a_link_does_not_use_it_up() -> None:
    async with asked_yard() as api, client_of(api.app, {}) as browser:
        link = (await api.post("/api/login-links")).json()["url"]
        assert (await browser.head(link)).status_code == 401
        assert (await browser.get(link)).status_code == 200


async def test_the_cookie_alone_reads_and_changes_nothing() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        assert (await browser.client.get("/api/mcp/servers")).status_code == 200
        assert "servers" in (await browser.client.get("/healthz")).json()
        for method, path in await every_door(api):
            if method not in {"GET", "HEAD"} or path == "/api/events":
                answer = await browser.client.request(method, path)
                assert answer.status_code == 403, (method, path)
        following = await browser.client.get("/api/mcp/servers/x/logs?follow=1")
        assert following.status_code == 403
        assert (await browser.client.get("/mcp")).status_code == 403
        assert (await browser.client.get("/api/mcp/servers/x/logs?follow=0")).status_code == 404


async def test_the_key_and_a_page_of_this_origin_change_things() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        made = await browser.client.post(
            "/api/tokens", json={"name": "t"}, headers=browser.headers()
        )
        assert made.status_code == 201


@pytest.mark.parametrize(
    "wrong",
    [
        {"X-Mcpyard-Key": "wrong"},
        {"X-Mcpyard-Key": ""},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "null"},
        {"Cookie": "mcpyard_0=wrong"},
        {"Cookie": ""},
    ],
    ids=str,
)
async def test_no_part_of_a_browsers_proof_may_be_missing(wrong: dict[str, str]) -> None:
    async with asked_yard() as api, let_in(api) as browser:
        headers = {**browser.headers(), **wrong}
        refused = await browser.client.post("/api/tokens", json={"name": "t"}, headers=headers)
        assert refused.status_code == (401 if "Cookie" in wrong else 403)


async def test_the_key_of_another_session_does_not_fit() -> None:
    async with asked_yard() as api, let_in(api) as one, let_in(api) as other:
        answer = await one.client.post("/api/tokens", json={"name": "t"}, headers=other.headers())
        assert answer.status_code == 403


async def test_no_answer_but_the_login_page_holds_the_key() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        for method, path in await every_door(api):
            if method == "GET" and path != "/api/events":
                answer = await browser.client.get(path)
                assert browser.key not in answer.text
                assert browser.key not in str(answer.headers)


async def test_a_foreign_page_with_the_cookie_sees_no_more_of_health_than_without_it() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        seen = await browser.client.get("/healthz", headers={"Origin": "http://127.0.0.1:3000"})
        assert seen.json() == {"ok": True}


async def test_a_session_ends_with_a_logout() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        out = await browser.client.post("/logout", headers=browser.headers())
        assert out.status_code == 204
        assert "Max-Age=0" in out.headers["set-cookie"]
        assert (await browser.client.get("/api/mcp/servers")).status_code == 401
        assert (await api.post("/logout")).status_code == 204


async def test_signing_in_anew_ends_the_browsers_earlier_session() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        link = (await api.post("/api/login-links")).json()["url"]
        assert (await browser.client.get(link)).status_code == 200
        assert (await browser.client.get("/api/mcp/servers")).status_code == 401


async def test_a_session_lasts_while_it_is_used_and_ends_after_thirty_idle_days() -> None:
    async with timed_yard() as (api, clock), let_in(api) as browser:
        for _ in range(3):
            clock.advance(29 * DAY)
            assert (await browser.client.get("/api/mcp/servers")).status_code == 200
        clock.advance(30 * DAY)
        assert (await browser.client.get("/api/mcp/servers")).status_code == 401


async def test_a_ticket_opens_one_stream() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        ticket = await take_ticket(browser)
        path = f"/api/events?ticket={ticket}"
        site = {"Sec-Fetch-Site": "same-origin"}
        api.closing.set()
        async with browser.client.stream("GET", path, headers=site) as stream:
            assert stream.status_code == 200
        assert (await browser.client.get(path, headers=site)).status_code == 403


async def test_a_ticket_is_good_for_its_own_browser_for_streams_and_in_time() -> None:
    async with timed_yard() as (api, clock), let_in(api) as one, let_in(api) as other:
        site = {"Sec-Fetch-Site": "same-origin"}
        ticket = await take_ticket(one)
        stolen = await other.client.get(f"/api/events?ticket={ticket}", headers=site)
        assert stolen.status_code == 403
        ticket = await take_ticket(one)
        changed = await one.client.post(f"/api/tokens?ticket={ticket}", headers=site)
        assert changed.status_code == 403
        clock.advance(30)
        late = await one.client.get(f"/api/events?ticket={ticket}", headers=site)
        assert late.status_code == 403
        async with client_of(api.app, {}) as unauthenticated:
            ticket = await take_ticket(one)
            alone = await unauthenticated.get(f"/api/events?ticket={ticket}", headers=site)
            assert alone.status_code == 401


async def test_old_tickets_make_room_for_new_ones() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        first = await take_ticket(browser)
        for _ in range(256):
            await take_ticket(browser)
        refused = await browser.client.get(
            f"/api/events?ticket={first}", headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert refused.status_code == 403


async def test_only_a_browser_is_given_tickets() -> None:
    async with asked_yard() as api:
        refused = await api.post("/api/tickets")
        assert (refused.status_code, refused.json()["type"]) == (
            409,
            "urn:mcpyard:error:no-browser",
        )


async def test_a_wrong_bearer_token_is_not_made_good_by_a_cookie() -> None:
    async with asked_yard() as api, let_in(api) as browser:
        wrong = {"Authorization": "Bearer wrong"}
        assert (await browser.client.get("/api/mcp/servers", headers=wrong)).status_code == 401


async def take_ticket(browser: Browser) -> str:
    made = await browser.client.post("/api/tickets", headers=browser.headers())
    assert made.status_code == 201
    assert made.json()["expiresIn"] == 30
    return made.json()["ticket"]
