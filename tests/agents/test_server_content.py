"""Resources, prompts and questions of servers, from Python."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from mcpyard import (
    AttachedYard,
    ElicitAnswer,
    ElicitRequest,
    Outcome,
    Resource,
    SampleAnswer,
    SampleRequest,
    Tool,
    Yard,
)
from mcpyard.domain.errors import CallRefused, Disconnected, ServerUnknown
from mcpyard.yard.server_questions import OnElicit, OnSample
from tests.agents.test_any_loop import on_another_loop
from tests.api.daemon import daemon

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
WATCHED = "test://watched-resource"
TEXT = "test://static-text"
ERAS = ("legacy", "modern")
SAMPLING = {"prompt": "What is the capital of France?"}


def everything(era: str = "legacy", **policy: object) -> dict[str, object]:
    arguments = ["-m", "tests.gateway.everything", era]
    return {"command": sys.executable, "args": arguments, "cwd": str(ROOT), **policy}


@asynccontextmanager
async def opened(
    on_elicit: OnElicit | None = None, on_sample: OnSample | None = None
) -> AsyncGenerator[Yard]:
    servers = {era: everything(era) for era in ERAS}
    async with Yard.open(servers=servers, on_elicit=on_elicit, on_sample=on_sample) as yard:
        await yard.ready(check=True)
        yield yard


async def use_content(yard: Yard | AttachedYard, server: str) -> None:
    """Read everything that a server has beside its tools."""
    resources = {each.uri: each for each in await yard.list_resources(server)}
    assert resources[TEXT].mime_type == "text/plain"
    assert {each.server for each in resources.values()} == {server}
    (template,) = await yard.list_resource_templates(server)
    assert template.uri_template == "test://template/{id}/data"
    contents = await yard.read_resource(TEXT, server)
    assert contents.text.startswith("This is the content")
    (dot,) = (await yard.read_resource("test://static-binary", server)).contents
    assert (dot.mime, bool(dot.blob), dot.text) == ("image/png", True, None)
    assert "42" in (await yard.read_resource("test://template/42/data")).text
    prompts = {each.name: each for each in await yard.list_prompts(server)}
    prompt = prompts["test_prompt_with_arguments"]
    assert [each.name for each in prompt.arguments] == ["arg1", "arg2"]
    result = await yard.get_prompt(server, prompt.name, {"arg1": "one", "arg2": "two"})
    assert result.messages[0].role == "user"
    assert "one" in result.messages[0].text
    with pytest.raises(CallRefused, match="Resource not found"):
        await yard.read_resource("test://nowhere", server)


async def one_update(yard: Yard | AttachedYard, server: str) -> str:
    """Change a resource until its subscriber is told."""
    async with yard.subscribe(WATCHED, server=server) as updates:
        step = asyncio.ensure_future(anext(updates))
        while not step.done():
            await yard.call_tool(server, "test_trigger_resource_change")
            await asyncio.wait({step}, timeout=0.1)
        return (await step).uri


async def test_resources_and_prompts_are_read_from_any_loop() -> None:
    async with opened() as yard:
        await use_content(yard, "legacy")
        await on_another_loop(lambda: use_content(yard, "modern"))
        assert {each.server for each in await yard.list_resources()} == {*ERAS}
        assert (await yard.read_resource(TEXT)).text
        assert await one_update(yard, "legacy") == WATCHED
        assert await on_another_loop(lambda: one_update(yard, "modern")) == WATCHED
        with pytest.raises(CallRefused):
            await yard.read_resource("test://nowhere")
        with pytest.raises(ServerUnknown):
            await yard.list_prompts("nobody")
        await yard.stop("legacy", wait=10)
        with pytest.raises(Disconnected):
            await yard.list_resources("legacy")
        assert {each.server for each in await yard.list_resources()} == {"modern"}
        for era in ERAS:
            refused = await yard.toolbox().call(f"mcp_{era}_test_elicitation", {"message": "Who?"})
            assert "action=" not in refused.text
        updates = yard.subscribe(WATCHED)
        await updates.__aenter__()
        step = asyncio.ensure_future(anext(updates))
    with pytest.raises(StopAsyncIteration):
        await step


async def test_questions_of_servers_reach_the_application() -> None:
    questions: list[ElicitRequest | SampleRequest] = []
    replies: list[object] = []

    def elicit(request: ElicitRequest) -> ElicitAnswer | None:
        questions.append(request)
        reply = replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply  # pyright: ignore[reportReturnType]  one is wrong on purpose

    async def sample(request: SampleRequest) -> str | SampleAnswer:
        questions.append(request)
        return "Paris" if request.server == "legacy" else SampleAnswer("Paris", model="m")

    async with opened(elicit, sample) as yard:
        box = yard.toolbox()
        for era in ERAS:
            questions.clear()
            replies[:] = [{"name": "Ada"}, None, ElicitAnswer("cancel"), 5, RuntimeError("no")]
            outcome = await yard.call_tool(era, "test_input_required_result_elicitation")
            assert (outcome.text, outcome.server, outcome.is_error) == ("Hello, Ada!", era, False)
            tool = f"mcp_{era}_test_sampling"
            sampled = await on_another_loop(lambda tool=tool: box.call(tool, SAMPLING))
            assert sampled.text == "LLM response: Paris"
            question, request = questions
            assert isinstance(question, ElicitRequest)
            assert (question.server, question.message) == (era, "What is your name?")
            assert "name" in str(question.schema)
            assert isinstance(request, SampleRequest)
            assert (request.server, request.max_tokens) == (era, 100)
            assert "France" in request.messages[0].text
            tool, ask = f"mcp_{era}_test_elicitation", {"message": "Who?"}
            texts = [(await box.call(tool, ask)).text for _ in range(4)]
            assert "action=decline" in texts[0]
            assert "action=cancel" in texts[1]
            assert "on_elicit returned int" in texts[2]
            assert "RuntimeError: no" in texts[3]
            roots = await box.call(f"mcp_{era}_test_input_required_result_list_roots")
            assert roots.is_error


def test_blocking_code_reads_and_is_asked() -> None:
    def elicit(_request: ElicitRequest) -> dict[str, object]:
        return {"name": "Ada"}

    with Yard.open_sync(servers={"all": everything()}, on_elicit=elicit) as yard:
        yard.ready(check=True)
        assert TEXT in [each.uri for each in yard.list_resources()]
        assert yard.list_resource_templates()
        assert yard.read_resource(TEXT).text
        assert yard.list_prompts("all")
        assert yard.get_prompt("all", "test_simple_prompt").messages
        box = yard.toolbox()
        assert box.call_sync("mcp_all_test_input_required_result_elicitation").text == "Hello, Ada!"
        updates = yard.subscribe(WATCHED)
        timer = threading.Timer(0.3, lambda: yard.call_tool("all", "test_trigger_resource_change"))
        timer.start()
        assert next(updates).uri == WATCHED
        timer.join()
        updates.close()  # pyright: ignore[reportAttributeAccessIssue]  a generator


async def test_a_running_mcpyard_carries_all_of_it(tmp_path: Path) -> None:
    async def elicit(request: ElicitRequest) -> dict[str, object]:
        return {"name": request.server}

    def sample(_request: SampleRequest) -> str:
        return "Paris"

    home = tmp_path / "home"
    with daemon(home):
        async with Yard.attach(home, on_elicit=elicit, on_sample=sample) as yard:
            for era in ERAS:
                body = {"name": era, "transport": "stdio", **everything(era, wanted="running")}
                await yard.register(body, wait=20)
                await use_content(yard, era)
                assert await one_update(yard, era) == WATCHED
                called = await yard.call_tool(era, "test_input_required_result_elicitation")
                assert called.text == f"Hello, {era}!"
                box = yard.toolbox()
                sampled = await on_another_loop(
                    lambda box=box, era=era: box.call(f"mcp_{era}_test_sampling", SAMPLING)
                )
                assert (sampled.text, sampled.server) == ("LLM response: Paris", era)
                wrong = await box.call(f"mcp_{era}_test_elicitation", {"message": 5})
                assert wrong.is_error
            box = yard.toolbox(read_resource=True)
            late = await box.call("mcp_legacy_waits", {"tag": "x"}, timeout=0.2)
            assert str(late.error) == "timeout"
            assert (await box.call("read_resource", {"uri": TEXT})).parts


def linking(server: str) -> Tool:
    """A tool of a server whose result links to a resource that both servers have."""

    async def calling(*_: object) -> Outcome:
        content = [{"type": "resource_link", "uri": TEXT, "name": "the text"}]
        return Outcome(orjson.dumps({"content": content}), server, "link", 1.0)

    return Tool(f"link_{server}", "", {}, calling, origin=server, native="link")


async def test_an_agent_reads_the_links_of_results() -> None:
    async with opened() as yard:
        box = yard.toolbox(own=[linking("legacy"), linking("modern")], read_resource=True)
        tool = box.get("read_resource")
        assert tool
        assert tool.annotations["readOnlyHint"] is True
        assert (await box.call("read_resource", {"uri": TEXT})).parts
        await box.call("link_legacy")
        assert not (await box.call("read_resource", {"uri": TEXT})).is_error
        await box.call("link_modern")
        which = await box.call("read_resource", {"uri": TEXT})
        assert (which.is_error, "legacy, modern" in which.text) == (True, True)
        (part,) = (await box.call("read_resource", {"uri": TEXT, "server": "modern"})).parts
        assert isinstance(part, Resource)
        assert part.text
        unknown = await box.call("read_resource", {"uri": "test://nowhere"})
        assert unknown.is_error
        few = yard.toolbox(select=["legacy/*"], read_resource=True)
        other = await few.call("read_resource", {"uri": TEXT, "server": "modern"})
        assert "modern" in other.text
        assert other.is_error
        assert not (await few.call("read_resource", {"uri": TEXT})).is_error
        assert (await few.call("read_resource", {"uri": "test://template/1/data"})).is_error
        assert yard.toolbox().get("read_resource") is None
