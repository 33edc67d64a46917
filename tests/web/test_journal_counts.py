"""Calls that the journal lost are counted on the page, in the API and in the metrics."""

import asyncio
from pathlib import Path

import pytest

from mcpyard.api.app import build
from mcpyard.api.tokens import TokenStore
from mcpyard.app import open_yard
from mcpyard.domain.errors import ArgumentsRefused
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.web.app import pages
from mcpyard.web.context import PageContext
from tests.api.asgi import client_of, keys_of
from tests.store.contract_journal import a_call


async def test_calls_that_were_dropped_or_removed_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_JOURNAL_CALLS", "20")
    monkeypatch.setattr("mcpyard.store.sqlite.journal._WAITING", 40)
    closing = asyncio.Event()
    async with open_yard(home=tmp_path, environment={}) as yard:
        keys = keys_of(yard)
        routes = pages(yard, closing, PageContext("home", ("mcpyard", "stdio"), TokenStore(keys)))
        app = build(yard, keys=keys, hosts=[], closing=closing, pages=routes)
        async with client_of(app) as client:
            before = (await client.get("/activity")).text
            assert "since mcpyard started" not in before
            journal = yard.accounts.journal
            assert isinstance(journal, SqliteJournal)
            for number in range(50):
                journal.append(a_call(number))
            page = (await client.get("/api/mcp/calls")).json()
            assert (len(page["calls"]), page["dropped"], page["trimmed"]) == (20, 20, 10)
            metrics = (await client.get("/metrics")).text
            assert "\nmcpyard_journal_dropped_total 20\n" in metrics
            assert "\nmcpyard_journal_trimmed_total 10\n" in metrics
            shown_page = (await client.get("/activity")).text
            assert "20 calls were not recorded since mcpyard started." in shown_page
            assert "10 calls were removed because the journal was full" in shown_page


async def test_a_setting_of_the_journal_that_makes_no_sense_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_JOURNAL_DAYS", "many")
    with pytest.raises(ArgumentsRefused, match="MCPYARD_JOURNAL_DAYS: must be a whole number"):
        async with open_yard(home=tmp_path, environment={}):
            pass
    monkeypatch.setenv("MCPYARD_JOURNAL_DAYS", "3")
    async with open_yard(home=tmp_path, environment={}):
        """The home was released."""
