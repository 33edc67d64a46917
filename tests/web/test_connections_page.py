"""The connections of the Clients screen: connected and disconnected, seen, profiles to pick."""

import tomllib
from collections.abc import Generator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.formats.provenance import Evidence
from mcpyard.web.badges import CONFIGURED, CONNECTED, NEVER_SEEN, NOT_CONNECTED
from mcpyard.web.client_screens.connections import connections
from mcpyard.web.templating import LANGUAGE_COOKIE
from mcpyard.yard.views.access import SeenClientView
from mcpyard.yard.views.clients import ScopeView
from tests.cli.commands import echo
from tests.web.browsing import Visitor
from tests.web.gateway_steps import initialize, lists_tools
from tests.web.machine import CODEX, Machine, Window, undo
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

NOW = datetime(2026, 7, 28, 12, tzinfo=UTC)
EVERY_LOOK = [("light", "en"), ("dark", "zh-Hans")]


@pytest.fixture(scope="module")
def shared(shared: Machine) -> Machine:
    """A machine whose yard has servers."""
    shared.yard.register("one", echo(), start=True)
    shared.yard.register("two", echo())
    shared.yard.until("one", lambda each: each["status"] == "connected")
    return shared


@pytest.fixture
def visitor(open_window: Window) -> Visitor:
    return open_window.visitor


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    for each in it.yard.get("/api/profiles"):
        it.yard.client.delete(f"/api/profiles/{each['name']}")
    yield from open_window.at("/clients?show=gateway")


def connection(page: Page, client: str) -> Locator:
    return page.locator("#clients li", has=page.locator(f"#connect-{client}"))


def admin_token(it: Machine) -> str:
    return (it.yard.up.home / "token").read_text().strip()


def test_a_client_is_connected_only_once_it_was_seen_and_can_be_disconnected(
    page: Page, it: Machine
) -> None:
    expect(page.locator("#gateway-address")).to_have_text(f"{it.yard.up.url}/mcp")
    badge = connection(page, "codex").locator(".status-badge")
    expect(badge).to_have_text("Not connected")
    page.locator("#connect-codex").click()
    expect(page.locator("#preview .diff")).to_contain_text("[mcp_servers.mcpyard]")
    assert it.read("codex") == CODEX
    page.locator("#apply").click()
    expect(badge).to_have_text("Not seen yet")
    entry = tomllib.loads(it.read("codex"))["mcp_servers"]["mcpyard"]
    assert "stdio" in entry["args"]
    assert str(it.yard.up.home) in entry["args"]

    session = initialize(it, admin_token(it), "codex-mcp-client").headers["mcp-session-id"]
    expect(badge).to_have_text("Connected")
    expect(connection(page, "codex")).to_contain_text("last seen")
    headers = {"Authorization": f"Bearer {admin_token(it)}", "Mcp-Session-Id": session}
    httpx2.delete(f"{it.yard.up.url}/mcp", headers=headers)

    page.locator("[id^=disconnect-codex]").click()
    expect(page.locator("#preview .diff")).to_contain_text("mcp_servers.mcpyard")
    assert violations(page) == []
    page.locator("#apply").click()
    expect(page.locator("[id^=disconnect-codex]")).to_have_count(0)
    assert it.read("codex") == CODEX
    undo(page, "no longer configured")
    expect(page.locator("[id^=disconnect-codex]")).to_have_count(1)


def test_connecting_is_undone(page: Page) -> None:
    page.locator("#connect-gemini").click()
    expect(page.locator("#preview .diff")).to_contain_text("mcpyard")
    page.locator("#apply").click()
    expect(page.locator("[id^=disconnect-gemini]")).to_have_count(1)
    undo(page, "gemini is connected")
    expect(page.locator("[id^=disconnect-gemini]")).to_have_count(0)


def test_a_client_that_no_file_names_is_listed_by_what_it_calls_itself(
    page: Page, it: Machine
) -> None:
    initialize(it, admin_token(it), "an agent of mine")
    others = page.locator("section", has=page.locator("#others-title"))
    expect(others).to_contain_text("an agent of mine")


def test_a_client_connected_by_address_gets_a_token_that_is_shown_once(
    page: Page, it: Machine
) -> None:
    page.locator("#connect-codex").click()
    page.get_by_label("HTTP").check()
    expect(page.locator("#preview .diff")).to_contain_text(f"{it.yard.up.url}/mcp")
    page.locator("#apply").click()
    secret_box = page.locator("#secret")
    expect(secret_box).to_contain_text("MCPYARD_CALL_TOKEN=mcpyard_")
    secret = secret_box.inner_text().partition("=")[2]
    assert secret not in it.read("codex")
    assert lists_tools(it, secret) == 200
    page.get_by_role("button", name="Close").last.click()
    expect(secret_box).to_have_count(0)
    assert secret not in page.content()


def test_servers_and_tools_of_a_profile_are_picked(page: Page, it: Machine) -> None:
    page.locator("#add-profile").click()
    page.get_by_label("Name", exact=True).fill("small set")
    expect(page.locator("#profile-picks input:checked")).to_have_count(0)
    page.get_by_placeholder("Filter servers").fill("on")
    expect(page.get_by_label("two", exact=True)).to_be_hidden()
    page.get_by_label("one", exact=True).check()
    page.get_by_label("7 tools: one").click()
    page.get_by_label("fail", exact=True).uncheck()
    page.get_by_role("button", name="Save").click()
    profiles = page.locator("section", has=page.locator("#profiles-title"))
    expect(profiles).to_contain_text(f"{it.yard.up.url}/mcp/small%20set")
    assert it.yard.get("/api/profiles/small%20set") == {
        "name": "small set",
        "servers": ["one"],
        "tools": {"one": {"fail": {"enabled": False}}},
    }
    profiles.get_by_role("button", name="Edit").click()
    page.get_by_text("More", exact=True).click()
    page.get_by_role("button", name="Pattern").click()
    page.locator("[name=pattern]").fill("docs-*")
    named = '{"one": {"echo": {"name": "repeat"}}}'
    page.get_by_label("Names and descriptions of tools (JSON)").fill(named)
    page.get_by_role("button", name="Save").click()
    expect(profiles).to_contain_text("one, docs-*")
    tools = {"one": {"echo": {"name": "repeat"}, "fail": {"enabled": False}}}
    assert it.yard.get("/api/profiles/small%20set")["tools"] == tools
    profiles.get_by_role("button", name="Edit").click()
    page.get_by_label("7 tools: one").click()
    page.get_by_label("fail", exact=True).check()
    page.get_by_label("All servers, including future ones").check()
    page.get_by_role("button", name="Save").click()
    expect(profiles).to_contain_text("*, docs-*")
    tools = {"one": {"echo": {"name": "repeat"}}}
    assert it.yard.get("/api/profiles/small%20set")["tools"] == tools
    profiles.get_by_role("button", name="Delete").click()
    page.locator("#apply").click()
    expect(profiles).to_contain_text("No profiles yet.")
    assert it.yard.get("/api/profiles") == []


def test_a_profile_that_cannot_be_is_told_in_its_dialog(visitor: Visitor, page: Page) -> None:
    page.locator("#add-profile").click()
    page.get_by_label("Name", exact=True).fill("servers")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#dialog .notice.bad")).to_contain_text("at least one server")
    page.get_by_label("one", exact=True).check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#dialog .notice.bad")).to_contain_text("reserved")
    expect(page.get_by_label("Name", exact=True)).to_have_value("servers")
    visitor.expect("422")


@pytest.mark.parametrize(("theme", "language"), EVERY_LOOK)
def test_connections_and_their_dialogs_have_no_barrier(
    page: Page, it: Machine, theme: str, language: str
) -> None:
    it.yard.post("/api/profiles", {"name": "work", "servers": ["one"]}, 201)
    page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": language, "url": page.url}])
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for width in (390, 768, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto("/clients?show=gateway")
        page.locator("#more-connections").evaluate("each => { each.open = true; }")
        assert violations(page) == [], width
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        page.locator("#edit-profile-1").click()
        page.locator("#profile-picks summary").first.click()
        expect(page.locator("#profile-picks [name=shown]").first).to_be_visible()
        assert violations(page) == [], width
        page.keyboard.press("Escape")


def seen(client: str, ago: timedelta, sessions: int = 0) -> SeenClientView:
    at = (NOW - ago).isoformat()
    return SeenClientView(
        name=client, version="", client=client, title=client, last_seen=at, sessions=sessions
    )


def test_what_a_file_says_is_no_connection() -> None:
    groups = [
        ScopeView(
            client=client,
            title=client,
            scope="user",
            path="/x",
            exists=True,
            servers=[],
            problems=[],
            evidence=Evidence.SOURCE,
            version="",
            verified=True,
        )
        for client in ("codex", "gemini", "zed")
    ]
    clients = [
        seen("codex", timedelta(hours=3), sessions=1),
        seen("gemini", timedelta(minutes=1)),
        seen("zed", timedelta(hours=3)),
    ]
    badges = {each.client: each.badge for each in connections(groups, SelfIdentity(), clients, NOW)}
    assert badges == {"codex": CONNECTED, "gemini": CONNECTED, "zed": NOT_CONNECTED}
    assert {CONFIGURED.word, NEVER_SEEN.word} == {"connect.configured", "connect.never"}
