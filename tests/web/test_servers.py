"""The Servers screen: what its cards show, and what its buttons and dialogs do."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.daemon import Daemon
from tests.cli.commands import ECHO_SERVER, echo, missing, write_project
from tests.web.browsing import Visitor, card, status_badge

pytestmark = pytest.mark.real


@pytest.mark.spec("A6.1")
def test_every_server_has_a_card_with_name_transport_status_and_tool_count(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    project = write_project(
        tmp_path / "project",
        good=echo(),
        bad=missing(tmp_path),
        far={"transport": "http", "url": "http://127.0.0.1:9/mcp"},
    )
    yard = yards("--project", project)
    yard.until("good", lambda each: each["status"] == "connected")
    yard.register("idle", echo(), scope="user")
    page = visitor.visit(yard)
    expect(card(page, "good")).to_have_attribute("data-tone", "good")
    expect(status_badge(page, "good")).to_have_text("Connected")
    expect(card(page, "good")).to_contain_text("7 tools")
    expect(card(page, "good")).to_contain_text("stdio")
    expect(card(page, "good")).to_contain_text("MCP 2025-11-25")
    expect(card(page, "good").locator(".metrics")).to_contain_text("MB")
    expect(card(page, "good").locator(".metrics")).to_contain_text("CPU")
    expect(card(page, "bad")).to_have_attribute("data-tone", "bad")
    expect(status_badge(page, "bad")).to_have_text("Failed")
    expect(card(page, "bad")).to_contain_text("Command not found")
    expect(card(page, "idle")).to_have_attribute("data-tone", "idle")
    expect(status_badge(page, "idle")).to_have_text("Stopped")
    expect(card(page, "far")).to_contain_text("http://127.0.0.1:9/mcp")
    expect(page.locator("#tile-good strong")).to_have_text("1")


@pytest.mark.spec("A6.2")
def test_a_server_added_by_the_form_appears_without_a_reload(
    visitor: Visitor, yard: Daemon
) -> None:
    page = visitor.visit(yard)
    page.click("#first-paste")
    page.get_by_role("button", name="Form", exact=True).click()
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("Command", exact=True).fill(sys.executable)
    for argument in ("-I", "-S", ECHO_SERVER):
        page.get_by_role("button", name="Argument", exact=True).click()
        page.locator("[name=arg]").last.fill(argument)
    page.get_by_role("button", name="Variable", exact=True).click()
    page.locator("[name=env_name]").fill("API_KEY")
    page.locator("[name=env_value]").fill("very secret")
    page.get_by_role("button", name="Submit").click()
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    expect(page.locator("#dialog")).to_be_hidden()
    record = yard.record("mine")
    assert record["args"] == ["-I", "-S", ECHO_SERVER]
    assert record["env"] == {"API_KEY": {"masked": True, "hint": ""}}
    assert "very secret" not in page.content()


@pytest.mark.spec("A6.3")
def test_a_card_unfolds_to_the_names_and_descriptions_of_its_tools(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(), start=True)
    page = visitor.visit(yard)
    card(page, "mine").get_by_text("Show 7 tools").click()
    first = card(page, "mine").locator(".tool-list li").first
    expect(first).to_contain_text("echo")
    expect(first).to_contain_text("Say it again.")


@pytest.mark.spec("A6.4")
def test_restart_is_shown_as_restarting_until_it_runs_again(visitor: Visitor, yard: Daemon) -> None:
    # This one ignores the polite ways to end, so that its restart takes seconds.
    yard.register("slow", echo("stubborn"), start=True)
    before = yard.record("slow")["pid"]
    page = visitor.visit(yard)
    card(page, "slow").get_by_role("button", name="Restart").click()
    expect(status_badge(page, "slow")).to_have_text("Restarting")
    expect(card(page, "slow")).to_have_attribute("data-tone", "busy")
    expect(status_badge(page, "slow")).to_have_text("Connected")
    assert yard.record("slow")["pid"] != before


@pytest.mark.spec("C7.1")
@pytest.mark.parametrize(
    ("locale", "tab", "button"),
    [
        ("en", "MCP services", "Add Server"),
        ("zh-CN", "MCP 服务", "添加服务"),
        ("zh-TW", "MCP 服務", "新增服務"),
    ],
)
def test_the_first_tab_is_mcp_services_in_each_language(
    visitor: Visitor, yard: Daemon, locale: str, tab: str, button: str
) -> None:
    page = visitor.visit(yard, locale=locale)
    current = page.locator(".tabs a").first
    expect(current).to_have_text(tab)
    expect(current).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("heading", name=tab, exact=True)).to_be_visible()
    expect(page.locator("#add-server")).to_have_text(button)


@pytest.mark.spec("C7.2")
def test_a_card_has_the_command_the_status_and_its_buttons(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard, locale="zh-CN")
    expect(status_badge(page, "mine")).to_have_text("已停止")
    expect(card(page, "mine").locator(".line")).to_contain_text(sys.executable)
    for name in ("启动", "编辑", "删除"):
        expect(card(page, "mine").get_by_role("button", name=name)).to_be_visible()
    card(page, "mine").get_by_role("button", name="启动").click()
    expect(status_badge(page, "mine")).to_have_text("已连接")
    card(page, "mine").get_by_role("button", name="停止").click()
    expect(status_badge(page, "mine")).to_have_text("已停止")
    assert yard.record("mine")["state"] == "stopped"


@pytest.mark.spec("C7.3")
def test_the_add_dialog_can_be_submitted_or_cancelled(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard, locale="zh-CN")
    page.click("#add-server")
    dialog = page.get_by_role("dialog", name="添加服务")
    for label in ("服务名称", "启动命令"):
        expect(dialog.get_by_label(label)).to_be_visible()
    for group in ("命令参数", "环境变量"):
        expect(dialog.get_by_role("group", name=group)).to_be_visible()
    dialog.get_by_label("服务名称").fill("文件系统服务")
    dialog.get_by_role("button", name="取消").click()
    expect(dialog).to_be_hidden()
    assert yard.get("/api/mcp/servers") == []
    page.click("#add-server")
    dialog.get_by_label("服务名称").fill("文件系统服务")
    dialog.get_by_label("启动命令").fill("uvx")
    dialog.get_by_role("button", name="提交").click()
    expect(status_badge(page, "文件系统服务")).to_have_text("已停止")


def test_a_name_in_use_is_told_beside_the_field_and_nothing_is_lost(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    page.click("#add-server")
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("Command", exact=True).fill("other")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#f-name-problem")).to_contain_text("in use")
    expect(page.get_by_label("Command", exact=True)).to_have_value("other")
    visitor.expect("409")


def test_testing_the_connection_lists_the_tools_and_keeps_nothing(
    visitor: Visitor, yard: Daemon
) -> None:
    page = visitor.visit(yard)
    page.click("#add-server")
    page.get_by_label("Command", exact=True).fill(sys.executable)
    for argument in ("-I", "-S", ECHO_SERVER):
        page.get_by_role("button", name="Argument", exact=True).click()
        page.locator("[name=arg]").last.fill(argument)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#trial")).to_contain_text("7 tools found")
    expect(page.locator("#trial li").first).to_contain_text("echo")
    page.locator("[name=arg]").last.fill("/nowhere.py")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("#trial .notice.bad")).to_contain_text("nowhere.py")
    assert yard.get("/api/mcp/servers") == []


def test_a_pasted_line_fills_the_form_in(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard)
    page.click("#first-paste")
    page.get_by_label("Snippet").fill(
        "claude mcp add files -e TOKEN=abc -- npx -y files-server /srv"
    )
    page.get_by_role("button", name="Parse").click()
    expect(page.locator("#f-name")).to_have_value("files")
    expect(page.get_by_label("Command", exact=True)).to_have_value("npx")
    assert [each.input_value() for each in page.locator("[name=arg]").all()] == [
        "-y",
        "files-server",
        "/srv",
    ]
    expect(page.locator("[name=env_value]")).to_have_attribute("type", "password")


def test_a_pasted_line_keeps_its_header_and_tells_what_is_lost(
    visitor: Visitor, yard: Daemon
) -> None:
    page = visitor.visit(yard)
    page.click("#first-paste")
    page.get_by_label("Snippet").fill(
        'gemini mcp add -t http far https://far.example/mcp -H "Authorization: Bearer x" --trust'
    )
    page.get_by_role("button", name="Parse").click()
    expect(page.locator("#f-name")).to_have_value("far")
    expect(page.locator("[name=header_name]")).to_have_value("Authorization")
    expect(page.locator("[name=header_value]")).to_have_value("Bearer x")
    expect(page.locator("#dialog-body .notice.warn")).to_contain_text("--trust: not supported")


def test_pasted_lines_that_cannot_be_taken_are_told_by_their_number(
    visitor: Visitor, yard: Daemon
) -> None:
    page = visitor.visit(yard)
    page.click("#first-paste")
    snippet = page.get_by_label("Snippet")
    snippet.fill("claude mcp add one https://h.example\nclaude mcp add two https://h.example more")
    page.get_by_role("button", name="Parse").click()
    expect(page.locator("#pasted .notice.bad")).to_contain_text('line 2: "more" is an unexpected')
    expect(page.locator("#pasted [name=server]")).to_have_count(1)
    snippet.fill("claude mcp add two https://h.example more")
    page.get_by_role("button", name="Parse").click()
    expect(page.locator("#pasted .notice.bad")).to_contain_text(":1:1: ")
    expect(page.locator("#pasted [name=server]")).to_have_count(0)


def test_several_pasted_servers_are_imported_and_started(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard)
    page.click("#first-paste")
    page.get_by_label("Snippet").fill(json.dumps({"mcpServers": {"one": echo(), "two": echo()}}))
    page.get_by_role("button", name="Parse").click()
    page.get_by_role("button", name="Import and start").click()
    for name in ("one", "two"):
        expect(status_badge(page, name)).to_have_text("Connected")


def test_an_edit_shows_its_difference_and_keeps_what_is_masked(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(env={"API_KEY": "hush hush", "OTHER": "${HOME}"}))
    page = visitor.visit(yard)
    card(page, "mine").get_by_role("button", name="Edit").click()
    expect(page.locator("#diff")).to_contain_text("No changes yet.")
    page.get_by_label("Name", exact=True).first.fill("renamed")
    expect(page.locator("#diff .add")).to_contain_text("renamed")
    page.locator("[name=env_name]").nth(1).fill("ANOTHER")
    page.get_by_role("button", name="Save").click()
    expect(status_badge(page, "renamed")).to_be_visible()
    expect(card(page, "mine")).to_have_count(0)
    revealed = yard.post("/api/mcp/servers/renamed/reveal")
    assert revealed["env"] == {"API_KEY": "hush hush", "ANOTHER": "${HOME}"}


@pytest.mark.spec("C5.1", "C5.2")
@pytest.mark.parametrize("start", [False, True])
def test_delete_asks_first_then_stops_and_removes(
    visitor: Visitor, yard: Daemon, *, start: bool
) -> None:
    yard.register("mine", echo(), start=start)
    page = visitor.visit(yard)
    card(page, "mine").get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete this server?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(card(page, "mine")).to_be_visible()
    card(page, "mine").get_by_role("button", name="Delete").click()
    expect(dialog.get_by_text("It is running")).to_have_count(int(start))
    dialog.get_by_role("button", name="Delete").click()
    expect(card(page, "mine")).to_have_count(0)
    assert yard.get("/api/mcp/servers") == []


def test_the_search_and_the_tiles_narrow_the_cards(visitor: Visitor, yard: Daemon) -> None:
    yard.register("alpha", echo(), start=True)
    yard.register("beta", echo())
    page = visitor.visit(yard)
    page.keyboard.press("/")
    page.keyboard.type("bet")
    expect(card(page, "alpha")).to_be_hidden()
    expect(card(page, "beta")).to_be_visible()
    page.locator("#search").fill("")
    page.click("#tile-good")
    expect(card(page, "beta")).to_be_hidden()
    expect(card(page, "alpha")).to_be_visible()


def test_the_keys_move_between_cards_and_start_and_restart(visitor: Visitor, yard: Daemon) -> None:
    for name in ("alpha", "beta"):
        yard.register(name, echo())
    page = visitor.visit(yard)
    page.keyboard.press("j")
    expect(card(page, "alpha")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(status_badge(page, "beta")).to_have_text("Connected")
    expect(card(page, "beta")).to_be_focused()
    before = yard.record("beta")["pid"]
    page.keyboard.press("r")
    yard.until("beta", lambda each: each["pid"] not in {before, None})
    page.keyboard.press("k")
    expect(card(page, "alpha")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
