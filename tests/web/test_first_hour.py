"""Somebody with servers in four programs opens an empty yard for the first time."""

import json
from collections.abc import Generator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from mcpyard.web.templating import LANGUAGE_COOKIE
from tests.api.daemon import SERVERS, one
from tests.cli.commands import echo
from tests.web.browsing import Visitor, card, status_badge
from tests.web.machine import CLAUDE, SAMPLES, Machine, Window, toast
from tests.web.test_looks import LANGUAGES, LOOKS, violations

pytestmark = pytest.mark.real

PHONE: ViewportSize = {"width": 360, "height": 700}
A_LINE_AND_A_HALF = 39
SEVERAL = '{"mcpServers": {"a": {"command": "a"}, "b": {"url": "https://b.example"}, "c": {}}}'
PLACES = {
    "files": "claude-code:user",
    "mine": "claude-code:user",
    "docs": "codex:user",
    "notes": "codex:user",
    "weather": "gemini:user",
    "time": "opencode:user",
}


@pytest.fixture(scope="module")
def it(shared: Machine) -> Machine:
    """An empty yard on a machine with four programs, one of which has a server that works."""
    config = json.loads(CLAUDE)
    config["mcpServers"]["mine"] = echo()
    shared.lay(claude=json.dumps(config))
    return shared


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    for each in it.yard.get(SERVERS):
        it.yard.client.delete(one(each["id"]))
    open_window.page.context.clear_cookies(name=LANGUAGE_COOKIE)
    open_window.page.set_viewport_size({"width": 1280, "height": 800})
    yield from open_window.at("/")


def test_from_the_files_of_four_programs_to_the_first_call_in_four_clicks(page: Page) -> None:
    expect(page.locator("#first-found .pick")).to_have_count(len(PLACES))
    for name, place in PLACES.items():
        pick = page.locator(f'#first-found .pick:has(strong:text-is("{name}"))')
        expect(pick).to_contain_text(f"in {place}")
    page.get_by_role("button", name="Import and start").click()
    expect(status_badge(page, "mine")).to_have_text("Connected")
    page.get_by_role("link", name="mine").click()
    page.locator('.tool:has(code:text-is("log")) summary').click()
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .verdict")).to_contain_text("Done")


def test_the_files_of_the_programs_stay_as_they_were(page: Page, it: Machine) -> None:
    page.get_by_role("button", name="Import and start").click()
    expect(page.locator("#cards .card")).to_have_count(len(PLACES))
    for client in ("codex", "gemini", "opencode"):
        assert it.read(client) == SAMPLES[client]


def test_a_server_that_is_switched_off_is_taken_in_so_and_not_called_refused(page: Page) -> None:
    page.get_by_role("button", name="Import and start").click()
    expect(toast(page, "Added:")).to_contain_text("notes")
    expect(status_badge(page, "notes")).to_have_text("Disabled")
    expect(card(page, "notes").locator("[data-act=start]")).to_have_count(0)
    expect(toast(page, "Not added")).to_have_count(0)


def test_a_server_that_is_switched_off_is_switched_on_from_its_card(
    page: Page, it: Machine
) -> None:
    it.yard.register("asleep", echo(), enabled=False)
    expect(status_badge(page, "asleep")).to_have_text("Disabled")
    card(page, "asleep").get_by_role("button", name="Enable").click()
    card(page, "asleep").get_by_role("button", name="Start").click()
    expect(status_badge(page, "asleep")).to_have_text("Connected")


@pytest.mark.parametrize(("theme", "locale"), LOOKS)
def test_no_way_to_begin_has_a_barrier(page: Page, theme: str, locale: str) -> None:
    language = LANGUAGES[locale]
    page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": language, "url": page.url}])
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.reload()
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("#first-found .pick")).to_have_count(len(PLACES))
    assert violations(page) == []
    page.click("#first-paste")
    page.fill("#f-text", SEVERAL)
    page.locator("#dialog form .strong").click()
    expect(page.locator("#pasted .pick")).to_have_count(2)
    assert violations(page) == []
    page.locator(".ways button").last.click()
    expect(page.locator("#found .pick")).to_have_count(len(PLACES))
    assert violations(page) == []


def test_on_a_phone_the_heading_stands_in_one_line(page: Page) -> None:
    # Chinese may be broken after any character, so it is squeezed first.
    page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": "zh-Hans", "url": page.url}])
    page.set_viewport_size(PHONE)
    page.reload()
    assert page.locator("h1").evaluate("each => each.offsetHeight") < A_LINE_AND_A_HALF


def test_on_a_phone_a_lost_key_is_told_in_words(visitor: Visitor, it: Machine) -> None:
    page = visitor.visit(it.yard, viewport=PHONE)
    page.evaluate("() => localStorage.clear()")
    page.reload()
    expect(page.locator("#live .word")).to_be_visible()
    expect(page.locator("#live")).to_contain_text("mcpyard open")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    visitor.close()
    visitor.expect("403")
