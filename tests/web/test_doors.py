"""The page's addresses: all need a sign-in, and none changes anything by the cookie alone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from mcpyard.api.app import build
from mcpyard.api.tokens import TokenStore
from mcpyard.app import open_yard
from mcpyard.web import assets
from mcpyard.web.app import pages
from mcpyard.web.context import PageContext
from tests.api.asgi import YardApi, client_of, keys_of
from tests.api.doors import PROBES, every_door, let_in
from tests.cli.commands import echo

pytestmark = pytest.mark.real


@asynccontextmanager
async def asked_page(**servers: dict[str, object]) -> AsyncGenerator[YardApi]:
    """A yard with its page, asked without a network."""
    closing = asyncio.Event()
    async with open_yard(servers=servers, environment={}) as yard:
        for name in servers:
            await yard.settled(name)
        keys = keys_of(yard)
        routes = pages(yard, closing, PageContext("home", ("mcpyard", "stdio"), TokenStore(keys)))
        app = build(yard, keys=keys, hosts=[], closing=closing, pages=routes)
        async with client_of(app) as client:
            yield YardApi(yard, app, client, closing)
        closing.set()


async def test_no_address_of_the_page_but_its_files_is_open_to_the_unauthenticated() -> None:
    async with asked_page() as api, client_of(api.app, {}) as anonymous:
        own = [each for each in every_door(api) if not each[1].startswith(("/api", "/mcp"))]
        open_ones = {
            path
            for method, path in own
            if (await anonymous.request(method, path)).status_code not in {401, 403}
        }
        assert open_ones == {"/static/x/x", "/oauth/callback", *PROBES}


async def test_the_cookie_alone_changes_nothing_and_opens_no_stream() -> None:
    async with asked_page() as api, let_in(api) as browser:
        for method, path in every_door(api):
            if method not in {"GET", "HEAD"} or path == "/ui/stream":
                answer = await browser.client.request(method, path)
                assert answer.status_code == 403, (method, path)


async def test_a_browser_that_is_not_let_in_is_told_how_to_come_in() -> None:
    async with asked_page() as api, client_of(api.app, {"Accept": "text/html"}) as anonymous:
        answer = await anonymous.get("/")
        assert answer.status_code == 401
        assert "mcpyard open" in answer.text
        assert (await anonymous.post("/ui/servers")).json()["type"].endswith("unauthorized")


async def test_pages_carry_a_policy_that_lets_nothing_in_from_elsewhere() -> None:
    async with asked_page() as api:
        for path in ("/", "/tools", "/components", "/ui/servers/add", "/ui/news?view=servers"):
            policy = (await api.get(path)).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "script-src 'self';" in policy


async def test_files_are_kept_for_good_and_only_those_of_the_page_are_served() -> None:
    async with asked_page() as api:
        script = await api.get(assets.address("app.js"))
        assert "immutable" in script.headers["cache-control"]
        assert script.headers["content-type"].startswith("text/javascript")
        icon = await api.get(assets.address("icon.svg"))
        assert icon.headers["content-type"] == "image/svg+xml"
        assert f'<link rel="icon" href="{assets.address("icon.svg")}"' in (await api.get("/")).text
        old = await api.get("/static/old/app.js")
        assert old.headers["cache-control"] == "no-store"
        for name in ("../rendering.py", "%2e%2e/rendering.py", "vendor/.lock", "nothing.js"):
            assert (await api.get(f"/static/x/{name}")).status_code == 404


async def test_news_are_told_once_and_only_what_changed() -> None:
    async with asked_page(one=echo(wanted="stopped"), other=echo()) as api:
        first = await api.get("/ui/news?view=servers")
        assert first.text.count("<article") == 2
        tag = {"If-None-Match": first.headers["etag"]}
        assert (await api.client.get("/ui/news?view=servers", headers=tag)).status_code == 304
        await api.yard.start("one", wait=10)
        then = await api.client.get("/ui/news?view=servers", headers=tag)
        assert then.text.count("<article") == 1
        assert "Connected" in then.text
        ref = api.yard.record("other").id
        of_other = await api.client.get(f"/ui/news?view=server:{ref}", headers=tag)
        assert "<header" not in of_other.text


@pytest.mark.parametrize("tag", ["", '"x-1-1"', '"--"', '"x"', '"{}-x-1"', '"{}-1-٣"'])
async def test_a_tag_of_another_run_or_of_nothing_brings_everything(tag: str) -> None:
    async with asked_page(one=echo()) as api:
        headers = {b"If-None-Match": tag.format(api.yard.instance).encode()}
        answer = await api.client.get("/ui/news?view=servers", headers=headers)
        assert "#cards" in answer.text
