"""Fixes on red cards and findings: few clicks, shown before they are done, undone as any edit."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon
from tests.cli.commands import ECHO_SERVER, echo, write_project
from tests.web.browsing import Visitor, card, status_badge
from tests.web.machine import Machine, toast, undo
from tests.web.test_looks import LOOKS, violations

pytestmark = pytest.mark.real

VALUE = "ghp_a-value-that-nobody-may-read"
WITH_TOKEN = {**echo(), "env": {"GITHUB_TOKEN": "${GITHUB_TOKEN}"}}
MOST_CLICKS = 3


class Clicks:
    """Counts the clicks of a person."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.count = 0

    def on(self, button: str | re.Pattern[str]) -> None:
        self._page.get_by_role("button", name=button).click()
        self.count += 1


@pytest.mark.spec("F6.5")
def test_why_a_server_is_red_is_seen_and_an_unset_variable_set_in_three_clicks(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("github", WITH_TOKEN, scope="user", start=True)
    page = visitor.visit(yard)
    expect(status_badge(page, "github")).to_have_text("Failed")
    expect(card(page, "github")).to_contain_text("the variable GITHUB_TOKEN is not set")
    clicks = Clicks(page)
    clicks.on(re.compile("^Set GITHUB_TOKEN"))
    expect(page.locator("#dialog")).to_contain_text("Used by github")
    page.get_by_label("Value").fill(VALUE)
    clicks.on("Set and restart")
    expect(status_badge(page, "github")).to_have_text("Connected")
    assert clicks.count <= MOST_CLICKS
    assert VALUE not in page.content()
    assert VALUE not in str(yard.get("/api/secrets"))
    undo(page, "GITHUB_TOKEN is set")
    expect(status_badge(page, "github")).to_have_text("Failed")
    assert yard.get("/api/secrets") == []


def test_a_value_that_is_refused_is_told_beside_its_field(visitor: Visitor, yard: Daemon) -> None:
    yard.register("github", WITH_TOKEN, scope="user", start=True)
    page = visitor.visit(yard)
    page.get_by_role("button", name=re.compile("^Set GITHUB_TOKEN")).click()
    page.get_by_label("Value").fill("x" * 70_000)
    page.get_by_role("button", name="Set and restart").click()
    expect(page.locator("#dialog .problem")).to_contain_text("is longer than 65536 characters")
    visitor.forgive("422")


def test_a_projects_file_gets_a_stored_secret_only_after_consent(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path
) -> None:
    project = write_project(tmp_path / "project", shared=WITH_TOKEN)
    yard = yards("--project", project)
    yard.client.put("/api/secrets/GITHUB_TOKEN", json={"value": VALUE}).raise_for_status()
    page = visitor.visit(yard)
    expect(card(page, "shared")).to_contain_text("the variable GITHUB_TOKEN is not set")
    page.get_by_role("button", name=re.compile("^Allow GITHUB_TOKEN")).click()
    expect(page.locator("#dialog")).to_contain_text(str(project / ".mcp.json"))
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(status_badge(page, "shared")).to_have_text("Connected")
    undo(page, "GITHUB_TOKEN is allowed")
    expect(status_badge(page, "shared")).to_have_text("Failed")


def test_a_misspelled_command_is_replaced_by_the_nearest_one(
    visitor: Visitor, yards: Callable[..., Daemon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "mcp-echo-server"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {ECHO_SERVER}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    yard = yards()
    yard.register("echo", {"command": "mcp-eco-server"}, scope="user", start=True)
    page = visitor.visit(yard)
    page.get_by_role("button", name=re.compile("^Replace mcp-eco-server")).click()
    title = "Use mcp-echo-server instead of mcp-eco-server"
    expect(page.locator("#dialog")).to_contain_text(title)
    page.get_by_role("button", name="Use this command").click()
    expect(status_badge(page, "echo")).to_have_text("Connected")
    undo(page, "echo")
    expect(status_badge(page, "echo")).to_have_text("Failed")


@pytest.mark.spec("F6.5")
def test_a_file_with_a_secret_is_made_private(visitor: Visitor, it: Machine) -> None:
    secret = {"mcpServers": {"x": {"command": "a", "env": {"API_TOKEN": "a-secret-value-42"}}}}
    it.lay(claude=json.dumps(secret))
    path = it.home / ".claude.json"
    path.chmod(0o644)
    page = visitor.visit(it.yard, "/clients?show=checks")
    page.get_by_role("button", name=re.compile(f"^Make the file private.*{path.name}")).click()
    expect(page.locator("#dialog")).to_contain_text("+0600")
    expect(page.locator("#dialog figcaption")).to_have_text(str(path))
    page.get_by_role("button", name="Make private").click()
    expect(toast(page, "is private")).to_be_visible()
    assert path.stat().st_mode & 0o777 == 0o600
    undo(page, "is private")
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_reference_is_shown_in_clear_and_a_value_is_not(visitor: Visitor, yard: Daemon) -> None:
    env = {"GITHUB_TOKEN": "${GITHUB_TOKEN}", "AUTH": "Bearer ${T}", "KEY": "a-secret-value-42"}
    yard.register("github", {**echo(), "env": env}, scope="user")
    page = visitor.visit(yard)
    card(page, "github").locator("[data-act=edit]").click()
    values = page.locator("[name=env_value]:visible")
    expect(values).to_have_count(len(env))
    types = [values.nth(number).get_attribute("type") for number in range(len(env))]
    assert types == ["text", "text", "password"]
    assert values.nth(0).input_value() == "${GITHUB_TOKEN}"


@pytest.mark.parametrize(("theme", "locale"), LOOKS)
def test_the_dialogs_have_no_barrier_in_any_colours_and_language(
    visitor: Visitor, yard: Daemon, theme: str, locale: str
) -> None:
    yard.register("github", WITH_TOKEN, scope="user", start=True)
    yard.register("echo", {"command": "pythonn3"}, scope="user", start=True)
    page = visitor.visit(yard, color_scheme=theme, locale=locale)
    for kind in ("variable", "command"):
        page.click(f"[data-fix={kind}]")
        expect(page.locator("#dialog")).to_be_visible()
        assert violations(page) == [], kind
        page.keyboard.press("Escape")
        expect(page.locator("#dialog")).to_be_hidden()


def test_adding_and_deleting_a_server_is_undone_from_the_corner_of_the_page(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("kept", echo(), scope="user")
    page = visitor.visit(yard)
    card(page, "kept").locator("[data-act=delete]").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(card(page, "kept")).to_have_count(0)
    undo(page, "kept")
    expect(card(page, "kept")).to_be_visible()


def test_a_stored_secret_is_listed_in_the_settings_and_deleted_there(
    visitor: Visitor, yard: Daemon
) -> None:
    yard.register("github", WITH_TOKEN, scope="user", start=True)
    yard.client.put("/api/secrets/GITHUB_TOKEN", json={"value": VALUE}).raise_for_status()
    page = visitor.visit(yard, "/settings")
    secret = page.locator("section:has(#secrets-title) li", has_text="GITHUB_TOKEN")
    expect(secret).to_contain_text("Used by github")
    assert VALUE not in page.content()
    secret.get_by_role("button").click()
    assert violations(page) == []
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(secret).to_have_count(0)
    undo(page, "GITHUB_TOKEN is deleted")
    expect(secret).to_be_visible()
    yard.client.delete("/api/secrets/GITHUB_TOKEN").raise_for_status()
