"""The examples of the page about agents run."""

import ast
import inspect
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from anthropic.types import ToolUseBlock
from openai.types.responses import ResponseFunctionToolCall
from pydantic_ai.models.test import TestModel

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import FakeTool
from tests.agents.fs_yard import SERVER

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
FIRST, *REST = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TITLES = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)


async def run(snippet: str, **names: object) -> dict[str, Any]:
    """Run a snippet that awaits at its outermost level; gives the names it leaves."""
    code = compile(snippet, "agents.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    left: dict[str, Any] = dict(names)
    ran = eval(code, left)  # noqa: S307  our own page
    if inspect.isawaitable(ran):
        await ran
    return left


class Client:
    """A service that asks for one call, whoever is asked."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.responses = self.messages = self

    async def create(self, **options: object) -> SimpleNamespace:
        self.given = options
        name = "mcp_fs_read_file"
        arguments: dict[str, object] = {"path": "notes.txt"}
        call = ResponseFunctionToolCall(
            arguments=json.dumps(arguments), call_id="1", name=name, type="function_call"
        )
        use = ToolUseBlock(id="1", name=name, input=arguments, type="tool_use")
        return SimpleNamespace(output=[call], content=[use])

    create_session = create


@pytest.mark.real
async def test_the_first_example_reads_a_file_through_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("buy milk")
    fs = {"command": sys.executable, "args": ["-I", "-S", str(SERVER)]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"fs": fs}}))
    monkeypatch.chdir(tmp_path)
    left = await run(FIRST)
    assert capsys.readouterr().out == "buy milk fs (date unknown)\n"
    assert next(tool.name for tool in left["box"]) == "today"


@pytest.mark.parametrize("snippet", REST, ids=TITLES[: len(REST)])
async def test_an_example_for_a_library_runs(snippet: str) -> None:
    fake, client = FakeTool(), Client()
    left = await run(snippet, box=fake.box(), client=client, history=[], model=TestModel())
    agent = left.get("agent")
    assert fake.calls or client.given.get("tools") or (agent and agent.tools)
    assert left["history"] == [] or "done" in str(left["history"][-1])


def test_every_target_has_its_line_and_its_example() -> None:
    targets = [name for name in vars(AgentToolbox) if name.startswith(("to_", "answer_"))]
    examples = "".join(REST)
    assert len(targets) == 11
    for name in targets:
        assert f"`{name}()`" in PAGE
        assert f"box.{name}(" in examples
