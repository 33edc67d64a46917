"""A machine with the files of programs on it, for a yard that a browser looks at."""

import contextlib
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.api.daemon import Daemon, daemon
from tests.clients.machine import FILES, claude_text, lay
from tests.web.browsing import Visitor

CLAUDE = claude_text("files", "${MODE}")
CODEX = """# mine
model = "o5"

[mcp_servers.docs] # the manual
url = "https://docs.example.com/mcp"
bearer_token_env_var = "DOCS_TOKEN"

[mcp_servers.notes]
command = "uvx"
args = ["notes"]
enabled = false
"""
GEMINI = '{\n  // hello\n  "mcpServers": {"weather": {"command": "uvx", "args": ["weather"]}}\n}\n'
OPENCODE = """{
  // hello
  "mcp": {
    "time": { "type": "local", "command": ["uvx", "time"], "environment": { "TZ": "UTC" } },
  },
}
"""
SAMPLES = {"claude": CLAUDE, "codex": CODEX, "gemini": GEMINI, "opencode": OPENCODE}

_PLACES = ("XDG_", "CLAUDE_", "CODEX_", "GEMINI_", "OPENCODE_")


@dataclass(frozen=True, slots=True)
class Machine:
    """A yard that is up, and the home of the person who uses it."""

    yard: Daemon
    home: Path

    def read(self, client: str) -> str:
        return (self.home / FILES[client]).read_bytes().decode()

    def lay(self, **texts: str) -> None:
        """Put the files back to what they were, or to something else."""
        lay(self.home, **(SAMPLES | texts))


@contextlib.contextmanager
def machine(folder: Path) -> Generator[Machine]:
    """A yard on a machine with sample files."""
    home = lay(folder / "person", **SAMPLES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for name in [each for each in os.environ if each.startswith(_PLACES)]:
            patch.delenv(name)
        with daemon(folder / "home") as yard:
            yield Machine(yard, home)


@dataclass(frozen=True, slots=True)
class Window:
    """A browser window that was let in once, for all tests of a file.

    Attributes:
        visitor: Who sits before it, and complains.
        page: What it shows.
    """

    visitor: Visitor
    page: Page

    def at(self, path: str) -> Generator[Page]:
        """The window at some page, for one test; nothing may have been odd in the end."""
        for preferences in ("mcpyard_language", "mcpyard_theme"):
            self.page.context.clear_cookies(name=preferences)
        self.page.set_viewport_size({"width": 1280, "height": 800})
        self.page.goto(path)
        yield self.page
        browser_errors, self.visitor.browser_errors = self.visitor.browser_errors, []
        assert not browser_errors, browser_errors


@contextlib.contextmanager
def window(browser: Browser, yard: Daemon) -> Generator[Window]:
    """A window of a yard."""
    visitor = Visitor(browser)
    yield Window(visitor, visitor.visit(yard))
    visitor.close()


def entry(page: Page, client: str, name: str) -> Locator:
    """The row of a server in a program's group."""
    return page.locator(f'#program-{client} .entry[data-name="{name}"]')


def toast(page: Page, words: str) -> Locator:
    """What the page says in its corner."""
    return page.locator("#notices .notice", has_text=words)


def undo(page: Page, words: str) -> None:
    """Press Undo on what the page says was done."""
    toast(page, words).get_by_role("button", name="Undo").click()
    expect(toast(page, "Undone")).to_be_visible()
