"""A call on the page: found, opened, copied, sent again with other arguments."""

import json
import sys
from collections.abc import Generator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.api.daemon import Daemon, daemon, one
from tests.web.browsing import Visitor
from tests.web.machine import Window, window
from tests.web.test_looks import LOOKS, violations

pytestmark = pytest.mark.real

SERVER = str(Path(__file__).with_name("shaped_calls_server.py"))
CITY = {"city": "Oslo", "days": 3, "units": "metric", "tags": ["wind", "rain"]}

SIGN_IN = {"user": "me", "password": "correct horse"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    with daemon(tmp_path_factory.mktemp("calls") / "home") as yard:
        command: dict[str, object] = {
            "command": sys.executable,
            "args": ["-I", "-S", SERVER],
            "transport": "stdio",
        }
        yard.register("shaped", command, transport="stdio", start=True)
        yard.until("shaped", lambda each: each["status"] == "connected")
        for number in range(3):
            call(yard, "weather", **CITY | {"days": number})
        call(yard, "wait", seconds=0.3)
        call(yard, "weather", **CITY)
        yield yard


@pytest.fixture(scope="module")
def open_window(browser: Browser, shared: Daemon) -> Generator[Window]:
    with window(browser, shared) as opened:
        yield opened


@pytest.fixture
def page(open_window: Window) -> Generator[Page]:
    yield from open_window.at("/activity")


def call(yard: Daemon, tool: str, **arguments: object) -> None:
    path = one("shaped", "tools", tool, "call")
    assert yard.client.post(path, json={"arguments": arguments}).status_code in {200, 502}


class Clicks:
    """Counts the clicks of a task."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, selector: str) -> None:
        self.page.locator(selector).click()
        self.count += 1


def newest(tool: str) -> str:
    return f'#calls-rows tr:has([data-call]):has-text("{tool}") >> nth=0 >> [data-call]'


@pytest.mark.spec("F6.1")
def test_a_tool_is_called_again_with_one_changed_argument_in_three_clicks(
    shared: Daemon, page: Page
) -> None:
    task = Clicks(page)
    task.click(newest("weather"))
    expect(page.locator("#call")).to_contain_text("Oslo")
    task.click("#edit-call")
    expect(page.locator("#resend [data-key=days] input")).to_have_value("3")
    expect(page.locator("#resend [data-key=units] select")).to_have_value('"metric"')
    page.locator("#resend [data-key=city] input").fill("Bergen")
    task.click("#resend .try .button.strong")
    expect(page.locator("#resend .result")).to_contain_text("Bergen")
    assert task.count <= 3
    (line,) = shared.get("/api/mcp/calls?limit=1")["calls"]
    sent = shared.get(f"/api/mcp/calls/{line['id']}")["arguments"]["text"]
    assert json.loads(sent) == CITY | {"city": "Bergen"}


@pytest.mark.spec("F6.1")
def test_the_slowest_call_of_the_last_hour_is_found_in_two_clicks(page: Page) -> None:
    page.goto("/")
    task = Clicks(page)
    task.click('nav.tabs a[href="/activity"]')
    task.click("#slowest")
    expect(page.locator("#calls-rows tr").first).to_contain_text("wait")
    assert task.count <= 2
    assert parse_qs(urlsplit(page.url).query) == {"since": ["1h"], "sort": ["duration"]}
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Duration")


def test_the_address_keeps_every_filter_and_the_order(page: Page) -> None:
    rows = page.locator("#calls-rows tr")
    page.locator("#search").fill("wai")
    expect(rows).to_have_count(1)
    page.locator("#filter-since").select_option("1h")
    page.locator("#filter-outcome").select_option("ok")
    page.get_by_role("link", name="Size").click()
    state = {"text": ["wai"], "since": ["1h"], "outcome": ["ok"], "sort": ["size"]}
    assert parse_qs(urlsplit(page.url).query) == state
    page.get_by_role("link", name="Size").click()
    assert parse_qs(urlsplit(page.url).query) == state | {"order": ["asc"]}
    page.reload()
    expect(page.locator("#search")).to_have_value("wai")
    expect(rows).to_have_count(1)
    page.goto("/activity?since=soon")
    expect(page.locator("#calls")).to_contain_text("since: must be a time")


def test_masked_values_are_asked_for_again(shared: Daemon, page: Page) -> None:
    call(shared, "sign_in", **SIGN_IN)
    page.goto("/activity?tool=sign_in")
    page.locator("[data-call]").first.click()
    expect(page.locator("#call")).to_contain_text("Secrets are masked.")
    assert "correct horse" not in page.content()
    page.locator("#edit-call").click()
    expect(page.locator("#resend [data-key=user] input")).to_have_value("me")
    page.locator("#resend .try .button.strong").click()
    expect(page.locator("#resend [data-key=password] input")).to_have_attribute(
        "aria-invalid", "true"
    )
    page.locator("#resend [data-key=password] input").fill("***")
    page.locator("#resend .try .button.strong").click()
    expect(page.locator("#resend .result")).to_be_empty()
    page.locator("#resend [data-key=password] input").fill("battery staple")
    page.locator("#resend .try .button.strong").click()
    expect(page.locator("#resend .result")).to_contain_text("battery staple")


def test_a_destructive_tool_is_called_again_only_after_a_question(
    shared: Daemon, page: Page
) -> None:
    call(shared, "wipe", path="/srv/x")
    questions: list[str] = []

    def answer(box: Dialog) -> None:
        questions.append(box.message)
        if len(questions) == 1:
            box.dismiss()
        else:
            box.accept()

    page.on("dialog", answer)
    page.goto("/activity?tool=wipe")
    page.locator("[data-call]").first.click()
    page.locator("#edit-call").click()
    page.locator("#resend .try .button.strong").click()
    expect(page.locator("#resend .result")).to_be_empty()
    page.locator("#resend .try .button.strong").click()
    expect(page.locator("#resend .result")).to_contain_text("wipe")
    assert questions == ["This tool is marked as destructive. Call it?"] * 2
    page.remove_listener("dialog", answer)


def test_arguments_that_no_field_shows_are_edited_as_json(shared: Daemon, page: Page) -> None:
    call(shared, "weather", city="Rome", anything={"nested": [1, 2]})
    page.goto("/activity?tool=weather")
    page.locator("[data-call]").first.click()
    page.locator("#edit-call").click()
    box = page.locator("#resend textarea[name=arguments]")
    expect(box).to_be_visible()
    assert json.loads(box.input_value()) == {"city": "Rome", "anything": {"nested": [1, 2]}}


def test_what_is_recorded_is_deleted_and_recording_is_switched_off_and_on(
    shared: Daemon, page: Page
) -> None:
    page.get_by_role("button", name="Delete recorded data").click()
    page.locator("#confirm-purge").click()
    expect(page.locator("#recording")).to_contain_text("recorded (0 calls")
    expect(page.locator("#dialog")).to_be_hidden()
    page.locator("[data-call]").first.click()
    expect(page.locator("#call")).to_contain_text("are not recorded")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop recording").click()
    expect(page.locator("#recording")).to_contain_text("Recording is switched off.")
    assert shared.get("/api/mcp/recording")["reason"] == "off"
    page.get_by_role("button", name="Record calls").click()
    expect(page.locator("#recording")).to_have_attribute("data-recording", "on")
    call(shared, "weather", **CITY)


@pytest.mark.parametrize(("theme", "locale"), LOOKS)
def test_the_screen_and_its_dialogs_have_no_barrier(
    visitor: Visitor, shared: Daemon, theme: str, locale: str
) -> None:
    page = visitor.visit(shared, "/activity", color_scheme=theme, locale=locale)
    assert violations(page) == []
    page.locator("[data-call]").first.click()
    expect(page.locator("#call")).to_be_visible()
    assert violations(page) == []
    page.locator("#edit-call").click()
    expect(page.locator("#resend")).to_be_visible()
    assert violations(page) == []
    visitor.close()


@pytest.mark.parametrize("width", [390, 768])
def test_no_dialog_is_wider_than_the_window(visitor: Visitor, shared: Daemon, width: int) -> None:
    page = visitor.visit(shared, "/activity", viewport={"width": width, "height": 800})
    page.locator("[data-call]").first.click()
    expect(page.locator("#call")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    visitor.close()
