"""The screens of clients, calls and settings: for everybody, in any colours and language."""

from collections.abc import Generator
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from mcpyard.web.templating import LANGUAGE_COOKIE
from tests.cli.commands import echo
from tests.web.machine import Machine, Window, entry
from tests.web.test_looks import LANGUAGES, violations

pytestmark = pytest.mark.real

SCREENS = ("/clients", "/activity", "/settings")
CLIENT_PARTS = (
    "/clients?show=table",
    "/clients?show=gateway",
    "/clients?show=checks",
    "/clients?show=edits",
)

DIALOGS = {
    "/clients?show=gateway": ("#connect-codex", "[id^=disconnect-]", "#add-profile"),
    "/settings": ("#add-token", "[id^=revoke-]"),
}


@pytest.fixture(scope="module")
def shared(shared: Machine) -> Machine:
    """A machine with something to show on every screen."""
    shared.lay(gemini='{"mcpServers": {', copilot='{"mcpServers": {"files": {"command": "x"}}}')
    yard = shared.yard
    yard.register("one", echo(), start=True)
    for tool in ("echo", "fail"):
        yard.post(f"/api/mcp/servers/one/tools/{tool}/call", {"arguments": {"text": "x"}})
    yard.post("/api/profiles", {"name": "small", "servers": ["one"]}, 201)
    yard.post("/api/tokens", {"name": "laptop", "profile": "small"}, 201)
    yard.post("/api/clients/connect", {"client": "opencode"})
    return shared


@pytest.fixture
def page(open_window: Window) -> Generator[Page]:
    open_window.page.context.clear_cookies(name=LANGUAGE_COOKIE)
    yield from open_window.at("/clients")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES.values())
def test_no_screen_has_a_barrier(
    page: Page, theme: Literal["light", "dark"], language: str
) -> None:
    page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": language, "url": page.url}])
    page.emulate_media(color_scheme=theme)
    for path in (*SCREENS, *(CLIENT_PARTS if language == "en" else ())):
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("lang", language)
        unfold(page)
        assert violations(page) == [], path


def test_no_dialog_has_a_barrier(page: Page) -> None:
    row = entry(page, "claude-code", "files")
    row.locator(".name").click()
    looks_well(page, ".said")
    for button in ("Edit", "Copy", "Delete"):
        row.get_by_role("button", name=button).click()
        looks_well(page, "#preview > :not(input)")
    for path, openers in DIALOGS.items():
        page.goto(path)
        for opener in openers:
            page.locator(opener).first.click()
            looks_well(page, "#dialog-title")


@pytest.mark.parametrize("width", [320, 2560])
def test_no_screen_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in (*SCREENS, *CLIENT_PARTS):
        page.goto(path)
        unfold(page)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path


def unfold(page: Page) -> None:
    """Open whatever can be unfolded, since what is hidden is not looked at."""
    for each in page.locator("#absent, .settings-page details").all():
        each.evaluate("each => { each.open = true; }")


def looks_well(page: Page, content: str) -> None:
    """The dialog that is open has no barrier; then it is closed."""
    expect(page.locator(f"#dialog {content}").first).to_be_visible()
    assert violations(page) == [], content
    page.keyboard.press("Escape")
    expect(page.locator("#dialog")).to_be_hidden()


def test_a_phone_shows_every_tab_and_tables_as_cards(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for path in ("/activity", "/clients?show=edits"):
        page.goto(path)
        for tab in page.locator(".tabs a").all():
            box = tab.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
        cell = page.locator(".calls tbody td[data-label]").first
        expect(cell).to_be_visible()
        assert cell.evaluate("each => getComputedStyle(each, '::before').content") != "none"
        table = page.locator(".calls").first
        assert table.evaluate("each => each.scrollWidth <= each.parentElement.clientWidth")
        assert violations(page) == [], path
