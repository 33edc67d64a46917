"""The page under load, in a real browser: `python -m bench.page [SECONDS]`.

200 cards with 20 status changes a second, a log at 2,000 lines a second, and a list of 1,000
servers with 5,000 tools beside one of 50. What counts is the longest task of the page's thread:
while one runs, the page answers to nothing. Beside it stands what the longest one took of the
processor, which does not depend on who else uses the machine.
"""

import json
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from bench.many_rows import many_rows
from bench.measuring import Figures
from bench.page_tasks import OBSERVE, longest_of
from tests.api.daemon import Daemon, daemon, one
from tests.cli.commands import echo
from tests.web.browsing import Visitor

CARDS = 200
CHANGES = 20
LINES = 2_000
LONGEST = 100.0
KEPT = 2_000
A_CYCLE = 4
"""Changes that a stop and a start make: stopping, stopped, connecting, connected."""

FLOOD = f"""
import sys, threading
pause = threading.Event()
number = 0
while not pause.wait(0.05):
    for _ in range({LINES} // 20):
        number += 1
        sys.stderr.write(f"line {{number}} of a server that has a lot to say about what it does\\n")
    sys.stderr.flush()
"""


def watch_tasks(page: Page, seconds: float, what: str, figures: Figures) -> None:
    """Look at the tasks of a page for a while, and tell of the longest."""
    browser = page.context.browser
    assert browser
    page.evaluate(OBSERVE)
    browser.start_tracing(page=page, categories=["toplevel"])
    page.wait_for_timeout(seconds * 1000)
    traced = json.loads(browser.stop_tracing())["traceEvents"]
    longest = max(page.evaluate("() => window.tasks"), default=0.0)
    figures.at_most(f"longest task, {what}", longest, LONGEST, " ms")
    figures.show(f"of the processor, {what}", f"{longest_of(traced):.0f} ms")


def keep_changing(yard: Daemon, names: list[str], over: threading.Event) -> None:
    """Stop and start servers in turn, at the pace that gives the changes."""
    pace = A_CYCLE / CHANGES
    while not over.is_set():
        for name in names:
            for step in ("stop", "start"):
                yard.client.post(one(name, step), params={"wait": "0"})
                over.wait(pace / 2)


def many_cards(browser: Browser, yard: Daemon, seconds: float, figures: Figures) -> None:
    for number in range(CARDS):
        yard.register(f"server {number:03}", echo(), start=number < A_CYCLE)
    page = Visitor(browser).visit(yard)
    page.wait_for_selector("#live[data-state=live]")
    page.evaluate(
        "() => { window.news = 0; addEventListener('htmx:sse:after:message', () => news++); }"
    )
    over = threading.Event()
    names = [f"server {number:03}" for number in range(A_CYCLE)]
    worker = threading.Thread(target=keep_changing, args=(yard, names, over))
    worker.start()
    watch_tasks(page, seconds, f"{CARDS} cards changing", figures)
    figures.show("updates pushed a second", f"{page.evaluate('() => window.news') / seconds:.1f}")
    over.set()
    worker.join()
    page.context.close()


def long_log(browser: Browser, yard: Daemon, seconds: float, figures: Figures) -> None:
    talker: dict[str, object] = {
        "command": sys.executable,
        "args": ["-c", FLOOD],
        "transport": "stdio",
    }
    yard.register("talker", talker, startTimeout=600_000)
    yard.post(one("talker", "start?wait=0"))
    page = Visitor(browser).visit(yard, f"/servers/{yard.record('talker')['id']}?show=log")
    page.wait_for_selector("#lines .entry", state="attached")
    watch_tasks(page, seconds, f"a log at {LINES} lines a second", figures)
    count = page.locator("#lines .entry").count()
    figures.at_most("lines of the log in the page", count, KEPT)
    page.context.close()


def main(seconds: float) -> None:
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        with daemon(Path(folder) / "home") as yard:
            many_cards(browser, yard, seconds, figures)
            long_log(browser, yard, seconds, figures)
        many_rows(browser, Path(folder), figures)
        browser.close()
    figures.leave()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
