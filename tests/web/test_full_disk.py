"""The page on a disk without room: one comes in, and a stop is a stop."""

import pytest
from playwright.sync_api import expect

from tests.api.daemon import Daemon
from tests.api.no_room import no_room
from tests.cli.commands import echo
from tests.web.browsing import Visitor, card, status_badge

pytestmark = pytest.mark.real


def test_a_card_says_that_a_stop_could_not_be_remembered(visitor: Visitor, yard: Daemon) -> None:
    yard.register("mine", echo(), start=True)
    yard.until("mine", lambda each: each["status"] == "connected")
    with no_room(yard.up.process.pid):
        page = visitor.visit(yard)
        card(page, "mine").get_by_role("button", name="Stop").click()
        expect(status_badge(page, "mine")).to_have_text("Stopped")
        warning = card(page, "mine").locator(".warning")
        expect(warning).to_contain_text("not stored: stopped (")
        expect(warning).to_contain_text("a restart of mcpyard starts it again")
