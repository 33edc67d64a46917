"""A yard that no longer answers: no badge claims what nobody knows, and no click goes unheard."""

import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.api.daemon import Daemon, daemon
from tests.cli.commands import echo
from tests.web.browsing import Visitor, card, status_badge
from tests.web.machine import toast
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

LIVE = "#live[data-state=live]"
PHONE: ViewportSize = {"width": 360, "height": 700}
SILENCE = ("ERR_", "htmx:sse:error", "htmx:error")


def colour(page: Page, selector: str) -> str:
    return page.locator(selector).evaluate("each => getComputedStyle(each).color")


def test_badges_and_counters_of_a_killed_yard_go_out_and_come_back_by_themselves(
    visitor: Visitor, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with daemon(home) as yard:
        yard.register("mine", echo(), start=True)
        port = yard.up.url.rsplit(":", 1)[1]
        page = visitor.visit(yard)
        page.wait_for_selector(LIVE)
        expect(status_badge(page, "mine")).to_have_text("Connected")
        lit = colour(page, "#tile-good strong")
        yard.up.end(signal.SIGKILL)
    expect(status_badge(page, "mine")).to_have_text("Unknown")
    expect(page.locator("#lost")).to_contain_text("does not respond")
    assert colour(page, "#tile-good strong") == colour(page, "#tile-good span") != lit
    card(page, "mine").get_by_role("button", name="Stop").click()
    expect(toast(page, "did not respond")).to_be_visible()
    assert violations(page) == []
    with daemon(home, "--port", port):
        expect(status_badge(page, "mine")).to_have_text("Connected")
        expect(page.locator("#lost")).to_be_hidden()
        expect(toast(page, "did not respond")).to_have_count(0)
        assert colour(page, "#tile-good strong") == lit
        visitor.close()
    visitor.forgive(*SILENCE)


def test_on_a_phone_it_is_said_in_words_and_in_the_readers_language(
    visitor: Visitor, tmp_path: Path
) -> None:
    with daemon(tmp_path / "home") as yard:
        yard.register("mine", echo())
        page = visitor.visit(yard, locale="zh-CN", viewport=PHONE)
        page.wait_for_selector(LIVE)
        page.click("#add-server")
        expect(page.locator("#dialog .ways")).to_be_visible()
        yard.up.end(signal.SIGKILL)
    expect(status_badge(page, "mine")).to_have_text("未知")
    expect(page.locator("#lost")).to_contain_text("没有响应")
    expect(page.locator("#lost")).to_be_in_viewport()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    page.locator("#dialog .ways button").last.click()
    expect(page.locator("#dialog .notice")).to_contain_text("没有响应")
    visitor.close()
    visitor.forgive(*SILENCE)


def test_a_page_that_was_cut_off_from_the_same_yard_shows_again_what_it_knew(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard, "/tools")
    page.goto("/")
    page.context.route("**/ui/*", lambda route: route.abort())
    page.reload()
    expect(status_badge(page, "mine")).to_have_text("Unknown")
    page.context.unroute("**/ui/*")
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    expect(status_badge(page, "mine")).to_have_class("status-badge idle")
    visitor.close()
    visitor.forgive(*SILENCE)


def test_a_stream_alone_that_is_cut_turns_no_badge_off(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    page.context.route("**/ui/stream*", lambda route: route.abort())
    page.clock.install()
    page.reload()
    expect(page.locator("#live")).to_have_attribute("data-state", "poll")
    with page.expect_response("**/ui/news*"):
        page.clock.run_for(4_000)
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    expect(page.locator("#lost")).to_be_hidden()
    visitor.close()
    visitor.forgive(*SILENCE)


def test_whatever_the_yard_fails_at_is_told(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    page.context.route("**/start*", lambda route: route.fulfill(status=500), times=1)
    card(page, "mine").get_by_role("button", name="Start").click()
    expect(toast(page, "The request failed (HTTP 500)")).to_be_visible()
    body = '<div class="notice bad"><p>it is on fire</p></div>'
    headers = {"HX-Retarget": "#notices", "Content-Type": "text/html"}
    page.context.route(
        "**/start*", lambda route: route.fulfill(status=502, body=body, headers=headers), times=1
    )
    card(page, "mine").get_by_role("button", name="Start").click()
    expect(toast(page, "it is on fire")).to_have_count(1)
    expect(toast(page, "HTTP 500")).to_have_count(0)
    visitor.expect("500", "502")


def test_every_screen_knows_that_the_yard_is_gone(visitor: Visitor, tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as yard:
        pages = [visitor.visit(yard, path) for path in ("/tools", "/clients", "/settings")]
        for page in pages:
            page.wait_for_selector(LIVE)
        yard.up.end(signal.SIGKILL)
    for page in pages:
        expect(page.locator("#lost")).to_be_visible()
    expect(pages[2].locator(".status-badge:not(.unknown)")).to_have_count(0)
    visitor.close()
    visitor.forgive(*SILENCE)
