"""A yard of another process, used as if it were one's own."""

import asyncio
import re
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.client.attached import AttachedYard, _is_settled
from mcpyard.client.clients import AttachedClients
from mcpyard.domain.errors import (
    ArgumentsRefused,
    ChangedSince,
    DefinitionError,
    Disconnected,
    DocumentMoved,
    NameTaken,
    ServerUnknown,
    ToolUnknown,
    YardBusy,
)
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.yard.clients.clients import Clients, Copy, EditTerms
from mcpyard.yard.edit import Change
from tests.api.daemon import daemon
from tests.api.test_guard_up import certificate
from tests.cli.commands import yard_up
from tests.faults.watching import zoo
from tests.yard.sample_views import sample_server

pytestmark = pytest.mark.real


def test_what_only_a_yard_of_ones_own_has_is_listed() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "python.md").read_text()
    sentence = page.partition("Only `Yard.open()` provides")[2].partition("\n\n")[0]
    listed = {*re.findall(r"`(\w+)`", sentence)}
    _, _, section = page.partition("## `Yard`\n")
    names = {*re.findall(r"^\| `(?:await )?(\w+)", section.partition("\n## ")[0], re.MULTILINE)}
    lacking = {name for name in names if not hasattr(AttachedYard, name)} - {
        "clients",
        "open",
        "open_sync",
        "attach_sync",
    }
    lacking |= {name for name in vars(Clients) if name[0] != "_"} - {*vars(AttachedClients)}
    assert listed - {"clients"} == lacking


async def test_what_runs_elsewhere_is_read_called_and_changed(tmp_path: Path) -> None:
    with daemon(tmp_path / "home"):
        async with Yard.attach(tmp_path / "home") as yard:
            assert yard.servers() == []
            record = await yard.register({"name": "文 件", **zoo("good")}, wait=20)
            assert record.status == "connected"
            assert (await yard.settled("文 件")).pid == record.pid
            (echo,) = [tool for tool in yard.tools("文 件") if tool.name == "echo"]
            outcome = await yard.call(str(echo.exposed_name), {"text": "hi"}, timeout=5)
            assert (outcome.text, outcome.server, outcome.is_error) == ("hi", "文 件", False)
            again = await yard.call_tool("文 件", "echo", {"text": "again"})
            assert again.text == "again"
            changed = await yard.change("文 件", Change({"timeout": 5000, "name": "fs"}))
            assert (changed.name, changed.timeout) == ("fs", 5000)
            assert (await yard.stop("fs", wait=10)).state == "stopped"
            assert yard.tools() == []
            assert (await yard.start("fs", wait=20)).state == "running"
            assert (await yard.restart("fs", wait=20)).state == "running"
            assert yard.record("fs", tools=False).tools is None
            await yard.remove("fs")
            assert yard.servers() == []


async def test_errors_come_back_as_what_they_are(tmp_path: Path) -> None:
    with daemon(tmp_path / "home"):
        async with Yard.attach(tmp_path / "home") as yard:
            record = await yard.register({"name": "fs", **zoo("good")}, wait=20)
            with pytest.raises(NameTaken, match='"fs" is in use'):
                await yard.register({"name": "fs", **zoo("good")})
            with pytest.raises(DefinitionError) as refused:
                await yard.register({"name": "x", "command": 3})
            assert [each.field for each in refused.value.problems] == ["command"]
            with pytest.raises(ArgumentsRefused, match="text: expected a string"):
                await yard.call_tool("fs", "echo", {"text": 3})
            with pytest.raises(ToolUnknown):
                await yard.call("mcp_nothing")
            with pytest.raises(ServerUnknown):
                await yard.start("nobody")
            with pytest.raises(ServerUnknown):
                yard.record("nobody")
            await yard.change("fs", Change({"timeout": 1}, expected=str(record.digest)))
            assert (await yard.change("fs", {"timeout": 3})).timeout == 3
            with pytest.raises(DocumentMoved):
                await yard.change("fs", Change({"timeout": 2}, expected=str(record.digest)))
            bad = {"name": "bad", "type": "local", "command": ["no-such"], "start": True}
            await yard.register(bad, wait=20)
            assert (await yard.settled("bad")).status == "error"


async def test_what_happens_elsewhere_is_heard_and_seen(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as there:
        async with Yard.attach(tmp_path / "home") as yard:
            events = yard.events()
            there.register("late", zoo("good"))
            async with asyncio.timeout(20):
                async for _ in events:
                    if [each.status for each in yard.servers()] == ["connected"]:
                        break
            assert {tool.server for tool in yard.tools()} == {"late"}


async def test_a_server_elsewhere_is_waited_for_through_the_news_of_others(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as there:
        async with Yard.attach(tmp_path / "home") as yard:
            there.register("slow", zoo("never-answers"))
            await yard.start("slow")
            waiting = asyncio.create_task(yard.settled("slow"))
            events = yard.events()
            await yard.register({"name": "other", **zoo("good")}, wait=20)
            assert len(await events.batch()) > 1
            assert not waiting.done()
            await yard.stop("slow")
            assert (await waiting).state == "stopped"


@pytest.mark.parametrize(
    ("wanted_state", "phase", "settled"),
    [
        ("running", "connected", True),
        ("running", "stopped", False),
        ("running", "connecting", False),
        ("stopped", "connected", False),
        ("stopped", "stopped", True),
        ("running", "failed", True),
        ("on_demand", "stopped", True),
        ("on_demand", "connected", True),
    ],
)
def test_a_server_is_settled_when_it_is_as_it_was_wanted(
    wanted_state: str, phase: str, settled: bool
) -> None:
    assert _is_settled(sample_server(wanted=Wanted(wanted_state), phase=Phase(phase))) is settled


async def test_a_yard_elsewhere_is_known_by_its_certificate(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "some.name")
    with yard_up(tmp_path / "home", "--tls-cert", cert, "--tls-key", key):
        async with Yard.attach(tmp_path / "home") as yard:
            record = await yard.register({"name": "fs", **zoo("good")}, wait=20)
            assert record.status == "connected"


async def test_the_clients_of_a_yard_elsewhere_are_listed_changed_and_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file, text = tmp_path / ".claude.json", '{"mcpServers": {"x y": {"command": "run"}}}'
    file.write_text(text)
    with daemon(tmp_path / "home"):
        async with Yard.attach(tmp_path / "home") as yard:
            clients = yard.clients
            assert "claude-code" in {each.client for each in await clients.groups()}
            look = await clients.edit("claude", "x y", {"args": ["a"]}, EditTerms(dry_run=True))
            assert (look.edit, file.read_text()) == (None, text)
            done = await clients.edit("claude:user", "x y", {"args": ["a"]})
            assert done.files == look.files
            assert (await clients.show("claude", "x y")).args == ["a"]
            off = await clients.toggle(
                "claude", "x y", enabled=False, terms=EditTerms(str(tmp_path))
            )
            assert [each.kind for each in off.warnings] == ["relocated"]
            await clients.rename("claude", "x y", "z")
            assert [each.id for each in await clients.edits()] == [3, 2, 1]
            with pytest.raises(ChangedSince) as changed:
                await clients.undo(done.edit)
            assert [path for path, _ in changed.value.files] == [str(file)]
            await clients.copy(Copy("claude", "codex", "z", "w", matrix=Matrix.SPEC))
            await clients.remove("codex", "w")
            for _ in range(5):
                await clients.undo()
            assert file.read_text() == text
            assert [each.code for each in await clients.lint()] == ["name-refused"]
            assert await clients.drift() == []
            (entry,) = await clients.import_all("user", EditTerms(dry_run=True))
            assert (entry.name, entry.outcome) == ("x y", "importable")


async def test_a_home_has_one_yard_and_without_one_there_is_nothing_to_attach_to(
    tmp_path: Path,
) -> None:
    with pytest.raises(Disconnected, match="mcpyard up"):
        async with Yard.attach(tmp_path / "home"):
            pass
    with daemon(tmp_path / "home") as there, pytest.raises(YardBusy) as busy:
        async with Yard.open(home=tmp_path / "home"):
            pass
    assert str(there.client.base_url).rstrip("/") in str(busy.value)
