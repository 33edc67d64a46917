"""A person at a browser: signs in by a link, looks, and notes whatever the browser complains of."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
)

from tests.api.daemon import Daemon

TIMEOUT = 20_000
expect.set_options(timeout=TIMEOUT)


class Visitor:
    """Opens pages of yards.

    Attributes:
        browser_errors: Errors of scripts, words in the console, requests that leave the host.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.browser_errors: list[str] = []

    def visit(self, yard: Daemon, path: str = "/", **options: Any) -> Page:  # noqa: ANN401  the browser's own
        """A new browser window that was let in, at some page of a yard."""
        settings: dict[str, Any] = {"locale": "en", **options}
        context = self._browser.new_context(base_url=yard.up.url, **settings)
        context.set_default_timeout(TIMEOUT)
        self._contexts.append(context)
        page = context.new_page()
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.browser_errors.append(f"error: {error}"))
        page.on("request", lambda request: self._check_host(request, yard.up.url))
        page.goto(yard.post("/api/login-links", status=201)["url"])
        page.wait_for_url(f"{yard.up.url}/")
        if path != "/":
            page.goto(path)
        return page

    def expect(self, *words: str) -> None:
        """The complaints that hold these words were meant, and must have been made."""
        for word in words:
            assert any(word in each for each in self.browser_errors), (word, self.browser_errors)
        self.forgive(*words)

    def forgive(self, *words: str) -> None:
        """Pass over the complaints that hold these words."""
        self.browser_errors = [
            each for each in self.browser_errors if not any(word in each for word in words)
        ]

    def close(self) -> None:
        """Close every window."""
        for context in self._contexts:
            context.close()
        self._contexts = []

    def leave(self) -> None:
        """Close every window; nothing may have been odd."""
        self.close()
        assert not self.browser_errors, self.browser_errors

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.browser_errors.append(f"{message.type}: {message.text} {_place(message.location)}")

    def _check_host(self, request: Request, url: str) -> None:
        target = urlsplit(request.url)
        if target.scheme in {"http", "https"} and target.netloc != urlsplit(url).netloc:
            self.browser_errors.append(f"left the host: {request.url}")


def card(page: Page, name: str) -> Locator:
    """The card of a server."""
    return page.locator(f'#cards .card[data-name="{name}"]')


def status_badge(page: Page, name: str) -> Locator:
    """The status badge on the card of a server."""
    return card(page, name).locator(".status-badge").first


def _place(location: Mapping[str, Any]) -> str:
    return str(location.get("url", ""))
