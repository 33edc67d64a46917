"""The screen of one server: tools to try, the log, the calls, the definition."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon, one
from tests.cli.commands import echo
from tests.web.browsing import Visitor, card

pytestmark = pytest.mark.real

SHAPES = Path(__file__).with_name("shapes_server.py")


def shapes() -> dict[str, object]:
    return {"command": sys.executable, "args": ["-I", "-S", str(SHAPES)], "transport": "stdio"}


def open_tool(page: Page, name: str) -> None:
    page.locator(f'.tool:has(summary code:text-is("{name}")) summary').first.click()
    expect(page.locator("form.try")).to_be_visible()


def test_a_tool_is_called_with_two_clicks_from_its_card(visitor: Visitor, yard: Daemon) -> None:
    yard.register("twice", echo(), start=True)
    page = visitor.visit(yard)
    card(page, "twice").get_by_role("link", name="twice").click()
    open_tool(page, "echo")
    page.get_by_label("text").fill("hello there")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .verdict")).to_contain_text("Done")
    expect(page.locator(".result .piece.text")).to_contain_text("hello there")
    expect(page.locator(".result .piece.data")).to_contain_text('"kept"')
    page.get_by_role("button", name="Send again").click()
    expect(page.locator(".sent li")).to_have_count(2)
    expect(page.locator("[name=arguments]")).to_have_value('{\n  "text": "hello there"\n}')
    page.goto(page.url + "?show=calls")
    expect(page.locator(".calls tbody tr")).to_have_count(2)
    expect(page.locator(".calls tbody")).to_contain_text("browser:")
    expect(page.locator('[data-chart="calls"] canvas')).to_be_visible()


@pytest.mark.parametrize("screen", ["/servers/{id}", "/tools"])
def test_running_a_tool_starts_no_server_that_somebody_stopped_but_offers_to(
    visitor: Visitor, yard: Daemon, screen: str
) -> None:
    yard.register("mine", echo(), start=True)
    yard.post(one("mine", "stop"))
    page = visitor.visit(yard, screen.format(id=yard.record("mine")["id"]))
    open_tool(page, "echo")
    page.get_by_label("text").fill("awake")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .notice")).to_contain_text("mine is stopped")
    assert yard.record("mine")["wanted"] == "stopped"
    page.locator(".result").get_by_role("button", name="Start").click()
    expect(page.locator(".result .notice.good")).to_contain_text("mine is connected")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .piece.text")).to_contain_text("awake")


def test_a_server_that_does_not_come_up_for_a_tool_says_why(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo(), start=True)
    yard.post(one("mine", "stop"))
    yard.patch(one("mine"), {"command": "nothing-of-that-name"})
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}")
    open_tool(page, "log")
    page.get_by_role("button", name="Run").click()
    page.locator(".result").get_by_role("button", name="Start").click()
    expect(page.locator(".result .notice.bad")).to_contain_text("mine could not be started")
    expect(page.locator(".result .notice.bad")).to_contain_text("Command not found")


def test_running_a_tool_wakes_a_server_that_is_wanted_on_demand(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(), start=True)
    yard.patch(one("mine"), {"wanted": "on_demand"})
    yard.until("mine", lambda record: record["wanted"] == "on_demand")
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}")
    open_tool(page, "echo")
    page.get_by_label("text").fill("awake")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .piece.text")).to_contain_text("awake")


def test_a_needed_field_that_is_empty_is_marked_and_nothing_is_sent(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("shapes", shapes(), start=True)
    page = visitor.visit(yard, f"/servers/{yard.record('shapes')['id']}")
    open_tool(page, "shape")
    form = page.locator("form.try")
    expect(form.locator(".form-side > .caption")).to_have_text("Arguments")
    expect(form.locator(".form-side > .node > legend")).to_have_count(0)
    page.get_by_role("button", name="Run").click()
    name = form.get_by_label("name")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_be_focused()
    expect(form.locator(".node:has([aria-invalid]) .problem").first).to_contain_text("Required")
    expect(page.locator(".sent li")).to_have_count(0)
    name.fill("box")
    expect(name).not_to_have_attribute("aria-invalid", "true")
    page.get_by_label("Raw JSON").check()
    page.locator("[name=arguments]").fill('{"name": ""}')
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".sent li")).to_have_count(1)


def test_arguments_that_break_the_schema_and_failing_tools_are_told(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(), start=True)
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}")
    open_tool(page, "echo")
    page.get_by_label("Raw JSON").check()
    page.locator("[name=arguments]").fill('{"text": 7}')
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .notice.bad")).to_contain_text("text")
    page.locator("[name=arguments]").fill("{not json")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .notice.bad")).to_contain_text("not JSON")
    page.goto(page.url)
    open_tool(page, "fail")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .verdict")).to_contain_text("returned an error")
    expect(page.locator(".result")).to_contain_text("it went wrong")


def test_the_form_of_a_schema_gives_the_json_that_was_meant(visitor: Visitor, yard: Daemon) -> None:
    yard.register("shapes", shapes(), start=True)
    page = visitor.visit(yard, f"/servers/{yard.record('shapes')['id']}")
    open_tool(page, "shape")
    form = page.locator("form.try")
    form.get_by_label("name").fill("box")
    form.get_by_label("count").fill("3")
    form.get_by_label("size").select_option(label="large")
    form.get_by_label("open").select_option("true")
    form.get_by_label("street").fill("Main")
    form.get_by_role("group", name="tags").get_by_role("button", name="Item").click()
    form.get_by_role("group", name="tags").locator("input").fill("red")
    form.get_by_role("group", name="paint").get_by_label("Type").select_option(label="Mixed")
    form.get_by_label("parts").fill("2")
    form.get_by_label("anything").fill('{"deep": [1]}')
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".result .piece.data")).to_contain_text('"sent"')
    sent = page.locator(".sent .line").first.text_content()
    page.get_by_label("Raw JSON").check()
    expected = {
        "name": "box",
        "count": 3,
        "size": "large",
        "open": True,
        "home": {"street": "Main"},
        "tags": ["red"],
        "paint": {"kind": "mixed", "parts": 2},
        "anything": {"deep": [1]},
        "limit": 10,
    }
    assert sent
    assert (
        page.evaluate("() => JSON.parse(document.querySelector('[name=arguments]').value)")
        == expected
    )


def test_images_and_resources_are_shown(visitor: Visitor, yard: Daemon) -> None:
    yard.register("shapes", shapes(), start=True)
    page = visitor.visit(yard, f"/servers/{yard.record('shapes')['id']}")
    open_tool(page, "picture")
    page.get_by_role("button", name="Run").click()
    image = page.locator(".piece.image img")
    expect(image).to_be_visible()
    expect(image).to_have_js_property("naturalWidth", 1)
    expect(page.locator(".piece.resource")).to_contain_text("file:///notes.md")
    expect(page.locator(".piece.resource")).to_contain_text("# Notes")
    expect(page.locator(".piece.link")).to_contain_text("https://example.invalid/")
    expect(page.locator(".piece.other")).to_contain_text("hologram")


def test_a_tool_that_is_switched_off_is_no_longer_offered(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo(), start=True)
    page = visitor.visit(yard, "/tools")
    page.locator("#search").fill("again")
    expect(page.locator(".tool")).to_have_count(1)
    with page.expect_response("**/switch"):
        page.get_by_role("switch", name="echo").uncheck()
    names = [each["name"] for each in yard.get("/api/mcp/tools")]
    assert "echo" not in names
    assert "log" in names


def test_the_log_is_followed_filtered_and_paused(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo(), start=True)
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}?show=log")
    expect(page.locator("#lines")).to_contain_text("is up")
    call = one("mine", "tools", "log", "call")
    yard.post(call, {"arguments": {"line": "first word"}})
    expect(page.locator("#lines")).to_contain_text("first word")
    page.locator("#search").fill("first")
    expect(page.locator("#lines .entry")).to_have_count(1)
    page.locator("#search").fill("")
    page.click("#pause")
    yard.post(call, {"arguments": {"line": "second word"}})
    with page.expect_download() as saved:
        page.click("#download")
    assert saved.value.suggested_filename == "mine.log"
    assert "first word" in Path(saved.value.path()).read_text()
    expect(page.locator("#lines")).not_to_contain_text("second word")
    page.click("#pause")
    expect(page.locator("#lines")).to_contain_text("second word")


def test_the_definition_hides_secrets_and_a_server_that_is_not_there_is_told(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(env={"API_KEY": "hush hush"}))
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}?show=definition")
    expect(page.locator(".block")).to_contain_text("API_KEY")
    assert "hush hush" not in page.content()
    page.goto("/servers/nobody")
    expect(page.locator("main")).to_contain_text('there is no server "nobody"')
    visitor.expect("404")
