"""The Clients screen says what it knows: how the yard's servers are, and that others are on."""

import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.api.daemon import SERVERS, Daemon, one
from tests.cli.commands import echo, write_project
from tests.web.browsing import Visitor
from tests.web.machine import CLAUDE, Machine, Window, entry, toast
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

NARROW = 360


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    for each in it.yard.get(SERVERS):
        it.yard.client.delete(one(each["id"]))
    yield from open_window.at("/clients")


def claude_with_echo(it: Machine) -> None:
    config = json.loads(CLAUDE)
    config["mcpServers"]["mine"] = echo()
    it.lay(claude=json.dumps(config))


def copy_to_yard(page: Page, name: str) -> None:
    entry(page, "claude-code", name).get_by_role("button", name="Copy").click()
    page.get_by_label("To", exact=True).select_option("yard:user")
    expect(page.locator("#preview .diff")).to_contain_text(f'"{name}"')
    page.locator("#apply").click()
    expect(toast(page, f"{name} was copied")).to_be_visible()


def test_the_yards_own_servers_show_how_they_are_and_others_that_they_are_on(
    page: Page, it: Machine
) -> None:
    it.yard.register("good", echo(), start=True)
    it.yard.register("still", echo())
    it.yard.register("broken", {"command": "nothing-of-that-name", "args": []}, start=True)
    for name, word in (("good", "Connected"), ("still", "Stopped"), ("broken", "Failed")):
        expect(entry(page, "yard", name).locator(".status-badge")).to_have_text(word)
    other = entry(page, "gemini", "weather").locator(".status-badge")
    expect(other).to_have_text("Enabled")
    expect(other).to_have_class("status-badge used")
    entry(page, "yard", "broken").locator(".name").click()
    expect(page.locator("#dialog .status-badge")).to_have_text("Failed")
    page.goto("/clients?show=table")
    row = page.locator("tbody tr", has_text="broken")
    expect(row.locator(".source-cell .bad")).to_contain_text("Failed")


def test_it_says_that_it_speaks_for_no_folder(page: Page) -> None:
    expect(page.locator("#seen-from")).to_contain_text("No project open")
    page.goto("/clients?show=table")
    expect(page.locator("#seen-from")).to_contain_text("No project open")


def test_it_names_the_folder_that_it_speaks_for(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", mine=echo())
    page = visitor.visit(yards("--project", project), "/clients")
    expect(page.locator("#seen-from")).to_contain_text(f"Project folder: {project}")


def test_an_edit_is_listed_with_the_servers_it_was_about(page: Page, it: Machine) -> None:
    entry(page, "codex", "notes").get_by_role("switch").click()
    expect(toast(page, "notes was enabled")).to_be_visible()
    copy_to_yard(page, "files")
    page.goto("/clients?show=edits")
    rows = page.locator(".edits tbody tr")
    expect(rows.nth(0)).to_contain_text("copy")
    expect(rows.nth(0).locator(".which")).to_have_text("files")
    expect(rows.nth(0)).to_contain_text("stored by mcpyard")
    expect(rows.nth(1)).to_contain_text("toggle")
    expect(rows.nth(1).locator(".which")).to_have_text("notes")
    assert it.yard.get("/api/clients/edits")[1]["servers"] == ["notes"]


def test_an_undo_that_ends_a_running_server_is_asked_about_wherever_it_is_pressed(
    page: Page, it: Machine
) -> None:
    claude_with_echo(it)
    page.reload()
    copy_to_yard(page, "mine")
    it.yard.post(one("mine", "start"))
    toast(page, "mine was copied").get_by_role("button", name="Undo").click()
    warning = page.locator("#dialog .warning")
    expect(warning).to_contain_text("removes mine from mcpyard")
    expect(warning).to_contain_text("mine is running and will be stopped")
    assert violations(page) == []
    page.get_by_role("button", name="Cancel").click()
    assert it.yard.record("mine")["state"] == "running"
    page.goto("/clients?show=edits")
    page.locator(".edits tbody tr").first.get_by_role("button", name="Undo").click()
    expect(warning).to_contain_text("mine is running and will be stopped")
    page.locator("#apply").click()
    expect(toast(page, "Undone")).to_be_visible()
    assert it.yard.get(SERVERS) == []


def test_what_is_told_after_a_copy_names_the_field(page: Page) -> None:
    entry(page, "codex", "docs").get_by_role("button", name="Copy").click()
    page.get_by_label("To", exact=True).select_option("opencode:user")
    page.get_by_label("Basic").check()
    expect(page.locator("#preview .warned li[data-kind=unsupported]")).to_be_visible()
    page.locator("#apply").click()
    detail = toast(page, "docs was copied").locator(".detail", has_text="bearer_token_env_var: ")
    expect(detail).to_be_visible()


def test_on_a_phone_every_switch_stands_in_line_with_its_name(page: Page, it: Machine) -> None:
    it.yard.register("a-server-with-quite-a-long-name", echo())
    page.set_viewport_size({"width": NARROW, "height": 700})
    rows = page.locator(".entry")
    expect(entry(page, "yard", "a-server-with-quite-a-long-name")).to_be_visible()
    for row in rows.all():
        top = row.locator(".name").bounding_box()
        switch = row.get_by_role("switch").bounding_box()
        assert top
        assert switch
        assert switch["y"] < top["y"] + top["height"]
        assert switch["x"] + switch["width"] <= NARROW
    assert page.evaluate("() => document.documentElement.scrollWidth") <= NARROW


COUNT_REQUESTS = """() => {
  window.asked = 0;
  document.addEventListener("htmx:config:request", () => { window.asked += 1; });
}"""


def test_a_slow_preview_is_followed_by_that_of_what_was_chosen_last(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/ui/clients/copy/preview", hold, times=1)
    with page.expect_request("**/ui/clients/copy/preview"):
        entry(page, "codex", "docs").get_by_role("button", name="Copy").click()
    page.evaluate(COUNT_REQUESTS)
    page.get_by_label("To", exact=True).select_option("opencode:user")
    page.wait_for_function("() => window.asked === 1")
    held[0].continue_()
    expect(page.locator("#preview figcaption")).to_contain_text("opencode.json")
