"""Calls that need approval: by annotation or by a function, in every library."""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner
from langchain_core.tools import BaseTool
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolDenied
from pydantic_ai.models.function import FunctionModel

from mcpyard import AgentToolbox, ApprovalRequest, Tool, ToolApproval, Yard
from mcpyard.agents.langgraph_interrupts import _read
from mcpyard.yard.calls.outcome import ErrorKind
from mcpyard.yard.toolbox.call_approval import Approve, approving
from tests.agents.boxes import FakeTool
from tests.agents.page import SNIPPETS, run
from tests.agents.test_openai_agents import Scripted
from tests.agents.test_pydantic_ai import scripted
from tests.agents.test_ready import plain

PATH = {"path": "a"}
OTHER = {"path": "b"}
HINTS: dict[str, dict[str, Any]] = {
    "silent": {},
    "reads": {"readOnlyHint": True},
    "adds": {"destructiveHint": False},
    "deletes": {"destructiveHint": True},
}


def hinted(name: str) -> Tool:
    fake = FakeTool(name=name)
    return Tool(name, "", fake.schema, fake.call, annotations=HINTS[name], origin="fs")


def gated(approve: Approve, fake: FakeTool) -> AgentToolbox:
    return AgentToolbox(approving(approve)((fake.tool(),)))


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("destructive", {"silent", "deletes"}),
        ("write", {"silent", "adds", "deletes"}),
        ("all", {*HINTS}),
    ],
)
async def test_annotations_say_which_tools_need_approval(rule: Any, names: set[str]) -> None:  # noqa: ANN401  a word
    tools = approving(rule)(tuple(map(hinted, HINTS)))
    assert {each.name for each in tools if each.needs_approval} == names
    assert {each.name for each in tools if not each.cleared} == names
    for tool in tools:
        outcome = await tool.call(PATH)
        assert (outcome.error is ErrorKind.REFUSED) == (tool.name in names)


def test_a_rule_that_does_not_exist_is_refused() -> None:
    wrong: Any = "sometimes"
    for approve in (wrong, ToolApproval(when=wrong)):
        with pytest.raises(ValueError, match='approve: expected "destructive", "write", "all" or'):
            approving(approve)


async def test_a_function_allows_or_refuses_each_call() -> None:
    calls: list[ApprovalRequest] = []
    verdicts: list[Any] = [True, False, "only on Mondays", RuntimeError("lost")]

    def ask(call: ApprovalRequest) -> bool:
        assert threading.current_thread() is not threading.main_thread()
        calls.append(call)
        verdict = verdicts.pop(0)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    fake = FakeTool()
    box = gated(ask, fake)
    outcomes = [await box.call(fake.name, PATH) for _ in range(4)]
    assert [each.is_error for each in outcomes] == [False, True, True, True]
    assert "only on Mondays" in outcomes[2].text
    assert "RuntimeError: lost" in outcomes[3].text
    assert [call.arguments for call in calls] == [PATH] * 4
    assert len(fake.calls) == 1
    assert not box.tools[0].needs_approval

    async def ask_later(call: ApprovalRequest) -> str:
        return f"no {call.tool.name}"

    block = {"id": "1", "name": fake.name, "input": PATH}
    answer = await gated(ToolApproval("all", ask_later), fake).answer_anthropic(block)
    assert answer["is_error"] is True
    assert f"no {fake.name}" in str(answer["content"])
    other = ToolApproval(lambda tool: tool.name == "other", ask_later)
    assert not (await gated(other, fake).call(fake.name, PATH)).is_error


async def run_agents(fake: FakeTool, *, approved: bool) -> tuple[str, str]:
    box, model = gated("destructive", fake), Scripted()
    agent = Agent("a", model=model, tools=box.to_openai_agents())
    config = RunConfig(tracing_disabled=True)
    first = await Runner.run(agent, "go", run_config=config)
    [interruption] = first.interruptions
    assert not fake.calls
    state = first.to_state()
    if approved:
        state.approve(interruption)
    else:
        state.reject(interruption)
    second = await Runner.run(agent, state, run_config=config)
    [output] = (each for each in model.items if each.get("type") == "function_call_output")
    return second.final_output, str(output["output"])


async def test_openai_agents_interrupts_the_run() -> None:
    fake = FakeTool()
    assert await run_agents(fake, approved=True) == ("finished", "done")
    assert fake.calls == [PATH]
    refused = FakeTool()
    finished, output = await run_agents(refused, approved=False)
    assert (finished, refused.calls) == ("finished", [])
    assert "not approved" in output


async def test_pydantic_ai_defers_the_call() -> None:
    for verdict in (True, ToolDenied("no")):
        fake = FakeTool()
        agent = PydanticAgent(
            FunctionModel(scripted),
            toolsets=[gated("all", fake).to_pydantic_ai()],
            output_type=[str, DeferredToolRequests],
        )
        first = await agent.run("go")
        assert isinstance(first.output, DeferredToolRequests)
        [call] = first.output.approvals
        assert not fake.calls
        results = DeferredToolResults(approvals={call.tool_call_id: verdict})
        second = await agent.run(
            message_history=first.all_messages(), deferred_tool_results=results
        )
        assert second.output == "finished"
        assert fake.calls == ([PATH] if verdict is True else [])


async def test_copilot_and_the_ai_sdk_ask_themselves() -> None:
    fake = FakeTool()
    box = gated("destructive", fake)
    [copilot] = box.to_copilot()
    assert not copilot.skip_permission
    [cleared] = gated(lambda _: True, fake).to_copilot()
    assert cleared.skip_permission
    tool = box.to_ai_sdk()[fake.name]
    assert tool.get("needsApproval") is True
    assert "needsApproval" not in fake.box().to_ai_sdk()[fake.name]
    await tool["execute"](PATH)
    assert fake.calls == [PATH]


async def test_langchain_refuses_outside_of_a_graph() -> None:
    fake = FakeTool()
    box = gated("destructive", fake)
    [tool] = box.to_langchain()
    assert isinstance(tool, BaseTool)
    call = {"name": tool.name, "args": PATH, "id": "1", "type": "tool_call"}
    for message in (await tool.ainvoke(call), tool.invoke(call)):
        assert (message.status, "needs the approval" in message.content) == ("error", True)
    assert not fake.calls


@pytest.mark.parametrize(
    ("reply", "arguments"),
    [
        (True, PATH),
        ("approve", PATH),
        ({"decisions": [{"type": "approve"}]}, PATH),
        (
            {"decisions": [{"type": "edit", "edited_action": {"args": {"path": "b"}}}]},
            {"path": "b"},
        ),
        ({"type": "reject", "message": "no"}, None),
        (False, None),
    ],
)
def test_decisions_of_langgraph_are_read(reply: object, arguments: object) -> None:
    [tool] = gated("all", FakeTool()).tools
    decision = _read(tool, PATH, reply)
    if arguments is None:
        assert decision.outcome
        assert decision.outcome.error is ErrorKind.REFUSED
    else:
        assert (decision.tool, decision.arguments) == (tool.unasked, arguments)


@pytest.mark.real
async def test_a_toolbox_of_servers_asks_before_their_tools() -> None:
    async with Yard.open(servers={"a": plain("good")}) as yard:
        await yard.ready(check=True)
        box = yard.toolbox(approve=lambda call: call.arguments.get("text") == "fine")
        fine = await box.call("mcp_a_echo", {"text": "fine"})
        other = await box.call("mcp_a_echo", {"text": "other"})
    assert (fine.text, other.error) == ("fine", ErrorKind.REFUSED)


@pytest.mark.real
async def test_the_examples_of_the_page_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([programs, os.environ["PATH"]]))
    left = await run(SNIPPETS["Approval of calls"])
    assert len({*capsys.readouterr().out.split()}) == 1
    outcome = await left["by_function"].call("mcp_legal_list_templates")
    assert outcome.text == "refused: outside of notes/"
    await run(SNIPPETS["Many tools and long results"])
    assert capsys.readouterr().out == "['search_tools', 'call_tool']\nTrue\n"
