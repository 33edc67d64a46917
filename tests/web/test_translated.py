"""No sentence of the program is left untranslated, with a server of each failure on the page."""

import json
import os
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from mcpyard.formats.registry import CLIENTS
from mcpyard.web.server_screens.server import PARTS
from mcpyard.web.templating import LANGUAGE_COOKIE
from tests.api.daemon import Daemon, daemon
from tests.api.office import Office
from tests.cli.commands import echo, missing, write_project
from tests.clients.machine import lay
from tests.web.browsing import Visitor, card
from tests.web.machine import CODEX, OPENCODE
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real

LANGUAGES = ["zh-Hans", "zh-Hant"]

NAMES = {
    "mcpyard", "MCP", "JSON", "TOML", "URL", "HTTP", "SSE", "DNS", "TLS", "ID", "UTF", "BOM", "CLI",
    "CPU",
    "stdio", "http", "sse", "ms", "kB", "MB", "pid", "ping", "git", "Schema", "Python", "MIT",
    "Authorization", "Claude", "Code", "Desktop", "Codex", "Gemini", "OpenCode", "Cursor", "Qwen",
    "Copilot", "VS", "Node", "Docker", "Bun", "Deno", "npx", "uvx", "python", "uv",
    "English", "Amp", "Cline", "Roo", "Zed", "Kiro", "Windsurf",
}  # fmt: skip
"""Names and terms that are the same in every language."""

WRITTEN = {
    "clients", "claude", "mcp", "add", "title", "startTimeout", "fallback", "inherit", "isolation",
    "approve", "health", "restart", "oauth", "enabled", "name", "description", "chmod",
    "concurrency", "secret", "set", "singleton", "doctor", "open", "login", "limits", "queue",
    "sync",
}  # fmt: skip
"""Commands and fields that people write as they are."""

WORDS_OF = """() => {
  const skip = "code, pre, kbd, script, style, template, textarea, [translate=no], [hidden]";
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const at = walk.currentNode.parentElement;
    if (text && !at.closest(skip)) found.push(text);
  }
  return found;
}"""
DATA = re.compile(r"https?://\S+|~?/[\w./~-]+|\$\{[^}]*\}|`[^`]*`|--[\w-]+|\b\w*[_.@=:]\w[\w.:-]*")
"""Addresses, paths, references, options and fields inside a sentence."""

LATIN = re.compile(r"[A-Za-z]{2,}")
HAN = re.compile("[\u4e00-\u9fff]")

GARBAGE = """import json, sys
for line in sys.stdin:
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line).get("id")}), flush=True)
"""
"""Answers with something that is no answer."""

BROKEN = '{"mcpServers": {"a": '
GEMINI = {
    "mcpServers": {
        "weather": {"command": "uvx", "args": ["weather"], "env": {"API_TOKEN": "hunter2secret"}},
        "odd": {"command": "", "headers": {"A": "b"}},
    }
}


def script(code: str, **more: object) -> dict[str, object]:
    args = ["-I", "-S", "-c", code]
    return {"command": sys.executable, "args": args, "transport": "stdio", **more}


def remote(url: str, **more: object) -> dict[str, object]:
    return {"url": url, "transport": "http", **more}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard with a server of each failure, on a machine with files that have problems."""
    folder = tmp_path_factory.mktemp("failing")
    home = lay(folder / "person", claude=BROKEN, codex=CODEX, opencode=OPENCODE)
    (home / ".gemini").mkdir(exist_ok=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(GEMINI))
    project = write_project(folder / "project", theirs=echo())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        office = Office()
        with (
            asgi_server(office.app()) as office.base,
            daemon(folder / "home", "--project", project) as yard,
        ):
            yard.register("13", remote(f"{office.base}/mcp"), scope="user", start=True)
            fill(yard, folder)
            write_project(project, theirs=echo("changed"), later=echo())
            yard.until("theirs", lambda each: each["needsApproval"] == "changed")
            yield yard


def fill(yard: Daemon, folder: Path) -> None:
    """Register a server of each failure."""
    definitions: dict[str, dict[str, object]] = {
        "1": script("import sys; sys.stderr.write('panic'); sys.exit(3)"),
        "2": missing(folder),
        "3": remote("http://127.0.0.1:9/mcp"),
        "4": remote("http://no-such-host.invalid/mcp"),
        "5": script(GARBAGE),
        "6": script("import time; time.sleep(60)", startTimeout=500),
        "7": script("pass", environment={"A": "${NO_SUCH_VARIABLE}"}),
        "8": {"command": "no such program --flag", "args": [], "transport": "stdio"},
        "9": script("pass", cwd=str(folder / "nowhere")),
        "15": script("import sys; sys.exit(3)", restart={"attempts": 3, "limit": 1}),
    }
    for name, definition in definitions.items():
        body = {"name": name, "scope": "user", "start": True, **definition}
        yard.post("/api/mcp/servers?wait=0", body, 201)
    yard.register("14", remote(f"{yard.up.url}/mcp"), scope="user", start=True)
    yard.register("10", echo(), scope="user", start=True, colour="red")
    yard.register("11", echo(), scope="user", enabled=False)
    for name in ("13", *definitions):
        yard.until(name, lambda each: bool(each["error"]))
    yard.until("10", lambda each: each["status"] == "connected")
    for tool in ("echo", "fail"):
        yard.post(f"/api/mcp/servers/10/tools/{tool}/call", {"arguments": {"text": "x"}})
    yard.until("15", lambda each: each["error"]["code"] == "flapping")
    freeze(yard, "16")


def freeze(yard: Daemon, name: str) -> None:
    """Register a server that stops responding while it is connected."""
    call = f"/api/mcp/servers/{name}/tools/echo/call"
    health = {"interval": 60_000, "timeout": 1000, "failures": 10}
    yard.register(name, echo(), scope="user", start=True, timeout=100, health=health)
    pid = yard.until(name, lambda each: each["status"] == "connected")["pid"]
    os.kill(pid, signal.SIGSTOP)
    for _ in range(10):
        yard.post(call, {"arguments": {"text": "x"}}, 504)
    yard.until(name, lambda each: each["phase"] == "degraded")


@pytest.fixture(scope="module", params=LANGUAGES)
def page(browser: Browser, failing: Daemon, request: pytest.FixtureRequest) -> Generator[Page]:
    visitor = Visitor(browser)
    page = visitor.visit(failing)
    page.context.add_cookies(
        [{"name": LANGUAGE_COOKIE, "value": request.param, "url": failing.up.url}]
    )
    yield page
    visitor.close()


PROGRAMS = {
    word
    for client in CLIENTS
    for provenance in (client.provenance, *(scope.provenance for scope in client.scopes))
    for word in LATIN.findall(f"{client.title} {provenance.version if provenance else ''}")
}
"""The words in the names of programs, and in the versions that were looked at."""


def untranslated(page: Page) -> list[str]:
    """Every text with Latin words that are neither names nor data."""
    texts = [str(each) for each in page.evaluate(WORDS_OF)]
    return [
        each for each in texts if {*LATIN.findall(DATA.sub(" ", each))} - NAMES - PROGRAMS - WRITTEN
    ]


def test_the_cards_of_servers_that_fail_are_translated(page: Page) -> None:
    page.goto("/")
    expect(card(page, "1").locator(".cause")).to_contain_text(HAN)
    expect(card(page, "14").locator(".warning")).to_contain_text(HAN)
    expect(card(page, "13").locator(".todo")).to_contain_text(HAN)
    for name in ("2", "3", "4", "5", "6", "7", "8", "9", "15"):
        expect(card(page, name).locator(".message")).to_contain_text(HAN)
        expect(card(page, name).locator(".todo")).to_contain_text(HAN)
    expect(card(page, "16").locator(".message")).to_contain_text(HAN)
    assert untranslated(page) == []


@pytest.mark.parametrize(
    "path",
    [
        "/tools",
        "/components",
        "/clients",
        "/clients?show=table",
        "/clients?show=checks",
        "/clients?show=edits",
        "/activity",
        "/settings",
    ],
)
def test_every_screen_is_translated(page: Page, path: str) -> None:
    page.goto(path)
    assert untranslated(page) == []


@pytest.mark.parametrize("show", PARTS)
def test_the_screen_of_a_server_is_translated(page: Page, failing: Daemon, show: str) -> None:
    for name in ("1", "10"):
        page.goto(f"/servers/{failing.record(name)['id']}?show={show}")
        assert untranslated(page) == []


def test_the_dialogs_of_a_server_are_translated(page: Page) -> None:
    page.goto("/")
    for name, verb in (("10", "edit"), ("10", "delete"), ("later", "approve")):
        card(page, name).locator(f"[data-act={verb}]").click()
        expect(page.locator("#dialog-title, #dialog h2").first).to_be_visible()
        assert untranslated(page) == []
        page.keyboard.press("Escape")


def test_what_is_wrong_with_a_form_is_translated(page: Page) -> None:
    page.goto("/")
    page.click("#add-server")
    page.fill("#f-name", "10")
    page.fill("#f-command", "x")
    page.locator(".server-form .strong").click()
    expect(page.locator("#f-name-problem")).to_contain_text(HAN)
    assert untranslated(page) == []
    page.fill("#f-name", "12")
    page.fill("#f-command", "no-such-program")
    page.locator(".server-form [hx-post='/ui/servers/test']").click()
    expect(page.locator("#trial .notice.bad")).to_contain_text(HAN)
    assert untranslated(page) == []


def test_what_is_wrong_with_a_pasted_text_is_translated(page: Page) -> None:
    page.goto("/")
    page.click("#add-server")
    page.locator("[hx-get='/ui/servers/add?way=paste']").click()
    for text in ("claude mcp add x https://a.example more", '{"mcpServers": {"a": {}, "b": 1}}'):
        page.fill("#f-text", text)
        page.locator("#dialog form .strong").click()
        expect(page.locator("#pasted .notice.bad").first).to_contain_text(HAN)
        assert untranslated(page) == []


def test_what_a_copy_loses_is_translated(page: Page) -> None:
    page.goto("/clients")
    page.locator("#program-codex [data-name=docs] [data-act=copy]").click()
    page.select_option("#f-to", "opencode:user")
    expect(page.locator("#preview .diff")).to_be_visible()
    page.locator("[name=matrix][value=spec]").check()
    expect(page.locator("#preview .warned li").first).to_contain_text(HAN)
    assert untranslated(page) == []


def test_the_dialogs_of_a_sync_are_translated(page: Page, failing: Daemon) -> None:
    page.goto("/clients?show=table")
    for opener in ("#sync-adopt", "td[data-server=docs] .state"):
        page.locator(opener).first.click()
        expect(page.locator("#dialog-title")).to_be_visible()
        assert untranslated(page) == []
        page.keyboard.press("Escape")
    assignments = [{"server": each, "target": "codex", "wanted": True} for each in ("3", "7", "11")]
    failing.client.put("/api/sync/assignments", json={"assignments": assignments})
    page.reload()
    page.locator("#sync-preview").click()
    expect(page.locator("#preview .diff").first).to_be_visible()
    assert untranslated(page) == []
    page.keyboard.press("Escape")
    for each in ("3", "7", "11"):
        page.locator(f'td[data-server="{each}"][data-target="codex:user"] .state').click()
        expect(page.locator("#dialog .said")).to_be_visible()
        assert untranslated(page) == []
        page.keyboard.press("Escape")
