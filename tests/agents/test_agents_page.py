"""The examples of the page about agents run as printed, against services that check requests."""

import asyncio
import json
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import FakeTool
from tests.agents.fs_yard import SERVER
from tests.agents.page import PAGE, SNIPPETS, run
from tests.agents.services.copilot import copilot_cli
from tests.agents.services.http_services import Services, services
from tests.agents.services.langchain_model import ScriptedChatModel
from tests.agents.services.leaks import LEAKS, collected_leaks
from tests.agents.services.script import FINAL, Call, Script

pytestmark = [
    pytest.mark.filterwarnings(LEAKS),
    pytest.mark.usefixtures(collected_leaks.__name__),
]

FIRST, BLOCKING = "Agents", "Blocking code and other threads"
READ = Call("mcp_fs_read_file", '{"path": "notes.txt"}')
HTTP = [
    "OpenAI",
    "OpenAI, 2",
    "OpenAI Agents SDK",
    "Anthropic",
    "Pydantic AI",
    "Gemini",
]


@pytest.fixture(scope="module")
def served() -> Generator[tuple[Services, dict[str, str]]]:
    with services() as made:
        yield made


@pytest.fixture
def model(served: tuple[Services, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Script:
    """A model behind every service: two calls at once, then another, then it is done."""
    for name, value in served[1].items():
        monkeypatch.setenv(name, value)
    script = Script([[READ, READ], [READ]])
    served[0].play(script)
    return script


def project(folder: Path) -> None:
    (folder / "notes.txt").write_text("buy milk")
    fs = {"command": sys.executable, "args": ["-I", "-S", str(SERVER)]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"fs": fs}}))


@pytest.mark.real
async def test_the_first_example_reads_a_file_through_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    left = await run(SNIPPETS[FIRST])
    assert capsys.readouterr().out == "buy milk fs (date unknown)\n"
    assert next(tool.name for tool in left["box"]) == "today"


@pytest.mark.real
@pytest.mark.parametrize("title", HTTP)
async def test_an_example_holds_a_whole_conversation(
    title: str, model: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeTool()
    await run(SNIPPETS[title], box=fake.box())
    assert capsys.readouterr().out.strip() == FINAL
    assert fake.calls == [{"path": "notes.txt"}] * 3
    assert model.heard.count("done") == 3
    assert model.requests == 3


@pytest.mark.real
async def test_the_example_of_copilot_is_permitted_to_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = FakeTool()
    cli = copilot_cli(tmp_path, [[READ, READ], [READ]])
    for name, value in cli.environment.items():
        monkeypatch.setenv(name, value)
    await run(SNIPPETS["GitHub Copilot SDK"], box=fake.box())
    assert capsys.readouterr().out.strip() == FINAL
    assert fake.calls == [{"path": "notes.txt"}] * 3
    assert cli.heard.count('"resultType": "success"') == 3


async def test_the_example_of_langchain_holds_a_whole_conversation() -> None:
    fake, script = FakeTool(), Script([[READ, READ], [READ]])
    left = await run(SNIPPETS["LangChain"], box=fake.box())
    assert await left["ask"](ScriptedChatModel(script=script), "What do my notes say?") == FINAL
    assert fake.calls == [{"path": "notes.txt"}] * 3
    assert model_results(script) == ["done"] * 3


async def test_the_example_of_the_ai_sdk_calls_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    await run(SNIPPETS["Vercel AI SDK"], box=FakeTool().box())
    assert capsys.readouterr().out == "{'type': 'text', 'value': 'done'}\n"


@pytest.mark.real
async def test_the_example_for_blocking_code_runs(
    model: Script,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project(tmp_path)
    monkeypatch.chdir(tmp_path)
    await asyncio.to_thread(exec, SNIPPETS[BLOCKING], {})
    assert capsys.readouterr().out.strip() == FINAL
    assert model.heard.count("buy milk") == 3


def model_results(script: Script) -> list[str]:
    return [each["content"] for each in script.results]


def test_every_target_has_its_line_and_its_example() -> None:
    targets = [name for name in vars(AgentToolbox) if name.startswith(("to_", "answer_"))]
    examples = "".join(SNIPPETS.values())
    assert len(targets) == 12
    for name in targets:
        assert f"`{name}()`" in PAGE
        assert f"box.{name}(" in examples
