"""The charts: drawn from what the API says, written as text beside, and only where they are."""

import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Response, expect

from tests.api.daemon import Daemon, daemon
from tests.cli.commands import echo
from tests.web.browsing import Visitor
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

WITHOUT_CHARTS = 150_000


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard with a few calls, some of which failed."""
    with daemon(tmp_path_factory.mktemp("called") / "home") as up:
        up.register("mine", echo(), start=True)
        up.register("idle", echo())
        up.until("mine", lambda each: each["status"] == "connected")
        for tool in ("echo", "echo", "echo", "fail"):
            up.post(f"/api/mcp/servers/mine/tools/{tool}/call", {"arguments": {"text": "x"}})
        up.post("/api/profiles", {"name": "few", "servers": ["mine"]}, 201)
        yield up


def chart(page: Page, kind: str) -> Any:  # noqa: ANN401  a locator
    return page.locator(f'[data-chart="{kind}"]')


@pytest.mark.spec("F6.4")
@pytest.mark.parametrize(("scheme", "locale"), [("light", "en"), ("dark", "zh-CN")])
def test_activity_has_charts_of_all_calls_and_says_the_same_as_text(
    visitor: Visitor, called: Daemon, scheme: str, locale: str
) -> None:
    page = visitor.visit(called, "/activity", color_scheme=scheme, locale=locale)
    for each in ("15m", "1h", "24h", "7d"):
        with page.expect_response(f"**/charts/calls?range={each}*"):
            page.locator(f"[name=chart-range][value='{each}']").check(force=True)
        expect(chart(page, "calls").locator("canvas")).to_be_visible()
        expect(chart(page, "latency").locator("canvas")).to_be_visible()
        expect(chart(page, "calls").locator("[data-text]")).to_contain_text("4")
        expect(chart(page, "latency").locator("[data-text]")).to_have_text(re.compile("p50 .*ms"))
        assert violations(page) == [], each
    chart(page, "calls").locator("summary").click()
    row = chart(page, "calls").locator(".chart-table tbody tr").first
    expect(row.locator("td")).to_have_count(2)
    assert violations(page) == []


@pytest.mark.spec("F6.4")
def test_a_server_has_charts_of_its_own_and_none_without_calls(
    visitor: Visitor, called: Daemon
) -> None:
    page = visitor.visit(called, f"/servers/{called.record('mine')['id']}?show=calls")
    expect(chart(page, "calls").locator("[data-text]")).to_contain_text("Calls: 4")
    expect(chart(page, "memory")).to_be_visible()
    expect(chart(page, "cpu")).to_be_visible()
    page.goto(f"/servers/{called.record('idle')['id']}?show=calls")
    expect(chart(page, "calls").locator("[data-text]")).to_have_text("No calls in this time range.")
    expect(chart(page, "memory").locator("[data-text]")).to_have_text(
        "No samples in this time range."
    )
    expect(page.locator("canvas")).to_have_count(0)


@pytest.mark.spec("F6.4")
def test_the_tokens_of_tool_lists_are_bars(visitor: Visitor, called: Daemon) -> None:
    page = visitor.visit(called, "/activity")
    page.get_by_text("Estimated tokens of the tool lists").click()
    bars = page.locator(".bars")
    expect(bars.filter(has_text="By server").locator("th", has_text="mine")).to_be_visible()
    expect(bars.filter(has_text="By profile").locator("th", has_text="few")).to_be_visible()
    assert violations(page) == []


def test_a_page_without_charts_loads_nothing_of_them_and_stays_small(
    visitor: Visitor, called: Daemon
) -> None:
    page = visitor.visit(called)
    for path in ("/", "/tools", "/clients", "/settings"):
        answers: list[Response] = []

        def note(answer: Response, answers: list[Response] = answers) -> None:
            answers.append(answer)

        page.on("response", note)
        page.goto(path, wait_until="load")
        page.remove_listener("response", note)
        files = [each for each in answers if "/ui/" not in each.url]
        assert [each.url for each in files if "uPlot" in each.url or "chart" in each.url] == []
        sizes = [each.request.sizes() for each in files]
        sent = sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes)
        assert sent < WITHOUT_CHARTS, path


def test_the_last_week_survives_a_restart(visitor: Visitor, tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as yard:
        yard.register("mine", echo(), start=True)
        yard.post("/api/mcp/servers/mine/tools/echo/call", {"arguments": {"text": "x"}})
        assert len(yard.get("/api/mcp/calls")["calls"]) == 1
    with daemon(tmp_path / "home") as yard:
        page = visitor.visit(yard, "/activity")
        page.locator("[name=chart-range][value='7d']").check()
        expect(chart(page, "calls").locator("[data-text]")).to_contain_text("Calls: 1")
        visitor.close()
