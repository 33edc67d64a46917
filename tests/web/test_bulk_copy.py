"""Several servers copied to a client at once: shown first, one edit, undone as one."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from tests.cli.commands import echo
from tests.web.machine import Machine, Window, toast, undo

pytestmark = pytest.mark.real


@pytest.fixture
def page(it: Machine, open_window: Window) -> Generator[Page]:
    del it
    yield from open_window.at("/")


def test_selected_servers_are_copied_to_a_client_and_taken_back_together(
    it: Machine, page: Page
) -> None:
    before = it.read("codex")
    for name in ("first", "second", "docs"):
        it.yard.register(name, echo(), scope="user")
        page.get_by_label(f"Select {name}").check()
    page.get_by_role("toolbar").get_by_role("button", name="Copy to client").click()
    dialog = page.get_by_role("dialog", name="Copy selected servers (3)")
    dialog.get_by_label("To", exact=True).select_option("codex:user")
    expect(dialog.locator(".diff .add", has_text="mcp_servers.first")).to_be_visible()
    expect(dialog.locator(".notice.bad")).to_contain_text("docs: ")
    dialog.get_by_role("button", name="Apply").click()
    expect(toast(page, "Copied: first, second")).to_be_visible()
    assert "[mcp_servers.first]" in it.read("codex")
    assert "[mcp_servers.second]" in it.read("codex")
    undo(page, "Copied: first, second")
    assert it.read("codex") == before
    for name in ("first", "second", "docs"):
        it.yard.client.delete(f"/api/mcp/servers/{name}")
