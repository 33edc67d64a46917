"""The Activity screen: the journal of calls, newest first, narrowed, paged, live."""

from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.daemon import Daemon, daemon, one
from tests.cli.commands import echo
from tests.web.browsing import Visitor
from tests.web.machine import Window, window

pytestmark = pytest.mark.real

EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def shared(tmp_path: Path) -> Generator[Daemon]:
    """A yard of each test's own: the journal keeps what was called."""
    with daemon(tmp_path / "home") as yard:
        for name in ("left", EVIL):
            yard.register(name, echo(), start=True)
            yard.until(name, lambda each: each["status"] == "connected")
        for _ in range(55):
            call(yard, "left")
        call(yard, "left", "fail")
        call(yard, EVIL)
        yield yard


@pytest.fixture
def open_window(browser: Browser, shared: Daemon) -> Generator[Window]:
    with window(browser, shared) as opened:
        yield opened


@pytest.fixture
def visitor(open_window: Window) -> Visitor:
    return open_window.visitor


@pytest.fixture
def page(open_window: Window) -> Generator[Page]:
    yield from open_window.at("/activity")


def call(yard: Daemon, server: str, tool: str = "echo") -> None:
    yard.post(one(server, "tools", tool, "call"), {"arguments": {"text": "x"}})


def test_calls_stand_newest_first_and_go_on_page_by_page(visitor: Visitor, page: Page) -> None:
    page.on("dialog", lambda box: visitor.browser_errors.append(f"a script ran: {box.message}"))
    rows = page.locator("#calls-rows tr")
    expect(rows).to_have_count(50)
    expect(rows.nth(0)).to_contain_text(EVIL)
    expect(rows.nth(1)).to_contain_text("fail")
    expect(rows.nth(1).locator(".status-badge.bad")).to_contain_text("tool_error")
    page.get_by_role("button", name="Older calls").click()
    expect(rows).to_have_count(57)
    ids = [int((row.get_attribute("id") or "").removeprefix("call-")) for row in rows.all()]
    assert ids == sorted(ids, reverse=True)
    expect(page.get_by_role("button", name="Older calls")).to_have_count(0)


def test_filters_narrow_the_calls_by_server_tool_and_outcome(page: Page) -> None:
    rows = page.locator("#calls-rows tr")
    page.locator("#filter-server").select_option(label=EVIL)
    expect(rows).to_have_count(1)
    page.locator("#filter-server").select_option("")
    page.locator("#filter-outcome").select_option("tool_error")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("fail")
    page.locator("#filter-outcome").select_option("")
    page.locator("#search").fill("fail")
    expect(rows).to_have_count(1)
    page.locator("#search").fill("")
    expect(rows).to_have_count(50)
    page.locator("#search").fill("nothing of the kind")
    expect(page.locator("#calls")).to_contain_text("No matching calls.")


def test_a_call_shows_as_it_is_made_and_only_where_it_is_looked_for(
    visitor: Visitor, shared: Daemon, page: Page
) -> None:
    other = visitor.visit(shared, "/activity?outcome=tool_error")
    expect(other.locator("#calls-rows tr")).to_have_count(1)
    newest = page.locator("#calls-rows tr").first
    expect(newest).to_contain_text(EVIL)
    call(shared, "left")
    call(shared, "left", "fail")
    expect(newest).to_contain_text("fail")
    expect(page.locator("#calls-rows tr")).to_have_count(52)
    expect(other.locator("#calls-rows tr")).to_have_count(2)


def test_what_was_called_from_the_page_is_told_apart_from_other_callers(
    shared: Daemon, page: Page
) -> None:
    page.goto(f"/servers/{shared.record('left')['id']}")
    page.locator(".tool summary", has_text="echo").first.click()
    page.locator(".tool-body textarea, .tool-body [data-value]").first.fill("mine")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .verdict")).to_be_visible()
    page.goto("/activity")
    callers = page.locator("#filter-who option").all_inner_texts()
    assert len(callers) == 3
    (mine,) = {*callers} - {"any", "admin"}
    page.locator("#filter-who").select_option(mine)
    expect(page.locator("#calls-rows tr")).to_have_count(1)
    expect(page.locator("#calls-rows tr")).to_contain_text("echo")


def test_a_server_can_be_asked_for_by_its_name(shared: Daemon, page: Page) -> None:
    rows, chosen = page.locator("#calls-rows tr"), page.locator("#filter-server option:checked")
    for address in (f"/activity?server={quote(EVIL)}", f"/activity?sort=size&server={quote(EVIL)}"):
        page.goto(address)
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text(EVIL)
        expect(chosen).to_have_text(EVIL)
    page.locator("#filter-outcome").select_option("ok")
    expect(rows).to_have_count(1)
    call(shared, EVIL)
    page.goto(f"/activity?server={quote(EVIL)}")
    expect(rows).to_have_count(2)
    shared.register("never called", echo())
    page.goto("/activity?server=never called")
    expect(chosen).to_have_text("never called")
    expect(page.locator("#calls")).to_contain_text("No matching calls.")
    page.goto("/activity?server=nobody")
    expect(page.locator("#calls")).to_contain_text('there is no server "nobody"')


def test_the_end_in_an_address_stands_in_its_field_and_stays(page: Page) -> None:
    field, rows = page.locator("#filter-until"), page.locator("#calls-rows tr")
    noon = datetime(2000, 2, 3, 12, tzinfo=UTC).astimezone().replace(tzinfo=None)
    for until, value in (
        ("2000-02-03", "2000-02-03T00:00"),
        ("2000-02-03T04:05", "2000-02-03T04:05"),
        ("2000-02-03T04:05:06", "2000-02-03T04:05:06"),
        ("2000-02-03T12:00:00Z", noon.isoformat(timespec="minutes")),
    ):
        page.goto(f"/activity?until={until}")
        expect(field).to_have_value(value)
        expect(rows).to_have_count(0)
        page.locator("#filter-since").select_option("7d")
        page.wait_for_url("**since=7d**")
        expect(rows).to_have_count(0)
        assert page.locator("#filters").evaluate("each => each.checkValidity()")
    page.goto("/activity?until=3d")
    assert field.input_value()
    page.goto("/activity?until=nonsense")
    expect(field).to_have_value("")
    expect(page.locator("#calls")).to_contain_text("must be a time")
