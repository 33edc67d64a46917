"""Many servers: as a list or as cards, in sections, sorted, searched, several at once."""

import json
from collections.abc import Generator
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from mcpyard.web.server_screens.listing import GROUPS, SORTS, ListChoice, ListedServer, sections_of
from tests.api.daemon import SERVERS, Daemon, daemon, one
from tests.cli.commands import echo, missing
from tests.web.browsing import Visitor, card, status_badge
from tests.web.machine import undo
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

LIVE = "#live[data-state=live]"
COUNT = 230


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard with more servers than two pages hold; nobody changes it."""
    with daemon(tmp_path_factory.mktemp("many") / "home") as up:
        text = {"mcpServers": {f"server {number:03}": echo() for number in range(COUNT)}}
        up.post("/api/mcp/import", {"text": json.dumps(text)})
        yield up


def choose(page: Page, name: str, value: str) -> None:
    """Choose how the servers are listed, and wait for the screen that shows it."""
    with page.expect_navigation():
        page.select_option(f"#list-{name}", value)
    page.wait_for_selector(LIVE)


def names(page: Page) -> list[str]:
    """The names of the servers from top to bottom."""
    return page.eval_on_selector_all("#cards .card", "all => all.map(each => each.dataset.name)")


def test_the_list_view_is_kept_and_its_rows_start_and_stop_servers(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    choose(page, "layout", "list")
    row = page.locator('.list-row[data-name="mine"]')
    row.get_by_role("button", name="Start").click()
    expect(status_badge(page, "mine")).to_have_text("Connected")
    expect(row).to_contain_text("7 tools")
    row.get_by_role("button", name="Stop").click()
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    row.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog", name="Edit")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto("/settings")
    page.goto("/")
    expect(row).to_be_visible()
    assert violations(page) == []


def test_servers_that_fail_come_first_in_a_section_of_their_own(
    visitor: Visitor, yard: Daemon, tmp_path: Path
) -> None:
    for name in ("alpha", "beta", "gamma"):
        yard.register(name, echo())
    page = visitor.visit(yard)
    page.wait_for_selector(LIVE)
    expect(page.locator(".section-name").first).to_be_hidden()
    yard.register("zeta", missing(tmp_path), start=True)
    section = page.get_by_role("region", name="Failing")
    expect(section.locator(".card")).to_have_count(1)
    expect(section.locator(".count")).to_have_text("1")
    assert names(page) == ["zeta", "alpha", "beta", "gamma"]
    yard.post(one("zeta", "stop"))
    expect(section).to_be_hidden()
    assert names(page) == ["alpha", "beta", "gamma", "zeta"]


def test_servers_come_go_and_are_renamed_without_the_others_being_drawn_anew(
    visitor: Visitor, yard: Daemon
) -> None:
    for name in ("alpha", "gamma"):
        yard.register(name, echo())
    page = visitor.visit(yard)
    page.wait_for_selector(LIVE)
    page.evaluate("() => document.querySelectorAll('.card').forEach(each => (each.kept = true))")
    yard.register("beta", echo())
    expect(card(page, "beta")).to_be_visible()
    assert names(page) == ["alpha", "beta", "gamma"]
    yard.patch(one("alpha"), {"name": "omega"})
    expect(card(page, "omega")).to_be_visible()
    expect(card(page, "alpha")).to_have_count(0)
    page.wait_for_function(
        "() => document.querySelector('.card:last-child').dataset.name == 'omega'"
    )
    yard.client.delete(one("gamma"))
    expect(card(page, "gamma")).to_have_count(0)
    assert (
        page.evaluate(
            "() => document.querySelectorAll('.card').values().filter(e => e.kept).toArray().length"
        )
        == 1
    )
    for name in ("beta", "omega"):
        yard.client.delete(one(name))
    expect(page.locator("#first-run")).to_be_visible()
    yard.register("again", echo())
    expect(card(page, "again")).to_be_visible()
    expect(page.locator("#first-run")).to_have_count(0)


def test_the_sections_can_be_those_of_each_status(
    visitor: Visitor, yard: Daemon, tmp_path: Path
) -> None:
    yard.register("up", echo(), start=True)
    yard.register("down", echo())
    yard.register("bad", missing(tmp_path), start=True)
    page = visitor.visit(yard, locale="zh-CN")
    choose(page, "group", "status")
    expect(page.locator(".section-name:visible")).to_have_text(["失败 1", "已连接 1", "已停止 1"])
    card(page, "up").get_by_role("button", name="停止").click()
    expect(page.locator(".section-name:visible")).to_have_text(["失败 1", "已停止 2"])
    assert names(page) == ["bad", "down", "up"]


def test_every_page_of_many_servers_is_there_to_be_found(visitor: Visitor, many: Daemon) -> None:
    page = visitor.visit(many)
    choose(page, "layout", "list")
    expect(page.locator("#cards .card")).to_have_count(COUNT)
    assert names(page) == sorted(names(page))
    assert page.locator("#cards .page").count() == 4
    page.keyboard.press("/")
    page.keyboard.type("server 22")
    expect(page.locator("#cards .card:visible")).to_have_count(10)
    page.locator("#search").fill("nothing like it")
    expect(page.locator("#no-match")).to_be_visible()


def test_several_servers_are_started_and_deleted_together(visitor: Visitor, yard: Daemon) -> None:
    for name in ("alpha", "beta", "gamma"):
        yard.register(name, echo())
    page = visitor.visit(yard)
    choose(page, "layout", "list")
    page.get_by_label("Select alpha").check()
    page.get_by_label("Select beta").check()
    bar = page.get_by_role("toolbar")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Start", exact=True).click()
    for name in ("alpha", "beta"):
        expect(status_badge(page, name)).to_have_text("Connected")
    expect(status_badge(page, "gamma")).to_have_text("Stopped")
    expect(page.get_by_label("Select alpha")).to_be_checked()
    expect(page.locator("#notices")).to_contain_text("Servers started: 2")
    bar.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete selected servers (2)?")
    expect(dialog).to_contain_text("Running, will be stopped first: 2")
    assert violations(page) == []
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator("#cards .card")).to_have_count(1)
    expect(bar).to_be_hidden()
    assert [each["name"] for each in yard.get(SERVERS)] == ["gamma"]
    undo(page, "Servers deleted: 2")
    expect(page.locator("#cards .card")).to_have_count(3)
    names = sorted(each["name"] for each in yard.get(SERVERS))
    assert names == ["alpha", "beta", "gamma"]


def test_a_refused_server_stops_no_other_and_is_named(visitor: Visitor, yard: Daemon) -> None:
    yard.register("off", echo(), enabled=False)
    yard.register("on", echo())
    page = visitor.visit(yard)
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("toolbar").get_by_role("button", name="Start", exact=True).click()
    expect(status_badge(page, "on")).to_have_text("Connected")
    expect(page.locator("#notices")).to_contain_text('off: the server "off" is disabled')
    page.get_by_role("button", name="Clear selection").click()
    expect(page.get_by_role("toolbar")).to_be_hidden()


def test_enter_opens_a_server_and_single_keys_can_be_switched_off(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard, "/settings")
    with page.expect_navigation():
        page.get_by_label("Single-key shortcuts").select_option("off")
    page.goto("/")
    page.keyboard.press("j")
    expect(card(page, "mine")).not_to_be_focused()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    page.goto("/settings")
    with page.expect_navigation():
        page.get_by_label("Single-key shortcuts").select_option("on")
    page.goto("/")
    page.keyboard.press("j")
    expect(card(page, "mine")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/servers/*")


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("sort", SORTS)
def test_every_server_is_in_one_section_once_whatever_is_chosen(sort: str, group: str) -> None:
    tones = ("bad", "busy", "good", "idle")
    servers = [
        ListedServer(
            *(UUID(int=n), f"s{n % 7}", tones[n % 4], f"/p{n % 3}", float(n % 5), n % 6),
            tag=("", "work", "home")[n % 3],
        )
        for n in range(250)
    ]
    sections = sections_of(servers, ListChoice("list", sort, group))
    pages = [page for each in sections for page in each.pages]
    ids = [server for page in pages for server in page.servers]
    assert sorted(ids) == [each.id for each in servers]
    assert sum(len(each.servers) for each in pages if each.at_once) == 100
    assert [each.count for each in sections] == [
        sum(len(page.servers) for page in each.pages) for each in sections
    ]
    if group == "tag":
        assert [each.key for each in sections] == ["home", "work", ""]
    if group == "none":
        by_id = {each.id: each for each in servers}
        keys = {
            "name": lambda each: each.name,
            "status": lambda each: tones.index(each.tone),
            "last": lambda each: -each.last_call,
            "memory": lambda each: -each.memory,
        }
        ordered = [keys[sort](by_id[each]) for each in ids]
        assert ordered == sorted(ordered)


def test_a_choice_that_is_none_is_the_default() -> None:
    cookies = {"mcpyard_layout": "x", "mcpyard_sort": "memory", "mcpyard_group": ""}
    assert ListChoice.of(cookies) == ListChoice("cards", "memory", "failing")
