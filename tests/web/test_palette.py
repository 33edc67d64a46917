"""The palette and the search: everything of a yard by its name."""

import re
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon
from tests.cli.commands import echo
from tests.web.browsing import Visitor, card, status_badge
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

OFFERING = """
import json, sys
TOOL = {"name": "weigh_parcel", "description": "How heavy", "inputSchema": {"type": "object"}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": "offering", "version": "1"},
    },
    "tools/list": {"tools": [TOOL]},
    "prompts/list": {"prompts": [{"name": "parcel_letter", "description": "Write one"}]},
    "resources/list": {"resources": [{"uri": "parcel://all", "name": "Every parcel"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "ping": {},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}
        print(json.dumps(answer), flush=True)
"""


def offering() -> dict[str, object]:
    """A server with a tool, a prompt and a resource."""
    return {"command": sys.executable, "args": ["-c", OFFERING], "transport": "stdio"}


def ask(page: Page, word: str) -> None:
    """Open the palette and type."""
    page.keyboard.press("Control+k")
    expect(page.locator("#palette [role=option]").first).to_be_visible()
    page.keyboard.type(word)


def test_the_palette_goes_to_screens_servers_and_what_they_offer(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("post office", offering(), start=True)
    yard.until("post office", lambda each: each["toolCount"] == 1)
    page = visitor.visit(yard)
    options = page.locator("#palette [role=option]")
    ask(page, "parcel")
    expect(options).to_have_count(3)
    expect(options.nth(0)).to_contain_text("weigh_parcel")
    expect(options.nth(1)).to_contain_text("parcel_letter")
    expect(options.nth(2)).to_contain_text("parcel://all")
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/servers/*?show=tools&q=weigh_parcel")
    expect(page.locator(".tool code").first).to_have_text("weigh_parcel")
    ask(page, "activ")
    expect(options.first).to_contain_text("Activity")
    page.keyboard.press("Enter")
    page.wait_for_url("**/activity")
    ask(page, "post off")
    expect(options.first).to_contain_text("post office")
    page.keyboard.press("Enter")
    page.wait_for_url("**/servers/*")


def test_the_palette_starts_and_stops_servers_and_opens_dialogs(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard, locale="zh-CN")
    options = page.locator("#palette [role=option]")
    ask(page, "mine")
    expect(options.nth(1)).to_contain_text("启动: mine")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(status_badge(page, "mine")).to_have_text("已连接")
    for typed, option in (("停止", "停止: mine"), ("重启 mi", "重启: mine")):
        ask(page, typed)
        expect(options.first).to_contain_text(option)
        for _ in range(2):
            page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()
    ask(page, "启动")
    expect(page.locator("#palette")).to_contain_text("没有匹配项。")
    for _ in range(2):
        page.keyboard.press("Escape")
    page.locator("#open-palette").click()
    page.keyboard.type("添加服务")
    expect(options).to_have_count(1)
    options.first.click()
    expect(page.get_by_role("dialog", name="添加服务")).to_be_visible()
    page.keyboard.press("Escape")
    ask(page, "no such thing")
    expect(page.locator("#palette")).to_contain_text("没有匹配项。")
    page.keyboard.press("Enter")
    expect(page.locator("#palette")).to_be_visible()


def test_the_palette_enables_a_disabled_server_and_does_not_offer_to_start_it(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("asleep", echo(), enabled=False)
    page = visitor.visit(yard)
    options = page.locator("#palette [role=option]")
    ask(page, "asleep")
    expect(options).to_have_text(
        [re.compile("^asleep"), "Enable: asleepAction", re.compile("^Logs")]
    )
    options.nth(1).click()
    expect(status_badge(page, "asleep")).not_to_have_text("Disabled")


def test_the_search_finds_tools_prompts_and_resources_as_well(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("post office", offering(), start=True)
    yard.register("other", echo())
    yard.until("post office", lambda each: each["toolCount"] == 1)
    page = visitor.visit(yard)
    page.keyboard.press("/")
    page.keyboard.type("parcel")
    results = page.get_by_role("region", name="Matching tools, prompts and resources")
    for kind, name in (
        ("Tools", "weigh_parcel"),
        ("Prompts", "parcel_letter"),
        ("Resources", "parcel://all"),
    ):
        part = results.get_by_role("region", name=kind)
        expect(part.get_by_role("link", name=name)).to_be_visible()
    assert violations(page) == []
    page.locator("#search").fill("")
    expect(results.get_by_role("link")).to_have_count(0)
    expect(card(page, "other")).to_be_visible()
