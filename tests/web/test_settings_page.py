"""The Settings screen: the gateway, tokens, secrets, preferences, about."""

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from mcpyard.domain.stored import CallToken
from mcpyard.web.badges import EXPIRED, EXPIRES_SOON
from mcpyard.web.settings import expiring, past_tokens
from tests.cli.commands import echo
from tests.web.browsing import Visitor
from tests.web.gateway_steps import lists_tools
from tests.web.machine import Machine, Window, toast

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def shared(shared: Machine) -> Machine:
    """A machine whose yard has servers."""
    shared.yard.register("one", echo())
    shared.yard.register("two", echo())
    return shared


@pytest.fixture
def visitor(open_window: Window) -> Visitor:
    return open_window.visitor


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    del it
    yield from open_window.at("/settings")


def test_the_mcp_entry_opens_the_same_list_of_servers(page: Page) -> None:
    expect(page.locator("#mcp-entry")).to_contain_text("2 servers")
    page.locator("#mcp-entry").click()
    expect(page.locator("#cards .card")).to_have_count(2)
    expect(page.get_by_role("heading", name="MCP services")).to_be_visible()


def test_the_gateway_section_leads_to_the_connections(page: Page, it: Machine) -> None:
    expect(page.locator("#gateway-address")).to_have_text(f"{it.yard.up.url}/mcp")
    page.get_by_role("link", name="Connect clients").click()
    expect(page.locator("#connect-codex")).to_be_visible()


def test_a_token_opens_the_gateway_until_it_is_revoked(page: Page, it: Machine) -> None:
    page.locator("#add-token").click()
    page.get_by_label("Name").fill("laptop")
    page.locator("#dialog").get_by_role("button", name="Create token").click()
    secret = page.locator("#secret").inner_text()
    assert lists_tools(it, secret) == 200
    page.get_by_role("button", name="Close").last.click()
    row = page.locator("#settings li", has_text="laptop")
    expect(row.locator("button")).to_have_text("Revoke")
    expect(row).to_contain_text("created")
    row.get_by_role("button", name="Revoke").click()
    page.locator("#apply").click()
    expect(toast(page, "revoked")).to_be_visible()
    expect(row.get_by_role("button")).to_have_count(0)
    expect(row).to_be_hidden()
    page.locator("#past-tokens-summary").click()
    expect(row).to_contain_text("revoked")
    assert lists_tools(it, secret) == 401


def test_a_token_shows_when_it_expires_and_warns_before(page: Page) -> None:
    page.locator("#add-token").click()
    page.get_by_label("Name").fill("short")
    page.get_by_label("Expires after").select_option("7 days")
    page.locator("#dialog").get_by_role("button", name="Create token").click()
    page.get_by_role("button", name="Close").last.click()
    row = page.locator("#settings li", has_text="short")
    expect(row.locator("time")).to_have_count(2)
    expect(row.locator(".status-badge.wait")).to_have_text("expires soon")


def test_a_token_that_expired_is_marked() -> None:
    now = datetime(2026, 11, 1, tzinfo=UTC)
    tokens = [
        CallToken(uuid4(), name, "", None, now, expires=now + timedelta(days=days))
        for name, days in (("over", -1), ("soon", 3), ("later", 30))
    ]
    badges = expiring(tokens, now)
    assert [badges.get(str(each.id)) for each in tokens] == [EXPIRED, EXPIRES_SOON, None]


def test_of_the_tokens_that_were_revoked_only_the_last_few_are_shown() -> None:
    made = datetime(2026, 1, 1, tzinfo=UTC)
    tokens = [
        CallToken(uuid4(), f"t{day}", str(day), None, made, None, made + timedelta(days=day))
        for day in (3, 9, 1, 7, 5, 4, 8)
    ]
    active = CallToken(uuid4(), "living", "hash", None, made, None, None)
    assert [each.name for each in past_tokens([active, *tokens])] == ["t9", "t8", "t7", "t5", "t4"]


def test_a_text_is_put_on_the_clipboard(visitor: Visitor, it: Machine) -> None:
    permissions = ["clipboard-read", "clipboard-write"]
    page = visitor.visit(it.yard, "/settings", permissions=permissions)
    page.locator("[data-copy='#gateway-address']").click()
    expect(page.locator("[data-copy='#gateway-address']")).to_have_text("Copied")
    held = page.evaluate("() => navigator.clipboard.readText()")
    assert held == f"{it.yard.up.url}/mcp"


def test_language_theme_version_and_folders_are_there(page: Page, it: Machine) -> None:
    about = page.locator("section", has=page.locator("#about-title"))
    expect(about).to_contain_text(str(it.yard.up.home))
    about.get_by_text("uPlot").click()
    expect(about.locator("pre", has_text="MIT License")).to_be_visible()
    page.get_by_label("Language").last.select_option("zh-Hans")
    expect(page.get_by_role("heading", name="设置")).to_be_visible()
    page.locator("#own-theme").select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
