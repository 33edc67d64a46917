"""A page that stays true by itself: pushed to, asking besides, and never losing the focus."""

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon, daemon, one
from tests.cli.commands import ECHO_SERVER, echo, write_project
from tests.web.browsing import Visitor, card, status_badge

pytestmark = pytest.mark.real

LIVE = "#live[data-state=live]"
ONCE = """
import os, sys
mark, again = sys.argv[1] + "/mark", sys.argv[1] + "/again"
if os.path.exists(mark) and not os.path.exists(again):
    print("it was here before", file=sys.stderr)
    sys.exit(9)
open(mark, "w").close()
os.execv(sys.executable, [sys.executable, "-I", "-S", sys.argv[2]])
"""


def once(folder: Path) -> dict[str, object]:
    """A server that comes up one time, and not again before there is a file of that name."""
    args = ["-c", ONCE, str(folder), ECHO_SERVER]
    return {"command": sys.executable, "args": args, "transport": "stdio"}


def kill(yard: Daemon, name: str) -> None:
    os.kill(yard.record(name)["pid"], signal.SIGKILL)


def watch_words(page: Page, name: str) -> None:
    """Have the page note every word that a badge shows from now on."""
    card(page, name).evaluate(
        """card => {
            window.seen = [];
            const note = () => {
                const parts = [".status-badge", ".cause", ".retry"].map(
                    (each) => card.querySelector(each)?.textContent.trim() ?? "");
                window.seen.push(parts.join(" | "));
            };
            const parts = {subtree: true, childList: true, characterData: true};
            new MutationObserver(note).observe(card, parts);
        }"""
    )


def test_a_killed_child_turns_its_card_amber_and_back_to_green_without_a_reload(
    visitor: Visitor, yard: Daemon, tmp_path: Path
) -> None:
    yard.register("mine", once(tmp_path), start=True)
    page = visitor.visit(yard)
    page.wait_for_selector(LIVE)
    watch_words(page, "mine")
    kill(yard, "mine")
    # A first pause of a quarter of a second may be over before a busy browser shows it: then the
    # card shows the attempt alone, and the next pause is one that it must show.
    page.wait_for_function("() => window.seen.some(each => /^Retrying.* · /s.test(each))")
    (tmp_path / "again").touch()
    page.wait_for_function("() => window.seen.at(-1).startsWith('Connected')")
    text = " ".join(page.evaluate("window.seen"))
    assert "Process killed (SIGKILL)" in text
    assert re.search("attempt [123]/3 · (retrying in [1-4] s|retrying now)", text)


def test_a_card_turns_red_after_the_third_failed_restart_and_says_why(
    visitor: Visitor, yard: Daemon, tmp_path: Path
) -> None:
    yard.register("mine", once(tmp_path), start=True)
    page = visitor.visit(yard)
    expect(status_badge(page, "mine")).to_have_text("Connected")
    kill(yard, "mine")
    expect(card(page, "mine").locator(".retry")).to_contain_text("attempt 3/3")
    expect(card(page, "mine").locator(".retry")).to_contain_text("retrying in")
    expect(card(page, "mine")).to_have_attribute("data-tone", "bad")
    expect(status_badge(page, "mine")).to_have_text("Failed")
    expect(card(page, "mine").locator(".stderr")).to_contain_text("it was here before")
    expect(card(page, "mine").locator(".todo")).to_be_visible()


def test_two_browsers_see_each_others_changes(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo())
    first, other = visitor.visit(yard), visitor.visit(yard, locale="zh-CN")
    card(first, "mine").get_by_role("button", name="Start").click()
    expect(status_badge(other, "mine")).to_have_text("已连接")
    card(other, "mine").get_by_role("button", name="删除").click()
    other.locator("#confirm-delete").click()
    expect(card(first, "mine")).to_have_count(0)


@pytest.mark.spec("C3.1")
def test_all_states_are_there_on_load_and_asked_for_every_five_seconds(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("up", echo(), start=True)
    yard.register("down", echo())
    page = visitor.visit(yard)
    expect(status_badge(page, "up")).to_have_text("Connected")
    expect(status_badge(page, "down")).to_have_text("Stopped")
    page.clock.install()
    page.reload()
    page.wait_for_selector(LIVE)
    tags: list[str] = []
    for _ in range(2):
        with page.expect_response("**/ui/news*") as response:
            page.clock.run_for(5_000)
        assert response.value.status in {200, 304}
        tags += [response.value.request.headers["if-none-match"], response.value.headers["etag"]]
    assert tags[2] == tags[1]


def test_with_the_stream_cut_the_regular_question_takes_over(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    page.context.route("**/ui/stream*", lambda route: route.abort())
    page.clock.install()
    page.reload()
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    yard.post("/api/mcp/servers/mine/start")
    page.clock.run_for(5_500)
    expect(status_badge(page, "mine")).to_have_text("Connected")
    expect(page.locator("#live")).to_have_attribute("data-state", "poll")
    visitor.close()
    visitor.forgive("ERR_FAILED", "/ui/stream", "htmx:error", "htmx:sse:error")


def test_a_stream_that_could_not_begin_is_begun_again(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard)
    page.context.route("**/ui/stream*", lambda route: route.abort(), times=1)
    page.reload()
    page.wait_for_selector(LIVE)
    visitor.close()
    visitor.forgive("ERR_FAILED", "/ui/stream", "htmx:error")


def test_a_page_recovers_by_itself_when_the_yard_was_restarted(
    visitor: Visitor, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with daemon(home) as yard:
        yard.register("mine", echo())
        port = yard.up.url.rsplit(":", 1)[1]
        page = visitor.visit(yard)
        page.wait_for_selector(LIVE)
    expect(page.locator("#live")).not_to_have_attribute("data-state", "live")
    with daemon(home, "--port", port) as again:
        page.wait_for_selector(LIVE)
        again.post("/api/mcp/servers/mine/start")
        expect(status_badge(page, "mine")).to_have_text("Connected")
        visitor.close()
    visitor.forgive("ERR_", "htmx:sse:error", "htmx:error")


def test_an_update_takes_neither_the_focus_nor_what_is_unfolded(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo(), start=True)
    page = visitor.visit(yard)
    page.wait_for_selector(LIVE)
    card(page, "mine").get_by_text("Show 7 tools").click()
    expect(card(page, "mine").locator(".tool-list li")).to_have_count(7)
    edit = card(page, "mine").get_by_role("button", name="Edit")
    edit.focus()
    yard.patch("/api/mcp/servers/mine", {"timeout": 999})
    kill(yard, "mine")
    expect(status_badge(page, "mine")).to_have_text("Retrying")
    expect(status_badge(page, "mine")).to_have_text("Connected")
    expect(edit).to_be_focused()
    expect(card(page, "mine").locator(".tool-list li")).to_have_count(7)
    toggle = card(page, "mine").get_by_role("button", name="Stop")
    toggle.focus()
    page.keyboard.press("Enter")
    expect(card(page, "mine").locator("[data-act=start]")).to_be_focused()


def test_a_browser_without_the_key_reads_and_is_told_how_to_change(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard)
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("#live")).to_contain_text("mcpyard open")
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    card(page, "mine").get_by_role("button", name="Start").click()
    expect(status_badge(page, "mine")).to_have_text("Stopped")
    expect(page.locator("#notices .notice")).to_contain_text("mcpyard open")
    visitor.expect("403")


@pytest.mark.spec("F3.1")
def test_a_waiting_project_shows_what_would_run_and_runs_when_approved(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    env = {"NODE_OPTIONS": "--require ./hook.js", "TOKEN": "${HOME:-none}", "KEY": "hidden-literal"}
    write_project(tmp_path, mine=echo(env=env, inherit=["LANG"]), other=echo())
    yard = yards()
    page = visitor.visit(yard)
    expect(status_badge(page, "mine")).to_have_text("Needs approval")
    expect(card(page, "mine").locator(".todo")).to_contain_text(str(tmp_path))
    expect(card(page, "mine").locator(".line")).to_contain_text(sys.executable)
    card(page, "mine").get_by_role("button", name="Approve").click()
    consent = page.locator('.consent[data-server="mine"]')
    for text in (sys.executable, "echo_server.py", "inherit", "LANG", "${HOME}", "the process"):
        expect(consent).to_contain_text(text)
    expect(consent.locator(".marked")).to_contain_text("--require ./hook.js")
    expect(consent).not_to_contain_text("hidden-literal")
    page.locator("#confirm-approve").click()
    expect(status_badge(page, "mine")).to_have_text("Connected")
    expect(status_badge(page, "other")).to_have_text("Connected")
    expect(page.locator("#notices .notice")).to_contain_text("mine, other")


@pytest.mark.spec("F3.1")
@pytest.mark.spec("F3.2")
def test_a_change_and_a_replacement_are_shown_on_cards_of_servers_that_run_on(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", ours=echo())
    yard = yards("--project", project)
    yard.register("mine", echo(), scope="user", start=True)
    page = visitor.visit(yard)
    page.wait_for_selector(LIVE)
    expect(status_badge(page, "mine")).to_have_text("Connected")
    write_project(project, ours=echo("changed"), mine=echo("theirs"))
    expect(card(page, "ours").locator(".warning")).to_contain_text("was changed")
    expect(card(page, "mine").locator(".warning")).to_contain_text("has an entry with this name")
    expect(status_badge(page, "ours")).to_have_text("Connected")
    card(page, "ours").get_by_role("button", name="Approve").click()
    changes = page.locator('.consent[data-server="ours"] .diff')
    expect(changes.locator(".add")).to_contain_text("changed")
    write_project(project, ours=echo("again"), mine=echo("theirs"))
    while "again" not in yard.client.get("/api/projects/waiting").text:
        yard.up.event("documents")
    page.locator("#confirm-approve").click()
    expect(page.locator("#dialog .notice.bad")).to_be_visible()
    visitor.expect("409")
    expect(changes.locator(".add")).to_contain_text("again")
    page.locator("#confirm-approve").click()
    expect(card(page, "ours").locator(".line")).to_contain_text("again")
    expect(page.locator("#notices")).to_contain_text("would replace another server: mine")
    card(page, "mine").get_by_role("button", name="Approve").click()
    page.locator('.consent[data-server="mine"]').get_by_role("checkbox").check()
    page.locator("#confirm-approve").click()
    expect(card(page, "mine").locator(".line")).to_contain_text("theirs")


def test_a_project_file_that_cannot_be_used_is_told_with_its_place(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", mine=echo())
    page = visitor.visit(yards("--project", project, "--trust-folder"))
    page.wait_for_selector(LIVE)
    expect(status_badge(page, "mine")).to_have_text("Connected")
    (project / ".mcp.json").write_text('{"mcpServers": {"mine": ')
    expect(page.locator("#problems")).to_contain_text(".mcp.json:1:")
    expect(status_badge(page, "mine")).to_have_text("Connected")
    write_project(project, mine=echo(), other=echo())
    expect(page.locator("#problems")).to_be_empty()
    expect(status_badge(page, "other")).to_have_text("Connected")


def test_the_tools_of_a_server_appear_on_its_screen_when_it_starts(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("mine", echo())
    page = visitor.visit(yard, f"/servers/{yard.record('mine')['id']}")
    expect(page.locator("#tools")).to_contain_text("No tools.")
    page.locator(".head [data-act=start]").click()
    expect(page.locator(".tool")).to_have_count(7)
    yard.client.delete(one("mine"))
    expect(page.locator(".head")).to_contain_text("This server was removed.")
