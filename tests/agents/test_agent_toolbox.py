"""What holds for every agent library alike."""

import builtins
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import FakeTool

ADAPTERS = ("copilot", "langchain", "openai_agents", "pydantic_ai")
LIBRARIES = (
    "agents",
    "anthropic",
    "copilot",
    "google.genai",
    "langchain_core",
    "openai",
    "pydantic_ai",
)


@pytest.mark.parametrize(
    ("convert", "library", "extra"),
    [
        (AgentToolbox.to_copilot, "copilot", "copilot"),
        (AgentToolbox.to_openai_agents, "agents", "openai-agents"),
        (AgentToolbox.to_langchain, "langchain_core", "langchain"),
        (AgentToolbox.to_pydantic_ai, "pydantic_ai", "pydantic-ai"),
    ],
)
def test_a_missing_library_is_told_with_the_extra_that_brings_it(
    convert: Callable[[AgentToolbox], object],
    library: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _forget(monkeypatch)
    _hide(monkeypatch, library)
    with pytest.raises(ImportError, match=rf'pip install "mcpyard\[{extra}\]"'):
        convert(FakeTool().box())


def test_something_else_that_is_missing_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget(monkeypatch)
    _hide(monkeypatch, "mcpyard.catalog.lowering")
    with pytest.raises(ModuleNotFoundError, match=r"hidden: mcpyard\.catalog\.lowering"):
        FakeTool().box().to_copilot()


@pytest.mark.real
def test_the_plain_targets_need_no_library_and_the_yard_imports_none() -> None:
    program = (
        "import sys\n"
        "from mcpyard import Yard\n"
        "from mcpyard.agents.toolbox import AgentToolbox as Box\n"
        "box = Box([])\n"
        "box.to_openai(), box.to_anthropic(), box.to_gemini(), box.to_ai_sdk()\n"
        f"print([name for name in {LIBRARIES!r} if name in sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"


def test_tools_are_offered_by_names_that_every_agent_accepts() -> None:
    box = AgentToolbox([FakeTool(name=name).tool() for name in ("a.b", "a_b", "查询", "x" * 80)])
    names = [*box.offered]
    assert len({*names}) == 4
    assert [*box.to_ai_sdk()] == names
    assert [tool.name for tool in box.to_copilot()] == names
    assert [tool["name"] for tool in box.to_anthropic()] == names


@pytest.mark.parametrize("stale", [True, False])
async def test_a_tool_of_a_server_that_is_away_is_marked(*, stale: bool) -> None:
    hints = {"readOnlyHint": True}
    tool = replace(FakeTool().tool(), stale=stale, title="Read", annotations=hints)
    box = AgentToolbox([tool])
    mark = {"server": "fs", "stale": stale, "title": "Read", "annotations": hints}
    assert box.to_ai_sdk()[tool.name]["metadata"] == mark
    assert box.to_copilot()[0].metadata == {"mcpyard": mark}
    assert box.to_langchain()[0].metadata == mark


async def test_a_tool_is_called_by_the_name_it_is_offered_by() -> None:
    fake = FakeTool(name="files.read")
    call = {"id": "1", "name": "files_read", "input": {"path": "a"}}
    answer = await fake.box().answer_anthropic(call)
    assert (answer["is_error"], fake.calls) == (False, [{"path": "a"}])


def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the adapters be imported anew."""
    for adapter in ADAPTERS:
        monkeypatch.delitem(sys.modules, f"mcpyard.agents.{adapter}", raising=False)


def _hide(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """Let a library be missing."""
    real = builtins.__import__

    def hiding(name: str, *args: Any) -> object:  # noqa: ANN401  as the built-in
        if name == library or name.startswith(f"{library}."):
            raise ModuleNotFoundError(f"hidden: {name}", name=name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", hiding)
