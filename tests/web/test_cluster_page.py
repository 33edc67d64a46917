"""The page of a node changes the cluster, with previews, and tells what happened."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon
from tests.cli.commands import echo, write_project
from tests.cluster.nodes import ClusterOfNodes, RunningNode, cluster_of, place_on
from tests.web.browsing import Visitor, card
from tests.web.test_nodes_panel import check
from tests.web.test_translated import untranslated

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

NO_LABELS = "the labels that it requires are missing there"
SIZES = {1280: 800, 390: 800}
SHOTS = os.environ.get("SCREENSHOTS", "")


def dialog(page: Page) -> Page:
    expect(page.locator("#dialog[open]")).to_be_visible()
    return page


def look(page: Page, name: str) -> None:
    """No barrier and nothing too wide in any window; keep a picture where that is asked for."""
    for width, height in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        check(page, width)
        if SHOTS:
            page.screenshot(path=f"{SHOTS}/{name}-{width}.png", full_page=True)
    page.set_viewport_size({"width": 1280, "height": 800})


def test_servers_are_moved_and_nodes_drained_and_forgotten_on_the_page(
    visitor: Visitor, tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1") as cluster:
        first = cluster.nodes["n1"]
        files = write_project(tmp_path / "project", notes=echo())
        labels = ("--label", "gpu=yes", "--capacity", "5")
        second = cluster.start("n2", *labels, "--project", files)
        first.register("model", echo(), labels={"gpu": "yes"})
        first.register("search", echo())
        first.register("single", echo(), singleton=True)
        place_on(cluster, "n1", "search")
        place_on(cluster, "n2", "model", "single")
        page = visitor.visit(Daemon(first.up, first.client))
        expect(page.locator("#node-n2")).to_contain_text("Of its own files and environment: notes")
        move(page)
        drain(page, visitor, first)
        until_placed(first, {"model": "n2", "search": "n1", "single": "n1"})
        calls(page, first, second)
        die(page, cluster, first)
        visitor.close()


def move(page: Page) -> None:
    """Move a server by keyboard, after a look at what happens to its calls."""
    expect(card(page, "model").locator(".placed")).to_contain_text("only nodes with gpu=yes")
    card(page, "search").get_by_role("button", name="Move: search").press("Enter")
    dialog(page)
    expect(page.locator("#preview")).to_contain_text("Starts on the new node first")
    expect(page.locator("#preview .moves")).to_contain_text("n1 → n2")
    look(page, "move")
    page.locator("#confirm-move").press("Enter")
    expect(page.locator("#dialog[open]")).to_have_count(0)
    expect(card(page, "search").locator(".placed")).to_contain_text("on n2 · moved from n1")
    expect(page.locator(".happened")).to_contain_text("Moved from n1 to n2: search")
    card(page, "search").get_by_role("link").first.click()
    expect(page.locator(".head .placed")).to_contain_text("on n2 · moved from n1")
    page.goto("/")


def drain(page: Page, visitor: Visitor, first: RunningNode) -> None:
    """Drain a node whose servers go elsewhere in their own ways, or nowhere."""
    chinese = visitor.visit(Daemon(first.up, first.client), locale="zh-TW")
    chinese.locator("#drain-node-n2").click()
    expect(chinese.locator("#preview .moves li")).to_have_count(3)
    assert untranslated(chinese) == []
    chinese.context.close()
    page.locator("#drain-node-n2").click()
    dialog(page)
    preview = page.locator("#preview")
    expect(preview.locator(".moves").nth(0)).to_contain_text("search")
    expect(preview.locator(".moves").nth(1)).to_contain_text("single")
    expect(preview.locator(".moves").nth(2)).to_contain_text("model")
    expect(preview.locator(".obstacle")).to_have_text(NO_LABELS)
    look(page, "drain")
    page.keyboard.press("Escape")
    expect(page.locator("#dialog[open]")).to_have_count(0)
    expect(page.locator("#node-n2")).to_have_attribute("data-state", "up")
    page.locator("#drain-node-n2").click()
    page.locator("#confirm-drain").click()
    expect(page.locator("#node-n2")).to_have_attribute("data-state", "draining")
    expect(card(page, "single").locator(".placed")).to_contain_text("on n1 · n2 was drained")
    expect(page.locator(".happened")).to_contain_text("n2 is drained")
    look(page, "nodes")


def until_placed(node: RunningNode, places: dict[str, str]) -> None:
    for server, name in places.items():
        node.until_connected(server, name)


def calls(page: Page, first: RunningNode, second: RunningNode) -> None:
    """The calls of both nodes are in one list."""
    assert first.text_of("search", "here") == "here"
    assert second.text_of("search", "there") == "there"
    page.goto("/activity")
    rows = page.locator("#calls-rows tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0).locator("td").last).to_have_text("n2")
    expect(rows.nth(1).locator("td").last).to_have_text("n1")
    assert second.text_of("search", "again") == "again"
    expect(rows).to_have_count(3)
    expect(page.locator("#cluster-events")).to_contain_text("n2 is drained")
    look(page, "activity")


def die(page: Page, cluster: ClusterOfNodes, first: RunningNode) -> None:
    """A node that is killed is named where its calls are missing, and can be forgotten then."""
    cluster.nodes["n2"].kill()
    expect(page.locator("#calls .notice")).to_contain_text("Calls made at n2 are missing")
    expect(page.locator("#calls-rows tr")).to_have_count(1)
    page.goto("/")
    expect(page.locator("#node-n2")).to_have_attribute("data-state", "left")
    expect(page.locator(".happened")).to_contain_text("n2 stopped responding; n1 took over")
    expect(page.locator(".happened")).to_contain_text("No node can run: model")
    events = first.get("/api/cluster?events=1")["events"]
    assert "lost" in {each["kind"] for each in events}
    look(page, "taken-over")
    page.locator("#forget-node-n2").click()
    dialog(page)
    look(page, "forget")
    page.locator("#confirm-forget").click()
    expect(page.locator("#node-n2")).to_have_count(0)
    expect(page.locator(".happened")).to_contain_text("n2 was removed")
