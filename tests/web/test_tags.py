"""Tags of servers on the page: shown, found, grouped by, changed in the form."""

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import SERVERS, Daemon, one
from tests.cli.commands import echo, mcpyard
from tests.web.browsing import Visitor, card
from tests.web.test_looks import violations
from tests.web.test_server_list import LIVE, choose, names

pytestmark = pytest.mark.real

HEADINGS = ".section-name:visible"


def register(yard: Daemon) -> None:
    """Four servers, one of them without a tag, and one whose tag is the name of a tone."""
    yard.register("court", echo(), tags=["work", "law"])
    yard.register("alerts", echo(), tags=["bad"])
    yard.register("games", echo(), tags=["home"])
    yard.register("any", echo())


def tags_of(page: Page, name: str) -> list[str]:
    """The tags that are shown of a server."""
    return card(page, name).locator(".tags .badge").all_text_contents()


@pytest.mark.parametrize("layout", ["cards", "list"])
def test_servers_are_grouped_by_their_first_tag_and_found_by_every_one(
    visitor: Visitor, yard: Daemon, layout: str
) -> None:
    register(yard)
    page = visitor.visit(yard)
    choose(page, "layout", layout)
    choose(page, "group", "tag")
    expect(page.locator(HEADINGS)).to_have_text(["bad 1", "home 1", "work 1", "No tag 1"])
    assert names(page) == ["alerts", "games", "court", "any"]
    assert tags_of(page, "court") == ["work", "law"]
    assert tags_of(page, "any") == []
    colours = page.eval_on_selector_all(HEADINGS, "all => all.map(e => getComputedStyle(e).color)")
    assert len({*colours}) == 1, "a tag is no status"
    assert violations(page) == []
    page.locator("#search").fill("LAW")
    expect(page.locator("#cards .card:visible")).to_have_count(1)
    expect(card(page, "court")).to_be_visible()
    page.goto("/settings")
    page.goto("/")
    expect(page.locator("#list-group")).to_have_value("tag")


def test_a_server_moves_to_the_group_of_its_tag_at_once(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard, locale="zh-CN")
    choose(page, "group", "tag")
    pid = yard.register("court", echo(), tags=["work"], start=True)["pid"]
    yard.register("any", echo())
    expect(page.locator(HEADINGS)).to_have_text(["work 1", "无标签 1"])
    yard.patch(one("any"), {"tags": ["zoo"]})
    expect(page.locator(HEADINGS)).to_have_text(["work 1", "zoo 1"])
    yard.patch(one("court"), {"tags": []})
    expect(page.locator(HEADINGS)).to_have_text(["zoo 1", "无标签 1"])
    yard.register("first", echo(), tags=["a"])
    expect(page.locator(HEADINGS)).to_have_text(["a 1", "zoo 1", "无标签 1"])
    assert names(page) == ["first", "any", "court"]
    assert yard.record("court")["pid"] == pid


def test_tags_are_filled_in_with_commas(visitor: Visitor, yard: Daemon) -> None:
    yard.register("court", echo(), tags=["work", "law"], title="Court")
    page = visitor.visit(yard)
    card(page, "court").get_by_role("button", name="Edit").click()
    field = page.get_by_role("textbox", name="Tags")
    expect(field).to_have_value("work, law")
    field.fill("law,  law")
    expect(page.locator("#diff .cut")).to_contain_text("work")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#f-tags-problem")).to_contain_text('contains "law" twice')
    visitor.expect("422")
    assert violations(page) == []
    field.fill("x" * 51)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#f-tags-problem")).to_contain_text("tags[0]: is 51 characters long")
    visitor.expect("422")
    field.fill(" home office ,law,")
    page.get_by_role("button", name="Save").click()
    expect(card(page, "court").locator(".tags")).to_have_text("home officelaw")
    record = yard.record("court")
    assert (record["tags"], record["title"]) == (["home office", "law"], "Court")
    card(page, "court").get_by_role("button", name="Edit").click()
    field.fill("")
    page.get_by_role("button", name="Save").click()
    expect(card(page, "court").locator(".tags")).to_have_count(0)
    assert yard.record("court")["tags"] == []
    page.click("#add-server")
    page.get_by_label("Name", exact=True).fill("new")
    page.get_by_label("Command", exact=True).fill("true")
    page.get_by_text("More", exact=True).click()
    field.fill("home")
    page.get_by_role("button", name="Submit").click()
    expect(card(page, "new").locator(".tags")).to_have_text("home")
    assert {each["name"]: each["tags"] for each in yard.get(SERVERS)} == {
        "court": [],
        "new": ["home"],
    }


def test_many_long_tags_hide_nothing_of_a_card_or_a_row(visitor: Visitor, yard: Daemon) -> None:
    tags = [f"{number:02} " + "x" * 47 for number in range(20)]
    record = yard.register("court", echo(), tags=tags)
    page = visitor.visit(yard, viewport={"width": 390, "height": 800})
    page.wait_for_selector(LIVE)
    for layout in ("cards", "list"):
        choose(page, "layout", layout)
        assert tags_of(page, "court") == tags
        assert page.evaluate("() => document.documentElement.scrollWidth") == 390
        expect(card(page, "court").get_by_role("link", name="court")).to_be_visible()
    page.goto(f"/servers/{record['id']}")
    assert page.locator(".head .tags .badge").all_text_contents() == tags
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390


def test_the_palette_and_the_tools_know_the_tags(visitor: Visitor, yard: Daemon) -> None:
    yard.register("court", echo(), tags=["Paragraphs"], title="T", start=True)
    yard.register("other", echo(), start=True)
    page = visitor.visit(yard)
    page.keyboard.press("Control+k")
    page.locator("#palette input").fill("paragr")
    expect(page.locator("#palette").get_by_role("option").first).to_contain_text("court")
    page.keyboard.press("Escape")
    page.goto("/tools")
    expect(page.locator(".tool")).to_have_count(14)
    page.locator("#search").fill("paragr")
    expect(page.locator(".tool")).to_have_count(7)


def test_the_commands_show_and_change_tags(yard: Daemon) -> None:
    home, definition = yard.up.home, '{"type": "stdio", "command": ["true"], "tags": ["work"]}'
    assert mcpyard("add", "court", "--json-text", definition, home=home).returncode == 0
    assert f'  {"tags":16} ["work"]' in mcpyard("show", "court", home=home).stdout.splitlines()
    patch = '{"tags": ["home", "a,b"]}'
    refused = mcpyard("edit", "court", "--json-text", patch, home=home)
    assert refused.returncode != 0
    assert "tags[1]" in refused.stderr
    assert "must not contain a comma" in refused.stderr
    assert yard.record("court")["tags"] == ["work"]
