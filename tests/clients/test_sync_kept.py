"""`up --sync`: the plan is applied whenever something changed, and nothing is decided alone."""

import asyncio
import logging
from pathlib import Path

import pytest

from mcpyard.yard.edit import Change
from mcpyard.yard.sync.keeping import keep_synced
from tests.clients.machine import Machine
from tests.clients.syncing import five_servers, sync_of


class Rounds:
    """Lets a sync go on by one round at a time."""

    def __init__(self, it: Machine) -> None:
        self._paused, self._go = asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(
            keep_synced(sync_of(it), ("mcpyard", "stdio"), self._pause)
        )

    async def one(self) -> None:
        self._go.set()
        await self._paused.wait()
        self._paused.clear()

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _pause(self) -> None:
        self._paused.set()
        self._go.clear()
        await self._go.wait()


def user_file(it: Machine, text: str) -> None:
    (it.project.parent / "state" / "mcpyard.toml").write_text(text)


async def test_what_changes_is_applied_and_what_is_open_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def lines(text: str) -> int:
        return sum(text in it.message for it in caplog.records)

    async with five_servers(tmp_path) as it:
        rounds = Rounds(it)
        await rounds.one()
        await rounds.one()
        assert lines("names no program") == 1
        user_file(it, "[targets.codex]\n")
        await rounds.one()
        assert "[mcp_servers.files]" in it.read("codex")
        assert lines("undo it: mcpyard undo") == 1

        it.path("codex").write_text(it.read("codex").replace('"/data"]', '"/theirs"]'))
        await it.yard.change("git", Change({"args": ["other"]}))
        await rounds.one()
        await rounds.one()
        assert 'args = ["other"]' in it.read("codex")
        assert '"/theirs"]' in it.read("codex")
        assert lines("files in codex:user: changed in Codex") == 1
        it.path("codex").write_text("[broken")
        await rounds.one()
        assert lines("sync: codex:user: ") == 1
        assert it.read("codex") == "[broken"
        await rounds.end()


async def test_a_repository_is_applied_only_after_approval(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        (it.project / "mcpyard.toml").write_text(
            '[servers.lint]\ncommand = "lint"\n[targets.claude]\n'
        )
        rounds = Rounds(it)
        await rounds.one()
        assert not (it.project / ".mcp.json").exists()
        waiting = await sync_of(it).waiting()
        await sync_of(it).approve(waiting.digest)
        await rounds.one()
        assert "lint" in (it.project / ".mcp.json").read_text()
        await rounds.end()
