"""How people begin: with nothing at all, or with a server to sign in at."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.api.daemon import Daemon
from tests.api.office import Office
from tests.web.browsing import Visitor, card, status_badge
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real


@pytest.fixture
def office() -> Generator[Office]:
    provider = Office()
    with asgi_server(provider.app()) as provider.base:
        yield provider


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of somebody who uses no other program."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_with_nothing_anywhere_there_are_three_ways_to_begin(
    visitor: Visitor, person: Path, yards: Callable[..., Daemon]
) -> None:
    assert not [*person.iterdir()]
    page = visitor.visit(yards())
    expect(page.locator("#first-run li")).to_have_count(3)
    expect(page.locator("#first-found")).to_contain_text("No new servers found")
    page.click("#first-example")
    expect(status_badge(page, "legal")).to_have_text("Connected")
    expect(page.locator("#first-run")).to_have_count(0)


def test_a_server_that_wants_a_sign_in_is_signed_in_with_one_button(
    visitor: Visitor, office: Office, yard: Daemon
) -> None:
    yard.register("far", {"url": f"{office.base}/mcp", "transport": "http"}, start=True)
    page = visitor.visit(yard)
    expect(status_badge(page, "far")).to_have_text("Needs sign-in")
    with page.context.expect_page() as opened:
        card(page, "far").get_by_role("button", name="Sign in").click()
    expect(opened.value.get_by_role("heading", name="Signed in")).to_be_visible()
    expect(status_badge(page, "far")).to_have_text("Connected")
