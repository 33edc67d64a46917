"""Steps on the table of servers and clients, for the tests of a sync."""

import tomllib
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.clients.machine import FILES
from tests.web.machine import SAMPLES, Machine

TABLE = "/clients?show=table"
NOTES: dict[str, object] = {"command": "uvx", "args": ["notes", "--mine"], "transport": "stdio"}
FILES_SERVER: dict[str, object] = {
    "command": "npx",
    "args": ["-y", "@acme/files", "/data"],
    "transport": "stdio",
}


def reset(machine: Machine) -> Machine:
    """The machine with its files as they were, two servers in mcpyard, and nothing assigned."""
    machine.lay()
    # What is neither wanted nor there is no longer remembered as written.
    assignments(machine).write_text("".join(f"[targets.{it}]\nonly = []\n" for it in SAMPLES))
    machine.yard.post("/api/sync/apply", {})
    assignments(machine).unlink()
    for each in machine.yard.get("/api/mcp/servers?tools=0"):
        machine.yard.client.delete(f"/api/mcp/servers/{each['id']}")
    machine.yard.register("data", FILES_SERVER, scope="user")
    machine.yard.register("journal", NOTES, scope="user")
    return machine


def assignments(machine: Machine) -> Path:
    """The file that ticks change."""
    return machine.home.parent / "home" / "mcpyard.toml"


def targets(machine: Machine) -> dict[str, Any]:
    return tomllib.loads(assignments(machine).read_text())["targets"]


def cell(page: Page, server: str, target: str = "codex:user") -> Locator:
    return page.locator(f'td[data-server="{server}"][data-target="{target}"]')


def tick(page: Page, server: str, target: str = "codex:user") -> Locator:
    return cell(page, server, target).get_by_role("checkbox")


def assign(page: Page, server: str, target: str = "codex:user") -> None:
    tick(page, server, target).click()
    expect(tick(page, server, target)).to_have_attribute("aria-checked", "true")


def decision(page: Page, server: str, target: str = "codex:user") -> Locator:
    return page.locator(f'.decision[data-server="{server}"][data-target="{target}"]')


def open_preview(page: Page) -> None:
    page.locator("#sync-preview").click()
    expect(page.locator("#preview > :not(input)").first).to_be_visible()


def apply(page: Page) -> None:
    page.locator("#apply").click()
    expect(page.locator("#dialog")).to_be_hidden()


def synced(page: Page, *servers: str) -> None:
    """Assign servers to Codex, and apply that."""
    for each in servers:
        assign(page, each)
    open_preview(page)
    apply(page)
    for each in servers:
        expect(cell(page, each)).to_contain_text("Same")


def look_again(page: Page) -> None:
    """Let the page look at the files now, as it does every few seconds."""
    page.evaluate("() => document.dispatchEvent(new Event('clientschanged'))")


def in_conflict(page: Page, it: Machine) -> None:
    """Let an entry that a sync wrote be changed outside."""
    synced(page, "journal")
    path = it.home / FILES["codex"]
    path.write_text(path.read_text().replace('"--mine"', '"--theirs"'))
    look_again(page)
    expect(cell(page, "journal")).to_contain_text("Conflict")
    page.locator("#sync-preview").click()
    expect(decision(page, "journal")).to_contain_text("changed in Codex since the last sync")
    expect(decision(page, "journal").locator("td")).to_have_text(["notes --mine", "notes --theirs"])
