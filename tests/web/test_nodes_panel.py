"""The page of a node shows the nodes of its cluster, and where each server runs."""

import itertools
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon
from tests.cli.commands import echo
from tests.cluster.nodes import cluster_of
from tests.postgres import Postgres, running
from tests.web.browsing import Visitor, card
from tests.web.test_looks import violations
from tests.web.test_translated import untranslated

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

AWAY = "The database of the cluster cannot be reached"
LOOKS = [*itertools.product((1280, 390), ("light", "dark"))]


def check(page: Page, width: int) -> None:
    """No barrier, and nothing wider than the window."""
    assert violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_nodes_and_the_absence_of_the_database_are_shown(visitor: Visitor, tmp_path: Path) -> None:
    with running(durable=True) as postgres:
        dsn = postgres.dsn(postgres.new_database())
        with cluster_of(tmp_path / "cluster", dsn, "n1") as cluster:
            first = cluster.nodes["n1"]
            cluster.start("n2", "--label", "gpu=yes", "--label", "region=eu-central")
            first.register("files", echo(), labels={"gpu": "yes"})
            first.register("search", echo())
            for name in ("files", "search"):
                first.until_connected(name)
            look(visitor, Daemon(first.up, first.client), postgres)


def look(visitor: Visitor, yard: Daemon, postgres: Postgres) -> None:
    """Look at a node at every width and in all colours, with the database and without."""
    page = visitor.visit(yard, locale="zh-CN")
    expect(page.locator("#nodes .nodes li")).to_have_count(2)
    assert untranslated(page) == []
    visitor.close()
    # A sign-in is a change: there is none without the database.
    pages: list[tuple[Page, int]] = []
    for width, theme in LOOKS:
        view = {"width": width, "height": 800}
        page = visitor.visit(yard, viewport=view, color_scheme=theme)
        pages.append((page, width))
        expect(page.locator("#nodes .nodes li")).to_have_count(2)
        expect(page.locator("#node-n1")).to_contain_text("(this one)")
        expect(page.locator("#node-n2")).to_contain_text("gpu=yes")
        expect(card(page, "files")).to_contain_text("on n2")
        expect(page.locator("#nodes .lost")).to_have_count(0)
        check(page, width)
    postgres.kill()
    for page, width in pages:
        expect(page.locator("#nodes .lost")).to_contain_text(AWAY)
        check(page, width)
    visitor.close()
