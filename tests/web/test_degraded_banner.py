"""While something of mcpyard itself does not work, every screen says what, and what to do."""

import pytest
from playwright.sync_api import Page, expect

from mcpyard.web.catalogues import words_in
from mcpyard.web.sentences import Translated
from tests.api.daemon import Daemon
from tests.api.no_room import no_room
from tests.web.browsing import Visitor
from tests.web.test_looks import violations
from tests.web.test_translated import untranslated

pytestmark = pytest.mark.real

SCREENS = ("/tools", "/clients", "/activity", "/settings", "/")
BANNER = "#degraded .lost"
TITLES = {
    "en": "mcpyard works only in part",
    "zh-CN": "只有部分功能正常",
    "zh-TW": "只有部分功能正常",
}
HINTS = {"en": "Free some disk space", "zh-CN": "请腾出空间", "zh-TW": "請騰出空間"}
SENTENCES = (
    "/srv/home is not writable: No space left on device",
    "/srv/home/state.db cannot be written: attempt to write a readonly database",
    "/srv/home/state.db is locked by another program: database is locked",
    "/srv/home/state.db was deleted or replaced",
    "/srv/home/backups has not enough room for a backup",
    "the keeper process, which starts servers, stopped responding (pid 4711)",
    "No action is needed: mcpyard replaces it and starts its servers again.",
    "12 calls were not recorded since mcpyard started",
    "Check the disk: it is full, read-only or too slow.",
    "changes of definitions are no longer applied",
    "Check the log, and restart mcpyard.",
    "no response for 4 s",
    "Check the disk, and the log of mcpyard.",
    "Free some disk space, then try again.",
    "Check the permissions, or choose another location; then try again.",
    "Restore the home folder, or restart mcpyard: mcpyard up",
    "Restore a backup: mcpyard restore",
    "the database of the cluster cannot be reached",
    "the database of the cluster does not answer",
    "the database of the cluster is a replica and cannot be written",
    "the connection to the cluster's database was lost; nothing was changed",
    "the disk of the cluster's database is full",
    "Check that it runs, and the host and port of the DSN.",
    "Name the host of the primary in the DSN.",
    "Try again when the database is back; running servers keep answering.",
    'node "n2" cannot be reached',
    "Check the node and the network between the nodes.",
)


def wait_for_banner(page: Page, locale: str) -> None:
    banner = page.locator(BANNER)
    expect(banner).to_contain_text(TITLES[locale])
    expect(banner).to_contain_text("File too large")
    expect(banner).to_contain_text(HINTS[locale])


def test_a_banner_comes_and_goes_by_itself_on_every_screen(visitor: Visitor, yard: Daemon) -> None:
    page = visitor.visit(yard)
    with no_room(yard.up.process.pid):
        wait_for_banner(page, "en")
        for path in SCREENS:
            page.goto(path)
            wait_for_banner(page, "en")
    expect(page.locator(BANNER)).to_have_count(0)


@pytest.mark.parametrize("locale", TITLES)
def test_the_banner_has_no_barrier_and_is_in_the_readers_language(
    visitor: Visitor, yard: Daemon, locale: str
) -> None:
    with no_room(yard.up.process.pid):
        for theme in ("light", "dark"):
            # Opened in each theme: a change of the theme fades the colours of an open page.
            page = visitor.visit(yard, locale=locale, color_scheme=theme)
            wait_for_banner(page, locale)
            assert violations(page) == []
            assert locale == "en" or untranslated(page) == []
            visitor.close()


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant"])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_cause_and_remedy_is_translated(language: str, sentence: str) -> None:
    translation = words_in(language).say(sentence)
    assert isinstance(translation, Translated)
    assert not translation.foreign
