"""Toolboxes after a change: refreshed ones, toolsets that look again, a mcpyard that came back."""

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

import mcpyard
from mcpyard import AgentToolbox, ErrorKind, Yard
from mcpyard.domain import errors
from tests.agents.boxes import FakeTool
from tests.api.daemon import daemon
from tests.faults.watching import zoo

pytestmark = pytest.mark.real


async def test_a_toolbox_is_refreshed_only_where_something_changed() -> None:
    async with Yard.open(servers={"a": zoo("good")}) as yard:
        await yard.ready(check=True)
        box = yard.toolbox()
        assert box.refreshed() is box
        yard.code.add("b", zoo("good"))
        await yard.ready(check=True)
        newer = box.refreshed()
    assert {tool.origin for tool in box} == {"a"}
    assert {tool.origin for tool in newer} == {"a", "b"}
    assert FakeTool().box().refreshed()


async def test_a_toolset_sees_tools_that_came_and_went() -> None:
    model = TestModel(call_tools=[])
    async with Yard.open(servers={"a": zoo("good")}) as yard:
        await yard.ready(check=True)
        agent = Agent(model, toolsets=[yard.toolbox().to_pydantic_ai()])
        for name in "bc":
            yard.code.add(name, zoo("good"))
            await yard.ready(check=True)
            await agent.run("go")
            assert model.last_model_request_parameters
            offered = {tool.name for tool in model.last_model_request_parameters.function_tools}
            assert {"mcp_a_echo", f"mcp_{name}_echo"} <= offered
            yard.code.remove(name)


async def test_a_time_out_of_a_server_says_how_long_it_took() -> None:
    async with Yard.open(servers={"a": zoo("good")}) as yard:
        await yard.ready(check=True)
        outcome = await yard.toolbox().call("mcp_a_hang", timeout=0.05)
    assert outcome.error is ErrorKind.TIMEOUT
    assert outcome.ms >= 50


async def test_a_mcpyard_that_came_back_on_another_port_is_found_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as first:
        manager = Yard.attach(home)
        yard = await manager.__aenter__()
        await yard.register({"name": "a", **zoo("good")}, wait=20)
        box = yard.toolbox()
        before = first.up.url
    gone = await box.call("mcp_a_echo", {"text": "x"})
    with daemon(home) as second:
        assert second.up.url != before
        events = yard.events()
        again = await box.call("mcp_a_echo", {"text": "again"}, timeout=20)
        while not yard.record("a").pid or yard.record("a").status != "connected":
            await events.batch()
        assert await yard.ready()
        await manager.__aexit__(None, None, None)
    assert gone.error is ErrorKind.DISCONNECTED
    assert again.text == "again"


def metadata(box: AgentToolbox) -> list[Any]:
    toolset: Any = box.to_pydantic_ai()
    definitions = [toolset._latest()]
    (copilot,), (langchain,) = box.to_copilot(), box.to_langchain()
    (agents,) = box.to_openai_agents()
    extractor: Any = getattr(agents, "custom_data_extractor", None)
    assert definitions
    return [
        (copilot.metadata or {})["mcpyard"],
        langchain.metadata,
        box.to_ai_sdk()["mcp_fs_read_file"]["metadata"],
        extractor(None)["mcpyard"],
    ]


def test_titles_and_annotations_are_in_the_metadata_of_every_library_that_has_one() -> None:
    tool = FakeTool().tool()
    box = AgentToolbox([tool])
    assert metadata(box) == [tool.metadata] * 4
    assert set(tool.metadata) == {"server", "title", "annotations", "stale"}


def test_every_error_is_exported() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    leaves = {each.__name__ for each in kinds if issubclass(each, errors.YardError)}
    assert leaves <= {*mcpyard.__all__}
