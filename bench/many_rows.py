"""The list of 1,000 servers in a real browser: painted, scrolled, searched and changed."""

import contextlib
import json
import statistics
import sys
from collections.abc import Generator
from pathlib import Path

from playwright.sync_api import Browser, Page

from bench.measuring import Figures
from bench.page_tasks import OBSERVE, longest_of
from tests.api.daemon import Daemon, daemon, one
from tests.web.browsing import Visitor

FEW = 50
MANY = 1_000
TOOLS = 5
LOADS = 9
PAINT = 1.5
LONGEST = 50.0
CHANGED = 20
"""Servers that run, and so have tools that are not remembered only."""

WHOLE = "#cards[data-whole]"
LIVE = "#live[data-state=live]"
FIRST_PAINT = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""
SCROLL = """async () => {
    const end = document.documentElement.scrollHeight;
    for (let at = 0; at < end; at += 700) {
        scrollTo(0, at);
        await new Promise(requestAnimationFrame);
    }
    scrollTo(0, 0);
}"""
SERVER = f"""
import json, sys
TOOLS = [
    {{"name": f"tool_{{number}}", "description": "Does it.", "inputSchema": {{"type": "object"}}}}
    for number in range({TOOLS})
]
RESULTS = {{
    "initialize": {{
        "protocolVersion": "2025-11-25",
        "capabilities": {{"tools": {{}}}},
        "serverInfo": {{"name": "many", "version": "1"}},
    }},
    "tools/list": {{"tools": TOOLS}},
    "ping": {{}},
}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = RESULTS[message["method"]]
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""


def many_rows(browser: Browser, folder: Path, figures: Figures) -> None:
    """Compare the first paint of few and of many in turn, then use the list of many."""
    with daemon(folder / "few") as few, daemon(folder / "many") as many:
        fill(few, FEW)
        fill(many, MANY)
        pages = {FEW: a_list(browser, few), MANY: a_list(browser, many)}
        paints: dict[int, list[float]] = {FEW: [], MANY: []}
        for _ in range(LOADS):
            for count, page in pages.items():
                paints[count].append(first_paint(page))
        middle = {count: statistics.median(each) for count, each in paints.items()}
        for count, paint in middle.items():
            figures.show(f"first paint, list of {count}", f"{paint:.0f} ms")
        figures.at_most(f"first paint of {MANY} beside {FEW}", middle[MANY] / middle[FEW], PAINT)
        use(pages[MANY], many, figures)
        for page in pages.values():
            page.context.close()


def fill(yard: Daemon, count: int) -> None:
    """Give a yard so many servers, all of whose tools are remembered."""
    definition = {
        "command": sys.executable,
        "args": ["-I", "-S", "-c", SERVER],
        "transport": "stdio",
    }
    servers = {f"server {number:04}": definition for number in range(count)}
    yard.post("/api/mcp/import", {"text": json.dumps({"mcpServers": servers})})
    names = [*servers]
    for start in range(0, count, CHANGED):
        batch = names[start : start + CHANGED]
        for name in batch:
            yard.post(one(name, "start?wait=0"))
        for name in batch:
            yard.until(name, lambda each: each["toolCount"] == TOOLS)
            if start + CHANGED < count:
                yard.post(one(name, "stop?wait=10"))


def a_list(browser: Browser, yard: Daemon) -> Page:
    page = Visitor(browser).visit(yard)
    url = yard.up.url
    page.context.add_cookies([{"name": "mcpyard_layout", "value": "list", "url": url}])
    return page


def first_paint(page: Page) -> float:
    """Milliseconds until something is seen, with the page's files in the browser's cache."""
    page.goto("/")
    page.wait_for_selector(LIVE)
    return page.evaluate(FIRST_PAINT)


def use(page: Page, yard: Daemon, figures: Figures) -> None:
    """Scroll, search and change; no task may be so long that somebody feels it."""
    with watched(page, figures, "loading"):
        page.goto("/")
        page.wait_for_selector(WHOLE)
    with watched(page, figures, "scrolling"):
        page.evaluate(SCROLL)
    with watched(page, figures, "searching"):
        page.locator("#search").press_sequentially("server 09", delay=100)
        page.locator("#search").fill("")
    with watched(page, figures, f"{CHANGED} servers changing at once"):
        for step in ("stop", "start"):
            for number in range(MANY - CHANGED, MANY):
                yard.post(one(f"server {number:04}", f"{step}?wait=0"))
            page.wait_for_timeout(1500)
    with watched(page, figures, "one coming, one going"):
        yard.client.delete(one("server 0500"))
        yard.register("a new one", {"command": "true", "transport": "stdio"})
        page.wait_for_selector('[data-name="a new one"]')


@contextlib.contextmanager
def watched(page: Page, figures: Figures, what: str) -> Generator[None]:
    """Hold the longest task of the block against the limit."""
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["toplevel"])
    page.evaluate(OBSERVE)
    yield
    page.wait_for_timeout(500)
    # A page that was loaded in the block has no observer yet; it is told of what was.
    if page.evaluate("() => !window.tasks"):
        page.evaluate(OBSERVE, arg=True)
        page.wait_for_timeout(100)
    longest = max(page.evaluate("() => window.tasks"), default=0.0)
    traced = json.loads(browser.stop_tracing())["traceEvents"]
    figures.at_most(f"longest task, list of {MANY}, {what}", longest, LONGEST, " ms")
    figures.show(f"of the processor, {what}", f"{longest_of(traced):.0f} ms")
