"""What every screen must be: readable for everybody, at any width, in any colours, and inert."""

import itertools
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mcpyard.web.server_screens.server import PARTS
from tests.api.daemon import Daemon, daemon
from tests.cli.commands import echo, missing
from tests.conftest import FULL
from tests.web.browsing import Visitor, card, status_badge

pytestmark = pytest.mark.real

AXE = Path(__file__).parents[1] / "node_modules" / "axe-core" / "axe.min.js"
# What is well need not be told in full, and telling it takes longer than finding it.
RUN_AXE = "async () => (await axe.run({resultTypes: ['violations']})).violations"
HOSTILE = Path(__file__).with_name("hostile_server.py")
LANGUAGES = {"en": "en", "zh-CN": "zh-Hans", "zh-TW": "zh-Hant"}
EVERY_LOOK = [*itertools.product(("light", "dark"), LANGUAGES)]
LOOKS = EVERY_LOOK if FULL else [EVERY_LOOK[0], EVERY_LOOK[-1]]
FIRST_PAGE = 150_000
NAME = "<script>alert(1)</script>\"'& " + "long" * 25


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard with a server in every state that the page knows, and calls in its journal."""
    folder = tmp_path_factory.mktemp("full")
    with daemon(folder / "home") as yard:
        texts = {"title": "Always there", "description": "It runs, and says so. " * 30}
        yard.register("running", echo(), start=True, **texts)
        yard.register("asleep", echo())
        yard.register("off", echo(), enabled=False)
        yard.register("broken", missing(folder), start=True)
        yard.register(NAME, hostile(), start=True)
        yard.until(NAME, lambda each: each["status"] == "connected")
        for tool in ("echo", "fail"):
            yard.post(f"/api/mcp/servers/running/tools/{tool}/call", {"arguments": {"text": "x"}})
        yield yard


def hostile() -> dict[str, object]:
    return {"command": sys.executable, "args": ["-I", "-S", str(HOSTILE)], "transport": "stdio"}


def screens(yard: Daemon) -> list[str]:
    """The address of every screen."""
    one = f"/servers/{yard.record('running')['id']}"
    parts = [f"{one}?show={each}" for each in PARTS]
    return ["/", "/tools", "/components", *parts]


def violations(page: Page) -> list[str]:
    """What axe finds wrong with a page."""
    if not page.evaluate("() => 'axe' in window"):
        # The page's own policy keeps scripts of others out, also those of a test.
        page.evaluate(AXE.read_text())
    results: list[dict[str, Any]] = page.evaluate(RUN_AXE)
    return [f"{each['id']}: {[node['html'][:160] for node in each['nodes']]}" for each in results]


@pytest.mark.parametrize(("theme", "locale"), LOOKS)
def test_no_screen_has_a_barrier_in_any_colours_and_language(
    visitor: Visitor, full: Daemon, theme: str, locale: str
) -> None:
    page = visitor.visit(full, color_scheme=theme, locale=locale)
    for path in screens(full):
        page.goto(path)
        page.wait_for_selector("main h1")
        assert violations(page) == [], path
    visitor.close()


@pytest.mark.parametrize(("locale", "language"), LANGUAGES.items())
def test_no_dialog_has_a_barrier_in_any_language(
    visitor: Visitor, full: Daemon, locale: str, language: str
) -> None:
    page = visitor.visit(full, locale=locale)
    expect(page.locator("html")).to_have_attribute("lang", language)
    assert violations(page) == []
    for opener in ("#add-server", "[data-act=edit] >> nth=0", "[data-act=delete] >> nth=0"):
        page.click(opener)
        expect(page.locator("#dialog")).to_be_visible()
        assert violations(page) == [], opener
        page.keyboard.press("Escape")
        expect(page.locator("#dialog")).to_be_hidden()
    visitor.close()


@pytest.mark.parametrize("width", [320, 768, 2560])
def test_no_screen_is_wider_than_the_window(visitor: Visitor, full: Daemon, width: int) -> None:
    page = visitor.visit(full, viewport={"width": width, "height": 800})
    for path in screens(full):
        page.goto(path)
        page.wait_for_selector("main h1")
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= width, path
    visitor.close()


def test_hostile_texts_are_shown_and_do_nothing(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full)
    page.on("dialog", lambda box: visitor.browser_errors.append(f"a script ran: {box.message}"))
    heading = page.locator(".card h2", has_text="<script>alert(1)</script>")
    expect(heading).to_be_visible()
    ref = full.record(NAME)["id"]
    page.goto(f"/servers/{ref}")
    expect(page.locator(".tool")).to_have_count(100)
    expect(page.locator(".tool code").first).to_contain_text("<img src=x onerror=alert(2)>")
    page.locator(".tool summary").first.click()
    expect(page.locator(".tool-body .about").first).to_contain_text("<b>bold</b>\ufffdflip")
    page.goto(f"/servers/{ref}?show=log")
    expect(page.locator("#lines")).to_contain_text("red <i>text</i>")
    expect(page.locator("#lines")).not_to_contain_text("[31m")
    assert page.locator("#lines i").count() == 0
    visitor.close()


def test_the_whole_first_page_weighs_little(browser: Browser, full: Daemon) -> None:
    page = Visitor(browser).visit(full)
    weights: dict[str, int] = {}
    page.on("response", lambda answer: _weigh(answer, weights))
    page.goto("/")
    page.wait_for_selector("#live[data-state=live]")
    page.context.close()
    assert sum(weights.values()) <= FIRST_PAGE, weights


def _weigh(answer: Any, weights: dict[str, int]) -> None:  # noqa: ANN401  the browser's own
    if "/ui/stream" not in answer.url:
        weights[answer.url] = len(answer.body())


def test_language_and_theme_can_be_switched_and_stay(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full)
    page.select_option("#language", "zh-Hant")
    expect(page.locator("#add-server")).to_have_text("新增服務")
    expect(status_badge(page, "asleep")).to_have_text("已停止")
    page.select_option("#theme", "dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/tools")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    visitor.close()


def test_a_moving_badge_is_quiet_where_motion_is_not_wanted(visitor: Visitor, full: Daemon) -> None:
    for motion, moves in (("no-preference", "turn"), ("reduce", "none")):
        page = visitor.visit(full, "/components", reduced_motion=motion)
        bulb = page.locator(".status-badge.busy .icon").first
        assert bulb.evaluate("each => getComputedStyle(each).animationName") == moves
    visitor.close()


def test_a_disabled_server_cannot_be_started(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full)
    expect(status_badge(page, "off")).to_have_text("Disabled")
    expect(card(page, "off").locator("[data-act=start]")).to_have_count(0)
    visitor.close()
