"""What somebody calls a server and says about it: on its card, on its screen, in the searches."""

import pytest
from playwright.sync_api import Locator, expect

from tests.api.daemon import Daemon, one
from tests.cli.commands import echo, mcpyard
from tests.web.browsing import Visitor, card

pytestmark = pytest.mark.real

TITLE = "The Paper Archive"
ABOUT = "Contracts and letters since 1990."
LONG = "Contracts, letters and drawings of every house. " * 40
SCRIPT = "<script>alert(1)</script><b>bold</b>"


def lines_of(text: Locator) -> float:
    """How many lines of a text are to be seen."""
    return text.evaluate(
        "each => each.clientHeight / parseFloat(getComputedStyle(each).lineHeight)"
    )


def test_a_card_has_the_title_above_the_name_and_the_description_beneath(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("archive", echo(), title=TITLE, description=ABOUT)
    archive = card(visitor.visit(yard), "archive")
    expect(archive.get_by_role("link", name=TITLE, exact=True)).to_be_visible()
    name = archive.locator("h2").get_by_text("archive", exact=True)
    expect(name).to_be_visible()
    expect(archive.locator(".description")).to_have_text(ABOUT)
    tops = [
        each.evaluate("each => each.getBoundingClientRect().top")
        for each in (archive.locator("h2 a"), name, archive.locator(".description"))
    ]
    assert tops == sorted(tops)
    assert len({*tops}) == len(tops)


def test_the_screen_of_a_server_has_title_name_and_description(
    visitor: Visitor, yard: Daemon
) -> None:
    record = yard.register("archive", echo(), title=TITLE, description=ABOUT)
    page = visitor.visit(yard, f"/servers/{record['id']}")
    expect(page).to_have_title(f"{TITLE} · mcpyard")
    expect(page.locator("h1")).to_contain_text(TITLE)
    expect(page.locator("h1").get_by_text("archive", exact=True)).to_be_visible()
    expect(page.locator(".head .description")).to_have_text(ABOUT)


def test_a_title_and_a_description_that_change_do_so_on_open_pages(
    visitor: Visitor, yard: Daemon
) -> None:
    record = yard.register("archive", echo(), title="Old", description="old words")
    every = visitor.visit(yard)
    single = visitor.visit(yard, f"/servers/{record['id']}")
    for page in (every, single):
        page.wait_for_selector("#live[data-state=live]")
    yard.patch(one("archive"), {"title": TITLE, "description": ABOUT})
    expect(card(every, "archive").locator("h2 a")).to_have_text(TITLE)
    expect(card(every, "archive").locator(".description")).to_have_text(ABOUT)
    expect(single.locator("h1")).to_contain_text(TITLE)
    expect(single.locator(".description")).to_have_text(ABOUT)
    yard.patch(one("archive"), {"title": None, "description": None})
    expect(card(every, "archive").locator("h2")).to_have_text("archive")
    expect(card(every, "archive").locator(".description")).to_have_count(0)
    expect(single.locator("h1")).to_have_text("archive")
    expect(single.locator(".description")).to_have_count(0)


def test_marks_in_a_title_and_a_description_are_text(visitor: Visitor, yard: Daemon) -> None:
    record = yard.register("archive", echo(), title=SCRIPT, description=SCRIPT)
    page = visitor.visit(yard)
    page.on("dialog", lambda box: visitor.browser_errors.append(f"a script ran: {box.message}"))
    for path, heading in (("/", ".card h2 a"), (f"/servers/{record['id']}", "h1")):
        page.goto(path)
        expect(page.locator(heading)).to_contain_text(SCRIPT)
        expect(page.locator(".description")).to_have_text(SCRIPT)
        expect(page.locator("main b, main script")).to_have_count(0)


def test_a_long_description_takes_few_lines_and_a_long_title_hides_no_name(
    visitor: Visitor, yard: Daemon
) -> None:
    record = yard.register("archive", echo(), title=LONG, description=LONG)
    page = visitor.visit(yard, viewport={"width": 400, "height": 800})
    for path, most in (("/", 3), (f"/servers/{record['id']}", 6)):
        page.goto(path)
        assert round(lines_of(page.locator(".description")), 1) == most
        expect(page.locator(".called")).to_be_in_viewport()
    page.goto("/")
    assert round(lines_of(page.locator(".card h2 a")), 1) == 2


def test_a_card_without_a_title_is_as_high_as_one_whose_title_says_nothing(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("alpha", echo())
    yard.register("beta", echo(), title=" ", description="")
    yard.register("gamma", echo(), title="gamma")
    page = visitor.visit(yard)
    heights = {
        card(page, name).evaluate("each => each.offsetHeight")
        for name in ("alpha", "beta", "gamma")
    }
    assert len(heights) == 1
    expect(page.locator(".called, .description")).to_have_count(0)


def test_a_word_of_the_title_finds_the_card_and_the_tools(visitor: Visitor, yard: Daemon) -> None:
    yard.register("archive", echo(), start=True, title=TITLE)
    yard.register("other", echo(), start=True)
    page = visitor.visit(yard)
    page.locator("#search").fill("paper")
    expect(card(page, "other")).to_be_hidden()
    expect(card(page, "archive")).to_be_visible()
    page.goto("/tools")
    expect(page.locator(".tool")).to_have_count(14)
    page.locator("#search").fill("paper")
    expect(page.locator(".tool")).to_have_count(7)


def test_the_command_that_shows_a_server_tells_both(yard: Daemon) -> None:
    yard.register("archive", echo(), title=TITLE, description=ABOUT)
    lines = mcpyard("show", "archive", home=yard.up.home).stdout.splitlines()
    assert lines[0] == "archive"
    assert f"  {'title':16} {TITLE}" in lines
    assert f"  {'description':16} {ABOUT}" in lines
