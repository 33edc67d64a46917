"""A task that the page is for: give one client three of eighty servers, in five clicks."""

import tomllib
from collections.abc import Generator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.machine import Machine, Window
from tests.web.sync_steps import NOTES, TABLE, cell, reset, tick

pytestmark = pytest.mark.real

SERVERS = 80
WANTED = ("server-07", "server-42", "server-79")
MOST_CLICKS = 5


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    reset(it)
    for number in range(SERVERS - len(it.yard.get("/api/mcp/servers"))):
        it.yard.register(f"server-{number:02}", NOTES, scope="user")
    it.yard.register("server-79", NOTES, scope="user")
    yield from open_window.at(TABLE)


def test_one_client_is_given_three_of_eighty_servers_in_five_clicks(
    page: Page, it: Machine
) -> None:
    clicks = 0

    def click(target: Locator) -> None:
        nonlocal clicks
        target.click()
        clicks += 1

    for name in WANTED:
        page.locator("#search").fill(name)
        click(tick(page, name))
        expect(tick(page, name)).to_have_attribute("aria-checked", "true")
    page.locator("#search").fill("")
    click(page.locator("#sync-preview"))
    expect(page.locator("#preview .add", has_text="server-42")).to_be_visible()
    click(page.locator("#apply"))
    expect(cell(page, WANTED[-1])).to_contain_text("Same")
    servers = tomllib.loads(it.read("codex"))["mcp_servers"]
    assert {each for each in servers if each.startswith("server-")} == {*WANTED}
    assert clicks <= MOST_CLICKS
