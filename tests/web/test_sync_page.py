"""The table of servers and clients: assigned by ticks, previewed, applied, adopted, undone."""

import itertools
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from mcpyard.web.templating import LANGUAGE_COOKIE
from tests.api.daemon import Daemon
from tests.web.browsing import Visitor
from tests.web.machine import CODEX, GEMINI, Machine, Window, toast
from tests.web.sync_steps import (
    TABLE,
    apply,
    assign,
    assignments,
    cell,
    decision,
    in_conflict,
    look_again,
    open_preview,
    reset,
    synced,
    targets,
    tick,
)
from tests.web.test_looks import violations

pytestmark = pytest.mark.real


@pytest.fixture
def it(shared: Machine) -> Machine:
    """The machine with its files as they were, two servers in mcpyard, and nothing assigned."""
    return reset(shared)


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    del it
    yield from open_window.at(TABLE)


@pytest.mark.spec("F7.1")
def test_ticks_are_previewed_applied_as_one_edit_and_undone_to_the_same_bytes(
    page: Page, it: Machine
) -> None:
    names = ("codex", "gemini", "opencode")
    before = {each: it.read(each) for each in names}
    expect(page.locator("#sync-preview")).to_be_disabled()
    for each in names:
        assign(page, "data", f"{each}:user")
        expect(cell(page, "data", f"{each}:user")).to_contain_text("Missing")
        expect(tick(page, "data", f"{each}:user")).to_be_focused()
    assert targets(it) == {f"{each}:user": {"only": ["data"]} for each in names}
    assert {each: it.read(each) for each in names} == before
    expect(page.locator("#sync-summary")).to_contain_text("3 to change")
    open_preview(page)
    expect(page.locator("#preview .change")).to_have_count(3)
    expect(page.locator("#preview .add", has_text="[mcp_servers.data]")).to_be_visible()
    assert {each: it.read(each) for each in names} == before
    apply(page)
    for each in names:
        expect(cell(page, "data", f"{each}:user")).to_contain_text("Same")
        assert it.read(each) != before[each]
    toast(page, "Applied. Files changed: 3.").get_by_role("button", name="Undo").click()
    expect(cell(page, "data")).to_contain_text("Missing")
    assert {each: it.read(each) for each in names} == before


def test_a_tick_that_is_taken_away_removes_what_a_sync_wrote_and_nothing_else(
    page: Page, it: Machine
) -> None:
    synced(page, "data", "journal")
    tick(page, "data").click()
    expect(cell(page, "data")).to_contain_text("To remove")
    assert targets(it) == {"codex:user": {"only": ["journal"]}}
    open_preview(page)
    apply(page)
    expect(cell(page, "data").locator(".state")).to_have_count(0)
    assert it.read("codex").startswith(CODEX)
    assert "mcp_servers.data" not in it.read("codex")
    assert "mcp_servers.journal" in it.read("codex")


def test_ticks_right_after_one_another_all_count(page: Page, it: Machine) -> None:
    cells = [(name, f"{each}:user") for name in ("data", "journal") for each in ("codex", "gemini")]
    for server, target in cells:
        tick(page, server, target).dispatch_event("click")
    for server, target in cells:
        expect(tick(page, server, target)).to_have_attribute("aria-checked", "true")
    names = {each: sorted(table["only"]) for each, table in targets(it).items()}
    assert names == {"codex:user": ["data", "journal"], "gemini:user": ["data", "journal"]}


def test_one_tick_assigns_every_server_to_a_client(page: Page, it: Machine) -> None:
    every = page.get_by_role("checkbox", name="Assign all servers to Codex, user")
    assign(page, "data")
    expect(every).to_have_attribute("aria-checked", "mixed")
    every.click()
    expect(every).to_have_attribute("aria-checked", "true")
    assert targets(it) == {"codex:user": {"only": ["data", "journal"]}}
    every.click()
    expect(every).to_have_attribute("aria-checked", "false")
    assert targets(it) == {"codex:user": {"only": []}}
    assert it.read("codex") == CODEX


def test_servers_of_clients_are_adopted_and_assigned_where_they_are(
    page: Page, it: Machine
) -> None:
    gemini = GEMINI.replace('"args": ["weather"]', '"args": ["notes", "--other"]')
    it.lay(gemini=gemini.replace('"weather": {', '"notes": {'))
    before = {each: it.read(each) for each in ("claude", "codex", "gemini", "opencode")}
    page.locator("#sync-adopt").click()
    clash = page.locator('.decision[data-server="notes"]')
    expect(clash).to_contain_text("Defined differently")
    clash.get_by_label("Adopt from codex:user").check()
    # Without the choice the preview has the other servers only.
    for name in ("time", "notes"):
        expect(page.locator("#preview .add", has_text=f'"{name}": {{')).to_be_visible()
    assert violations(page) == []
    apply(page)
    expect(toast(page, "Servers adopted: 4.")).to_be_visible()
    for server, target in (("time", "opencode:user"), ("files", "claude-code:user")):
        expect(cell(page, server, target)).to_contain_text("Same")
        expect(tick(page, server, target)).to_have_attribute("aria-checked", "true")
    expect(tick(page, "notes", "gemini:user")).to_have_attribute("aria-checked", "false")
    assert {each: it.read(each) for each in before} == before
    toast(page, "Servers adopted: 4.").get_by_role("button", name="Undo").click()
    expect(cell(page, "time", "opencode:user")).to_contain_text("Foreign")
    assert {each["name"] for each in it.yard.get("/api/mcp/servers")} == {"data", "journal"}


def test_the_table_is_used_with_the_keyboard_alone(page: Page, it: Machine) -> None:
    tick(page, "data").focus()
    page.keyboard.press("Space")
    expect(cell(page, "data")).to_contain_text("Missing")
    expect(tick(page, "data")).to_be_focused()
    page.keyboard.press("Tab")
    expect(cell(page, "data").locator(".state")).to_be_focused()
    page.locator("#sync-preview").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#preview .diff")).to_be_visible()
    page.keyboard.press("Tab")
    page.locator("#apply").focus()
    page.keyboard.press("Enter")
    expect(cell(page, "data")).to_contain_text("Same")
    assert "mcp_servers.data" in it.read("codex")


def test_a_change_outside_shows_without_a_reload(page: Page, it: Machine) -> None:
    synced(page, "data")
    it.yard.client.patch("/api/mcp/servers/data", json={"args": ["-y", "@acme/files", "/other"]})
    body = {"assignments": [{"server": "journal", "target": "codex", "wanted": True}]}
    it.yard.client.put("/api/sync/assignments", json=body)
    expect(cell(page, "data")).to_contain_text("Differs")
    expect(tick(page, "journal")).to_have_attribute("aria-checked", "true")


def test_a_client_whose_file_cannot_be_read_keeps_no_other_from_its_servers(
    page: Page, it: Machine
) -> None:
    assign(page, "data", "gemini:user")
    it.lay(gemini='{"mcpServers": {')
    look_again(page)
    expect(page.locator("thead th", has_text="Gemini CLI")).to_contain_text("cannot be read")
    expect(page.locator("#clients .broken")).to_contain_text("settings.json:1")
    expect(cell(page, "data", "gemini:user").locator(".state")).to_have_count(0)
    assert violations(page) == []
    assign(page, "data")
    open_preview(page)
    apply(page)
    expect(cell(page, "data")).to_contain_text("Same")
    assert it.read("gemini") == '{"mcpServers": {'


def test_a_file_of_assignments_that_cannot_be_read_is_told_with_its_line(
    page: Page, it: Machine
) -> None:
    assignments(it).write_text("[targets.codex]\nonly = 5\n")
    look_again(page)
    notice = page.locator("#clients .notice.bad")
    expect(notice).to_contain_text("mcpyard.toml:2")
    expect(notice).to_contain_text("expected a list of names")
    assignments(it).write_text('[targets.codex]\nexcept = ["d*"]\n')
    look_again(page)
    locked = tick(page, "data")
    expect(locked).to_have_attribute("aria-disabled", "true")
    expect(locked).to_have_attribute("title", '"d*" under except leaves it out')


WORDS = {"zh-Hans": ("冲突", "预览更改"), "zh-Hant": ("衝突", "預覽變更")}


def test_the_table_and_its_dialogs_are_translated_and_have_no_barrier(
    page: Page, it: Machine
) -> None:
    in_conflict(page, it)
    for language, (conflict, preview) in WORDS.items():
        page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": language, "url": page.url}])
        page.reload()
        expect(cell(page, "journal")).to_contain_text(conflict)
        expect(page.locator("#sync-preview")).to_have_text(preview)
        assert violations(page) == []
        open_preview(page)
        expect(decision(page, "journal")).to_contain_text("在 Codex 中")
        expect(decision(page, "journal")).not_to_contain_text("sync")
        assert violations(page) == []


THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def test_no_barrier_and_nothing_cut_at_any_width(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    for width, theme in itertools.product((1280, 768, 390), THEMES):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 800})
        assert violations(page) == [], (width, theme)
        page.keyboard.press("Escape")
        assert violations(page) == [], (width, theme)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        state = cell(page, "journal").locator(".state")
        state.scroll_into_view_if_needed()
        box = state.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        open_preview(page)
    page.emulate_media(color_scheme="null", reduced_motion="null")


SHARED = """[servers.theirs]
command = "theirs"
[servers.other]
url = "https://other.example/mcp"
[targets.claude]
only = ["theirs"]
[targets.codex]
scope = "user"
only = ["other"]
"""


def test_a_file_of_a_project_decides_about_its_servers(
    visitor: Visitor,
    yards: Callable[..., Daemon],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, project = tmp_path / "person", tmp_path / "project"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text(CODEX)
    project.mkdir()
    (project / "mcpyard.toml").write_text(SHARED)
    monkeypatch.setenv("HOME", str(home))
    yard = yards("--project", project)
    page = visitor.visit(yard, TABLE)
    path = str(project / "mcpyard.toml")
    expect(page.locator("#project-file")).to_contain_text(path)
    theirs = tick(page, "theirs", "claude-code:project")
    expect(theirs).to_have_attribute("aria-checked", "true")
    expect(theirs).to_have_attribute("aria-disabled", "true")
    expect(theirs).to_have_attribute("title", f"decided by {path}")
    theirs.click(force=True)
    expect(theirs).to_have_attribute("aria-checked", "true")
    assert (project / "mcpyard.toml").read_text() == SHARED
    page.context.add_cookies([{"name": LANGUAGE_COOKIE, "value": "zh-Hans", "url": page.url}])
    page.reload()
    expect(theirs).to_have_attribute("title", f"由 {path} 决定")
    page.context.clear_cookies(name=LANGUAGE_COOKIE)
    page.reload()
    expect(cell(page, "other")).to_contain_text("Needs approval")
    assert violations(page) == []
    page.locator("#sync-approve").click()
    expect(page.locator("#dialog")).to_contain_text("https://other.example/mcp")
    page.locator("#confirm-approve").click()
    expect(cell(page, "other")).to_contain_text("Missing")
    open_preview(page)
    apply(page)
    expect(cell(page, "theirs", "claude-code:project")).to_contain_text("Same")
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"].keys() == {"theirs"}
    assert (home / ".codex" / "config.toml").read_text().startswith(CODEX)
