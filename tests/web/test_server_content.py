"""Prompts, resources and log messages on the page of a server."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.daemon import Daemon, one
from tests.web.browsing import Visitor, card
from tests.web.test_looks import violations
from tests.web.test_running_calls import asking

pytestmark = pytest.mark.real

OUTSIDE = """() => [...document.querySelectorAll(".parts a, .sent li > *")]
    .filter(each => each.getBoundingClientRect().right > innerWidth)
    .map(each => each.textContent)"""
LINES_OF_ITS_TEXT = """each => {
    const range = document.createRange();
    range.selectNodeContents(each.firstChild);
    return range.getClientRects().length;
}"""


@pytest.fixture
def full(yard: Daemon) -> Daemon:
    """A yard whose server has all of it."""
    yard.register("asking", asking(), start=True)
    yard.until("asking", lambda record: record["status"] == "connected")
    return yard


def place(yard: Daemon, show: str) -> str:
    return f"/servers/{yard.record('asking')['id']}?show={show}"


@pytest.mark.spec("F6.3")
def test_a_resource_is_read_in_three_clicks(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full)
    clicks = [
        card(page, "asking").get_by_role("link", name="asking"),
        page.locator(".parts").get_by_role("link", name="Resources"),
        page.locator(".tool summary", has_text="notes"),
    ]
    for each in clicks:
        each.click()
    assert len(clicks) <= 3
    expect(page.locator(".markdown")).to_contain_text("The first version.")
    assert violations(page) == []


def test_a_long_resource_can_be_scrolled_with_the_keyboard(visitor: Visitor, full: Daemon) -> None:
    text = "A paragraph.\n\n" * 60
    full.post(one("asking", "tools", "change", "call"), {"arguments": {"text": text}})
    page = visitor.visit(full, place(full, "resources"))
    page.locator(".tool summary", has_text="notes").click()
    markdown = page.locator(".markdown")
    assert markdown.evaluate("each => each.scrollHeight > each.clientHeight")
    markdown.focus()
    expect(markdown).to_be_focused()
    assert violations(page) == []


@pytest.mark.parametrize("locale", ["en", "zh-TW"])
def test_a_phone_cuts_nothing_off_the_screen_of_a_server(
    visitor: Visitor, full: Daemon, locale: str
) -> None:
    env = {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}
    full.register("github", {**asking(), "env": env}, scope="user", start=True)
    window = {"width": 390, "height": 800}
    page = visitor.visit(full, place(full, "tools"), locale=locale, viewport=window)
    page.locator(".tool summary", has_text="show").click()
    page.get_by_label("text").fill("word " * 30)
    page.locator("form.try [data-run-button]").click()
    expect(page.locator(".sent li .button")).to_be_visible()
    assert page.evaluate(OUTSIDE) == []
    page.goto(place(full, "resources"))
    page.locator(".tool summary", has_text="notes").click()
    assert page.locator("figcaption").evaluate(LINES_OF_ITS_TEXT) == 1
    page.goto(f"/servers/{full.record('github')['id']}")
    message = page.locator(".trouble .message")
    expect(message).to_contain_text("GITHUB_TOKEN")
    assert (
        message.evaluate(
            "each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"
        )
        < 3
    )


@pytest.mark.spec("F6.3")
def test_a_resource_is_followed_and_downloaded(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full, place(full, "resources"))
    page.locator(".tool summary", has_text="notes").click()
    follow = page.get_by_role("button", name="Follow changes")
    follow.click()
    expect(follow).to_have_attribute("aria-pressed", "true")
    full.post(one("asking", "tools", "change", "call"), {"arguments": {"text": "another one"}})
    expect(page.locator(".resource-read .piece")).to_contain_text("another one")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Download").click()
    assert saved.value.suggested_filename.startswith("resource")
    assert Path(saved.value.path()).read_text() == "another one"


@pytest.mark.spec("F6.3")
@pytest.mark.parametrize("locale", ["en", "zh-CN"])
def test_a_template_and_a_prompt_are_filled_in_with_completion(
    visitor: Visitor, full: Daemon, locale: str
) -> None:
    page = visitor.visit(full, place(full, "resources"), locale=locale)
    page.locator(".tool summary", has_text="city").click()
    page.get_by_label("name").fill("New York")
    page.get_by_label("year").fill("1990")
    page.locator(".fill .button").click()
    expect(page.locator(".resource-read .piece")).to_contain_text(
        "about test://city/New%20York?year=1990"
    )
    page.goto(place(full, "prompts"))
    page.locator(".tool summary", has_text="greet").click()
    city = page.get_by_label("city")
    city.press_sequentially("os")
    expect(page.locator("datalist option")).to_have_count(2)
    assert [each.get_attribute("value") for each in page.locator("datalist option").all()] == [
        "Oslo",
        "Osaka",
    ]
    city.fill("Oslo")
    page.locator(".fill .button").first.click()
    expect(page.locator(".prompt-message .markdown")).to_contain_text("Greet Oslo warmly.")
    assert violations(page) == []


@pytest.mark.spec("F6.3")
def test_log_messages_stand_in_the_log_with_their_level(visitor: Visitor, full: Daemon) -> None:
    page = visitor.visit(full, place(full, "log"))
    full.post(one("asking", "tools", "log", "call"), {"arguments": {"text": "said"}})
    expect(page.locator("#lines .entry")).to_have_count(2)
    expect(page.locator("#lines .level").last).to_have_text("error db")
    page.locator("#log-level").select_option("warning")
    expect(page.locator("#lines .entry")).to_have_count(1)
    page.get_by_label("Source").select_option("stderr")
    expect(page.locator("#lines .entry")).to_have_count(0)
    page.get_by_label("Source").select_option("mcp")
    page.locator("#search").fill("nothing like it")
    expect(page.locator("#lines .entry")).to_have_count(0)
    with page.expect_response("**/log-level"):
        page.get_by_label("Level that the server is asked for").select_option("info")
    assert full.get(one("asking", "log-level")) == {"level": "info"}
    assert violations(page) == []


def test_a_server_that_is_not_connected_says_so_in_place_of_its_prompts(
    visitor: Visitor, full: Daemon
) -> None:
    full.post(one("asking", "stop"))
    page = visitor.visit(full, place(full, "prompts"))
    expect(page.locator("main .notice.bad")).to_contain_text("not connected")
