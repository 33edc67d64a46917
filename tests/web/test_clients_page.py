"""The Clients screen: other programs' servers seen, changed, copied, and everything undone."""

import json
import tomllib
from collections.abc import Generator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.clients.machine import FILES
from tests.web.browsing import Visitor
from tests.web.machine import (
    CLAUDE,
    CODEX,
    GEMINI,
    OPENCODE,
    SAMPLES,
    Machine,
    Window,
    entry,
    toast,
    undo,
)

pytestmark = pytest.mark.real


@pytest.fixture
def visitor(open_window: Window) -> Visitor:
    return open_window.visitor


@pytest.fixture
def page(open_window: Window, it: Machine) -> Generator[Page]:
    del it
    yield from open_window.at("/clients")


def dialog(page: Page) -> Locator:
    return page.locator("#dialog")


def apply(page: Page) -> None:
    page.locator("#apply").click()
    expect(dialog(page)).to_be_hidden()


@pytest.mark.spec("E1.1")
def test_servers_stand_by_client_with_name_command_and_switch(page: Page, it: Machine) -> None:
    servers = {
        "claude-code": ("files", "npx -y @acme/files", "true"),
        "codex": ("notes", "uvx notes", "false"),
        "gemini": ("weather", "uvx weather", "true"),
        "opencode": ("time", "uvx time", "true"),
    }
    for client, (name, line, on) in servers.items():
        row = entry(page, client, name)
        expect(row.locator(".name")).to_have_text(name)
        expect(row.locator(".line")).to_have_text(line)
        expect(row.get_by_role("switch")).to_have_attribute("aria-checked", on)
    expect(page.locator("#program-codex h2")).to_contain_text("Codex")
    expect(page.locator("#program-codex .where")).to_contain_text(str(it.home / FILES["codex"]))
    off = entry(page, "codex", "notes")
    expect(off.locator(".status-badge")).to_have_text("Disabled")
    expect(off.locator(".reason")).to_have_text("is disabled in its entry")


@pytest.mark.spec("E1.2")
def test_a_click_on_a_server_shows_command_args_env_and_url(page: Page) -> None:
    entry(page, "claude-code", "files").locator(".name").click()
    details = dialog(page).locator(".said")
    expect(details).to_contain_text("npx")
    expect(details).to_contain_text(".claude.json:4")
    expect(details.locator(".arg")).to_have_text(
        ["-y", "@acme/files", "API_KEY = ••••••", "MODE = ${MODE}"]
    )
    assert "a-secret-value" not in page.content()
    page.keyboard.press("Escape")
    entry(page, "codex", "docs").locator(".name").click()
    expect(details).to_contain_text("https://docs.example.com/mcp")
    expect(details).to_contain_text("DOCS_TOKEN")
    page.keyboard.press("Escape")
    entry(page, "codex", "notes").locator(".name").click()
    expect(dialog(page)).to_contain_text("is disabled in its entry")
    expect(details).to_contain_text("config.toml:11")


EDITS = [
    ("claude-code", "claude", "files", '"command": "npx"', '"command": "bunx"'),
    ("codex", "codex", "notes", 'command = "uvx"', 'command = "bunx"'),
    ("gemini", "gemini", "weather", '"command": "uvx"', '"command": "bunx"'),
    ("opencode", "opencode", "time", '["uvx", "time"]', '["bunx", "time"]'),
]


@pytest.mark.spec("E2.1")
def test_an_edit_is_previewed_saved_in_the_clients_own_format_and_undone(
    page: Page, it: Machine
) -> None:
    for client, word, name, old, new in EDITS:
        text = SAMPLES[word]
        entry(page, client, name).get_by_role("button", name="Edit").click()
        expect(page.locator("#preview")).to_contain_text("No changes yet.")
        page.get_by_label("Command", exact=True).fill("bunx")
        expect(page.locator("#preview .add")).to_contain_text(new)
        assert it.read(word) == text
        apply(page)
        expect(entry(page, client, name).locator(".line")).to_contain_text("bunx")
        assert it.read(word) == text.replace(old, new)
        toast(page, f"{name} was updated").get_by_role("button", name="Undo").click()
        expect(entry(page, client, name).locator(".line")).not_to_contain_text("bunx")
        assert it.read(word) == text


@pytest.mark.spec("E2.2")
def test_the_switch_updates_the_entrys_own_field_at_once(page: Page, it: Machine) -> None:
    switch = entry(page, "codex", "notes").get_by_role("switch")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(switch).to_be_focused()
    assert it.read("codex") == CODEX.replace("enabled = false", "enabled = true")
    undo(page, "notes was enabled")
    expect(switch).to_have_attribute("aria-checked", "false")
    assert it.read("codex") == CODEX


@pytest.mark.spec("E2.2")
def test_a_switch_that_is_kept_elsewhere_says_where_before_anything_changes(
    page: Page, it: Machine
) -> None:
    elsewhere = it.home / ".gemini" / "mcp-server-enablement.json"
    entry(page, "gemini", "weather").get_by_role("switch").click()
    notice = dialog(page).locator(".warned li[data-kind=relocated]")
    expect(notice).to_contain_text(elsewhere.name)
    assert not elsewhere.exists()
    apply(page)
    expect(entry(page, "gemini", "weather").locator(".status-badge")).to_have_text("Disabled")
    assert elsewhere.exists()
    assert it.read("gemini") == GEMINI
    undo(page, "weather was disabled")
    expect(entry(page, "gemini", "weather").get_by_role("switch")).to_have_attribute(
        "aria-checked", "true"
    )
    assert not elsewhere.exists()


@pytest.mark.spec("E3.1")
def test_a_server_dragged_from_claude_to_codex_is_previewed_copied_and_undone(
    page: Page, it: Machine
) -> None:
    entry(page, "claude-code", "files").drag_to(page.locator('[data-drop="opencode:user"]'))
    expect(page.get_by_label("To", exact=True)).to_have_value("opencode:user")
    page.keyboard.press("Escape")
    entry(page, "claude-code", "files").drag_to(page.locator('[data-drop="codex:user"]'))
    expect(page.get_by_label("To", exact=True)).to_have_value("codex:user")
    expect(page.locator("#preview .diff")).to_contain_text("[mcp_servers.files.env]")
    assert "a-secret-value" not in page.content()
    assert it.read("codex") == CODEX
    apply(page)
    expect(entry(page, "codex", "files").locator(".line")).to_have_text("npx -y @acme/files")
    assert it.read("codex").startswith(CODEX)
    assert tomllib.loads(it.read("codex"))["mcp_servers"]["files"] == {
        "command": "npx",
        "args": ["-y", "@acme/files"],
        "env_vars": ["MODE"],
        "env": {"API_KEY": "a-secret-value"},
    }
    undo(page, "files was copied")
    expect(entry(page, "codex", "files")).to_have_count(0)
    assert it.read("codex") == CODEX
    assert it.read("claude") == CLAUDE


def test_the_drag_has_a_twin_on_the_keyboard(page: Page, it: Machine) -> None:
    page.keyboard.press("j")
    expect(entry(page, "claude-code", "files")).to_be_focused()
    page.keyboard.press("c")
    expect(page.get_by_label("To", exact=True)).to_be_focused()
    page.keyboard.type("OpenCode")
    expect(page.locator("#preview .diff")).to_contain_text('"environment"')
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog(page)).to_be_hidden()
    expect(entry(page, "opencode", "files")).to_be_visible()
    toast(page, "files was copied").get_by_role("button", name="Undo").press("Enter")
    expect(entry(page, "opencode", "files")).to_have_count(0)
    assert it.read("opencode") == OPENCODE


@pytest.mark.spec("E3.3")
def test_what_the_target_cannot_hold_is_warned_of_and_the_copy_completes(
    page: Page, it: Machine
) -> None:
    entry(page, "codex", "docs").get_by_role("button", name="Copy").click()
    page.get_by_label("To", exact=True).select_option("opencode:user")
    page.get_by_label("Basic").check()
    warned = page.locator("#preview .warned li[data-kind=unsupported]")
    expect(warned).to_contain_text("bearer_token_env_var")
    page.get_by_label("Full").check()
    expect(page.locator("#preview .warned li[data-kind=translated]")).to_be_visible()
    page.get_by_label("Basic").check()
    expect(warned).to_be_visible()
    apply(page)
    expect(toast(page, "docs was copied")).to_be_visible()
    expect(entry(page, "opencode", "docs")).to_be_visible()
    plain = it.read("opencode").replace("// hello", "").replace("},\n  },\n}", "}}}")
    assert "DOCS_TOKEN" not in plain
    assert "https://docs.example.com/mcp" in plain


def test_a_name_that_is_taken_is_told_in_the_preview_and_can_be_replaced(
    page: Page, it: Machine
) -> None:
    it.lay(opencode='{"mcp": {"files": {"type": "local", "command": ["old"]}}}')
    entry(page, "claude-code", "files").get_by_role("button", name="Copy").click()
    page.get_by_label("To", exact=True).select_option("opencode:user")
    expect(page.locator("#preview .notice.bad")).to_contain_text("already")
    page.get_by_label("Replace").check()
    expect(page.locator("#preview .add").first).to_contain_text("npx")
    apply(page)
    expect(toast(page, "files was copied")).to_be_visible()
    assert json.loads(it.read("opencode"))["mcp"]["files"]["command"][0] == "npx"


def test_what_changed_since_it_was_shown_is_shown_again_before_it_is_done(
    page: Page, it: Machine
) -> None:
    entry(page, "claude-code", "files").get_by_role("button", name="Copy").click()
    expect(page.get_by_label("To", exact=True)).to_have_value("codex:user")
    expect(page.locator("#preview .diff")).to_contain_text("mcp_servers.files")
    changed = CODEX.replace('args = ["notes"]', 'args = ["other"]')
    it.lay(codex=changed)
    page.locator("#apply").click()
    expect(page.locator("#preview .notice")).to_contain_text("Review it again")
    assert it.read("codex") == changed
    apply(page)
    expect(entry(page, "codex", "files")).to_be_visible()
    assert it.read("codex").startswith(changed)


def test_the_table_has_a_plus_for_what_mcpyard_does_not_have(page: Page, it: Machine) -> None:
    page.goto("/clients?show=table")
    page.get_by_role("button", name="Copy notes to mcpyard").click()
    expect(page.locator("#preview .diff")).to_contain_text('"notes"')
    apply(page)
    expect(page.locator("tbody tr", has_text="notes").locator(".source-cell")).to_have_text(
        "Disabled"
    )
    undo(page, "notes was copied")
    assert it.read("codex") == CODEX


def test_a_removal_is_shown_first_and_can_be_undone_from_the_list_of_edits(
    page: Page, it: Machine
) -> None:
    entry(page, "opencode", "time").get_by_role("button", name="Delete").click()
    expect(page.locator("#preview .cut", has_text='"time"')).to_be_visible()
    apply(page)
    expect(entry(page, "opencode", "time")).to_have_count(0)
    page.get_by_role("link", name="Edits").click()
    newest = page.locator(".edits tbody tr").first
    expect(newest).to_contain_text("removal")
    expect(newest.locator(".which")).to_have_text("time")
    newest.get_by_role("button", name="Undo").click()
    expect(dialog(page)).to_contain_text("Undo: removal of time?")
    expect(page.locator("#preview .add", has_text='"time"')).to_be_visible()
    assert it.read("opencode") != OPENCODE
    apply(page)
    expect(newest).to_contain_text("undone")
    assert it.read("opencode") == OPENCODE


def test_an_edit_is_not_undone_over_what_somebody_wrote_since(
    visitor: Visitor, page: Page, it: Machine
) -> None:
    entry(page, "codex", "notes").get_by_role("switch").click()
    expect(toast(page, "notes was enabled")).to_be_visible()
    it.lay(
        codex="# mine again\n"
        + CODEX.replace("[mcp_servers.notes]", '[mcp_servers.notes]\ncwd = "/x"')
    )
    toast(page, "notes was enabled").get_by_role("button", name="Undo").click()
    expect(page.locator("#notices .notice.bad")).to_contain_text("changed since the edit")
    assert it.read("codex").startswith("# mine again")
    visitor.expect("409")


def test_what_changes_in_a_file_shows_without_a_reload(page: Page, it: Machine) -> None:
    expect(entry(page, "gemini", "weather")).to_be_visible()
    it.lay(gemini='{"mcpServers": {', codex=CODEX.replace("notes]", "fresh]"))
    expect(entry(page, "codex", "fresh")).to_be_visible()
    expect(entry(page, "gemini", "weather")).to_have_count(0)
    expect(page.locator("#program-gemini .broken")).to_contain_text("settings.json:1")


def test_findings_and_differences_between_clients_are_told(page: Page, it: Machine) -> None:
    it.lay(gemini=GEMINI.replace("weather", "files"))
    page.goto("/clients?show=checks")
    finding = page.locator(".findings li", has_text="API_KEY").first
    expect(finding).to_contain_text(".claude.json:7")
    drift = page.locator(".drift", has_text="files")
    expect(drift).to_contain_text("claude-code:user")
    expect(drift).to_contain_text("gemini:user")


def test_hostile_names_and_values_are_shown_and_do_nothing(
    visitor: Visitor, page: Page, it: Machine
) -> None:
    name = "<img src=x onerror=alert(1)>\"'& " + "long" * 50
    value = "<script>alert(2)</script>\u202egnp.exe"
    it.lay(opencode=json.dumps({"mcp": {name: {"type": "local", "command": [value]}}}))
    page.set_viewport_size({"width": 320, "height": 700})
    page.reload()
    page.on("dialog", lambda box: visitor.browser_errors.append(f"a script ran: {box.message}"))
    row = page.locator("#program-opencode .entry")
    expect(row.locator(".name")).to_contain_text("<img src=x")
    expect(row.locator(".line")).to_contain_text("<script>alert(2)</script>\ufffdgnp.exe")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    for button in ("Edit", "Copy", "Delete"):
        row.get_by_role("button", name=button).click()
        expect(page.locator("#preview > :not(input)").first).to_be_visible()
        page.keyboard.press("Escape")
    row.locator(".name").click()
    expect(dialog(page).locator(".said")).to_contain_text("<script>alert(2)</script>")
    page.goto("/clients?show=table")
    expect(page.locator("tbody .name", has_text="<img src=x")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
