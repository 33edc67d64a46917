"""The pages that a browser sees before it is signed in, and words that page and commands share."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.api.daemon import daemon
from tests.cli.commands import mcpyard
from tests.web.browsing import Visitor, card
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

SHEETS = {"light": "rgb(255, 255, 255)", "dark": "rgb(28, 32, 36)"}
PAPERS = {"light": "rgb(245, 246, 244)", "dark": "rgb(20, 23, 26)"}
LOOK = "(element) => getComputedStyle(element).backgroundColor"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_who_is_not_signed_in_sees_a_styled_page_without_barriers(
    browser: Browser, tmp_path: Path, theme: str
) -> None:
    with daemon(tmp_path / "home") as yard:
        link = yard.post("/api/login-links", status=201)["url"]
        yard.client.get(link)
        for address, says in ((yard.up.url, "not signed in"), (link, "already used")):
            page = browser.new_page(
                viewport={"width": 320, "height": 600},
                color_scheme=theme,  # pyright: ignore[reportArgumentType]
            )
            page.goto(address)
            assert says in page.locator("main").inner_text()
            assert _colors(page) == {"main": SHEETS[theme], "body": PAPERS[theme]}
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
            assert violations(page) == []
            page.context.close()


def _colors(page: Page) -> dict[str, str]:
    return {name: page.locator(name).evaluate(LOOK) for name in ("main", "body")}


def test_page_and_command_line_have_one_word_for_a_transport(
    visitor: Visitor, tmp_path: Path
) -> None:
    with daemon(tmp_path / "home") as yard:
        for name, more in (("found", {}), ("said", {"type": "http"}), ("old", {"type": "sse"})):
            yard.register(name, {"url": f"http://127.0.0.1:9/{name}", **more})
        listed = mcpyard("ls", home=tmp_path / "home").stdout.splitlines()[1:]
        words = {name: word for _, name, word, *_ in map(str.split, listed)}
        page = visitor.visit(yard)
        for name, word in words.items():
            assert card(page, name).locator(".badge").first.inner_text() == word
        assert words == {"found": "http", "said": "http", "old": "sse"}
        visitor.close()
