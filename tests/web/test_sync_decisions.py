"""What somebody else wrote, changed or deleted: left alone on the page unless decided."""

import shutil
from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from tests.clients.machine import FILES
from tests.web.machine import CODEX, Machine, Window, toast
from tests.web.sync_steps import (
    NOTES,
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


@pytest.mark.spec("F7.2")
def test_an_entry_of_somebody_else_is_shown_and_stays(page: Page, it: Machine) -> None:
    for server in ("docs", "notes"):
        expect(cell(page, server)).to_contain_text("Foreign")
        expect(tick(page, server)).to_have_count(0)
    it.yard.register("notes", NOTES, scope="user")
    look_again(page)
    expect(tick(page, "notes")).to_be_visible()
    assign(page, "notes")
    expect(cell(page, "notes")).to_contain_text("Foreign")
    assign(page, "data")
    open_preview(page)
    expect(decision(page, "notes")).to_contain_text("not written by a sync: left alone")
    apply(page)
    expect(cell(page, "data")).to_contain_text("Same")
    expect(cell(page, "notes")).to_contain_text("Foreign")
    assert it.read("codex").startswith(CODEX)


@pytest.mark.spec("F7.2")
def test_a_conflict_that_nobody_decides_stays(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    text = it.read("codex")
    expect(page.locator("#preview .quiet")).to_have_text("No changes yet.")
    apply(page)
    expect(cell(page, "journal")).to_contain_text("Conflict")
    assert it.read("codex") == text


@pytest.mark.spec("F7.2")
def test_theirs_is_kept_and_foreign_from_then_on(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    text = it.read("codex")
    decision(page, "journal").get_by_label("Keep theirs").check()
    apply(page)
    expect(cell(page, "journal")).to_contain_text("Foreign")
    assert it.read("codex") == text


@pytest.mark.spec("F7.2")
def test_ours_is_written_over_it_and_undone(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    text = it.read("codex")
    decision(page, "journal").get_by_label("Overwrite").check()
    expect(page.locator("#preview .add", has_text="--mine")).to_be_visible()
    apply(page)
    expect(cell(page, "journal")).to_contain_text("Same")
    assert it.read("codex") == text.replace("--theirs", "--mine")
    toast(page, "Files changed: 1.").last.get_by_role("button", name="Undo").click()
    expect(cell(page, "journal")).to_contain_text("Conflict")
    assert it.read("codex") == text


@pytest.mark.spec("F7.2")
def test_theirs_is_adopted_for_every_client(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    page.keyboard.press("Escape")
    assign(page, "journal", "gemini:user")
    open_preview(page)
    decision(page, "journal").get_by_label("Adopt theirs").check()
    expect(page.locator("#preview .change", has_text="stored by mcpyard")).to_be_visible()
    apply(page)
    for each in ("codex:user", "gemini:user"):
        expect(cell(page, "journal", each)).to_contain_text("Same")
    assert "--theirs" in it.read("gemini")
    assert it.yard.record("journal")["args"] == ["notes", "--theirs"]


@pytest.mark.spec("F7.2")
def test_what_was_deleted_outside_comes_back_only_if_somebody_says_so(
    page: Page, it: Machine
) -> None:
    synced(page, "journal")
    (it.home / FILES["codex"]).write_text(CODEX)
    look_again(page)
    expect(cell(page, "journal")).to_contain_text("Deleted outside")
    open_preview(page)
    apply(page)
    assert it.read("codex") == CODEX
    open_preview(page)
    decision(page, "journal").get_by_label("Write it again").check()
    expect(page.locator("#preview .add", has_text="journal")).to_be_visible()
    apply(page)
    expect(cell(page, "journal")).to_contain_text("Same")


def test_what_changed_since_the_preview_is_shown_again(page: Page, it: Machine) -> None:
    assign(page, "data")
    open_preview(page)
    expect(page.locator("#preview .diff")).to_be_visible()
    changed = CODEX.replace('args = ["notes"]', 'args = ["other"]')
    it.lay(codex=changed)
    page.locator("#apply").click()
    expect(page.locator("#preview .notice")).to_contain_text("Review it again")
    assert it.read("codex") == changed
    apply(page)
    expect(cell(page, "data")).to_contain_text("Same")


def test_a_client_that_is_known_from_documentation_only_is_confirmed(
    page: Page, it: Machine
) -> None:
    path = it.home / ".junie" / "mcp" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    look_again(page)
    assign(page, "data", "junie:user")
    open_preview(page)
    expect(page.locator("#preview [data-kind=unverified]")).to_contain_text("Junie")
    page.locator("#apply").click()
    expect(page.locator("#preview .notice")).to_contain_text("Confirm")
    assert path.read_text() == "{}"
    page.locator("[name=unverified]").check()
    apply(page)
    expect(cell(page, "data", "junie:user")).to_contain_text("Same")
    toast(page, "Files changed: 1.").last.get_by_role("button", name="Undo").click()
    expect(cell(page, "data", "junie:user")).to_contain_text("Missing")
    assert path.read_text() == "{}"
    shutil.rmtree(it.home / ".junie")


def test_a_cell_says_why_it_is_so(page: Page, it: Machine) -> None:
    in_conflict(page, it)
    page.keyboard.press("Escape")
    cell(page, "journal").locator(".state").click()
    dialog = page.locator("#dialog")
    expect(dialog).to_contain_text("changed in Codex since the last sync")
    expect(dialog).to_contain_text(str(it.home / FILES["codex"]))
    expect(dialog).to_contain_text(str(assignments(it)))
    assert violations(page) == []
