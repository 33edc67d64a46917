"""Every library in every situation: the model is told what happened, and the loop goes on."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcpyard import AgentToolbox, SyncYard, Yard
from tests.agents.drivers import DRIVERS, Driver
from tests.agents.fs_yard import SERVER
from tests.agents.page import PAGE
from tests.agents.services.copilot import CopilotCli, copilot_cli
from tests.agents.services.http_services import Services, services
from tests.agents.services.leaks import LEAKS, collected_leaks
from tests.agents.services.script import FINAL, Call, Script, Turn
from tests.runtime.waiting import eventually

pytestmark = [
    pytest.mark.real,
    pytest.mark.filterwarnings(LEAKS),
    pytest.mark.usefixtures(collected_leaks.__name__),
]

COPILOT = "GitHub Copilot SDK"


def fs(*arguments: str, **policy: object) -> dict[str, Any]:
    command = {"command": sys.executable, "args": ["-I", "-S", str(SERVER), *arguments]}
    return {"transport": "stdio", **command, **policy}


@pytest.fixture(scope="module")
def yard() -> Generator[SyncYard]:
    """Servers on a loop of their own; every conversation has another one."""
    servers = {"fs": fs(), "mortal": fs(), "many": fs("300"), "slow": fs(timeout=150)}
    with Yard.open_sync(servers=servers) as opened:
        opened.ready(check=True)
        yield opened


@pytest.fixture(scope="module")
def served() -> Generator[tuple[Services, dict[str, str]]]:
    with services() as made:
        yield made


@pytest.fixture(params=DRIVERS)
def library(request: pytest.FixtureRequest) -> str:
    return request.param


@dataclass
class Talk:
    """A library, and the services that its model lives behind."""

    name: str
    driver: Driver
    services: Services
    folder: Path
    monkeypatch: pytest.MonkeyPatch
    cli: CopilotCli | None = None
    script: Script | None = None

    def begin(self, turns: list[Turn]) -> Script:
        self.script = Script(turns)
        self.services.play(self.script)
        if self.name == COPILOT:
            self.cli = copilot_cli(self.folder, turns)
            for name, value in self.cli.environment.items():
                self.monkeypatch.setenv(name, value)
        return self.script

    async def converse(self, box: AgentToolbox, *turns: Turn) -> str:
        """Hold a conversation; what the model was told."""
        assert await self.driver.converse(box, self.begin([*turns])) == FINAL
        return self.heard

    @property
    def heard(self) -> str:
        if self.cli:
            return self.cli.heard
        return self.script.heard if self.script else ""

    @property
    def offered(self) -> list[str]:
        if self.cli:
            return self.cli.tools
        return [each["name"] for each in self.script.tools] if self.script else []


@pytest.fixture
def talk(
    library: str,
    served: tuple[Services, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Talk:
    for name, value in served[1].items():
        monkeypatch.setenv(name, value)
    return Talk(library, DRIVERS[library], served[0], tmp_path, monkeypatch)


def note(folder: Path) -> Call:
    (folder / "notes.txt").write_text("buy milk")
    return Call("mcp_fs_read_file", f'{{"path": "{folder / "notes.txt"}"}}')


async def parallel(talk: Talk, yard: SyncYard) -> None:
    read, show = note(talk.folder), Call("mcp_fs_show")
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [read, read, show], [read])
    assert (heard.count("buy milk"), heard.count("the link")) == (3, 1)


async def bad_arguments(talk: Talk, yard: SyncYard) -> None:
    box = yard.toolbox(select=["fs/*"])
    heard = await talk.converse(box, [Call("mcp_fs_read_file", '{"path": 3}')])
    assert "path: expected a string" in heard


async def unknown_tool(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("no_such_tool")])
    assert "no_such_tool" in heard


async def time_out(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["slow/*"]), [Call("mcp_slow_hang")])
    assert "in time" in heard


async def tool_error(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("mcp_fs_refuse")])
    assert "it does not please me" in heard


async def death(talk: Talk, yard: SyncYard) -> None:
    await asyncio.to_thread(yard.settled, "mortal")
    box = yard.toolbox(select=["mortal/*", "fs/*"])
    heard = await talk.converse(box, [Call("mcp_mortal_die")], [note(talk.folder)])
    assert "exited" in heard
    assert "buy milk" in heard
    await asyncio.to_thread(yard.restart, "mortal", wait=10)


async def changed_tools(talk: Talk, yard: SyncYard) -> None:
    assert isinstance(yard.awaited, Yard)
    yard.awaited.code.add("late", fs(wanted="running"))
    await asyncio.to_thread(yard.settled, "late")
    box = yard.toolbox(select=["late/*", "fs/*"])
    yard.awaited.code.remove("late")
    await asyncio.to_thread(yard.settled, "fs")
    read = note(talk.folder)
    heard = await talk.converse(box, [Call("mcp_late_show")], [read])
    assert "mcp_late_show" in heard or "late" in heard
    assert "buy milk" in heard
    assert not any(name.startswith("mcp_late_") for name in box.refreshed().offered)


async def cancelled(talk: Talk, yard: SyncYard) -> None:
    assert isinstance(yard.awaited, Yard)
    caller = yard.awaited._core.calls.callers.of("library")
    before = len(yard.failed_calls(1000))
    script = talk.begin([[Call("mcp_fs_hang")]])
    work = asyncio.ensure_future(talk.driver.converse(yard.toolbox(select=["fs/*"]), script))
    assert await eventually(lambda: caller.calls > 0, 10)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await eventually(lambda: len(yard.failed_calls(1000)) > before, 10)
    assert yard.failed_calls(1)[0].outcome == "cancelled"


async def image(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("mcp_fs_show")])
    noted = "image" in talk.driver.notes
    assert ("iVBORw0KGgo" in heard, "[image/png" in heard) == (not noted, noted)


async def audio(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("mcp_fs_show")])
    noted = "audio" in talk.driver.notes
    assert ("UklGRg" in heard, "[audio/wav" in heard) == (not noted, noted)


async def resource(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("mcp_fs_show")])
    assert "inner words" in heard
    assert "https://example.com/b" in heard


async def structured(talk: Talk, yard: SyncYard) -> None:
    heard = await talk.converse(yard.toolbox(select=["fs/*"]), [Call("mcp_fs_show")])
    assert '"answer":42' in heard.replace("\\", "").replace(" ", "")


def today(where: str = "here") -> str:
    """Tell the day.

    Args:
        where: The place.
    """
    return f"Monday {where}"


async def own_tools(talk: Talk, yard: SyncYard) -> None:
    box = yard.toolbox(own=[today], select=["fs/*"])
    heard = await talk.converse(box, [Call("today", '{"where": "there"}')])
    assert "Monday there" in heard


def mcp_fs_show() -> str:
    """Show something else."""
    return "mine"


async def clash(talk: Talk, yard: SyncYard) -> None:
    box = yard.toolbox(own=[mcp_fs_show], select=["fs/*"])
    heard = await talk.converse(box, [Call("mcp_fs_show")])
    assert "mine" in heard
    assert len(talk.offered) == len({*talk.offered}) == 5


async def many_tools(talk: Talk, yard: SyncYard) -> None:
    box = yard.toolbox(select=["many/*"])
    heard = await talk.converse(box, [Call("mcp_many_tool_299")])
    assert len(talk.offered) == 305
    assert "the link" in heard


async def streaming(talk: Talk, yard: SyncYard) -> None:
    read = note(talk.folder)
    assert talk.driver.stream
    script = talk.begin([[read, Call("mcp_fs_show")], [read]])
    assert await talk.driver.stream(yard.toolbox(select=["fs/*"]), script) == FINAL
    assert talk.heard.count("buy milk") == 2


async def synchronous(talk: Talk, yard: SyncYard) -> None:
    read, block = note(talk.folder), talk.driver.block
    assert block
    script = talk.begin([[read, read], [read]])
    words = await asyncio.to_thread(block, yard.toolbox(select=["fs/*"]), script)
    assert (words, talk.heard.count("buy milk")) == (FINAL, 3)


async def thread(talk: Talk, yard: SyncYard) -> None:
    read, box = note(talk.folder), yard.toolbox(select=["fs/*"])

    def work() -> str:
        return asyncio.run(talk.converse(box, [read, read], [read]))

    assert (await asyncio.to_thread(work)).count("buy milk") == 3


async def jupyter(talk: Talk, yard: SyncYard) -> None:
    """A cell blocks, and another awaits, on the loop that the kernel runs in the main thread."""
    read, box = note(talk.folder), yard.toolbox(select=["fs/*"])
    assert box.call_sync(read.name, read.parsed).text == "buy milk"
    assert (await talk.converse(box, [read, read], [read])).count("buy milk") == 3


Situation = Callable[[Talk, SyncYard], Awaitable[None]]

SITUATIONS: dict[str, Situation] = {
    "parallel calls": parallel,
    "bad arguments": bad_arguments,
    "unknown tool": unknown_tool,
    "time-out": time_out,
    "tool error": tool_error,
    "death in mid-call": death,
    "changed tools": changed_tools,
    "cancelled": cancelled,
    "image": image,
    "audio": audio,
    "resource": resource,
    "structured content": structured,
    "own tools": own_tools,
    "name clash": clash,
    "300 tools": many_tools,
    "streaming": streaming,
    "synchronous": synchronous,
    "another thread": thread,
    "Jupyter": jupyter,
}


@pytest.mark.parametrize("situation", SITUATIONS)
async def test_the_loop_goes_on(situation: str, talk: Talk, yard: SyncYard) -> None:
    if situation in talk.driver.limits:
        # The library's own limit, which the page names.
        assert talk.driver.limits[situation] in PAGE.replace("\n", " ")
        return
    await SITUATIONS[situation](talk, yard)


def test_the_table_on_the_page_is_this_one() -> None:
    rows = dict(re.findall(r"^\| ([\w -]+?) \| ((?:[^|]+\| ?){9})$", PAGE, re.MULTILINE))
    for situation in SITUATIONS:
        cells = [cell.strip() for cell in rows[situation].rstrip("| ").split("|")]
        limited = [situation in each.limits for each in DRIVERS.values()]
        assert [not cell.startswith("yes") for cell in cells] == limited, situation
        noted = [situation in each.notes for each in DRIVERS.values()]
        assert [cell == "yes, a note" for cell in cells] == noted, situation
