"""Clients of either era before servers of either era, over HTTP and through the bridge."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import httpx2
import mcp_types as types
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.subscriptions import ResourceUpdated

from tests.api.daemon import Daemon, daemon
from tests.cli.commands import write_project
from tests.gateway.serving import everything

pytestmark = [
    pytest.mark.real,
    # Half of these clients are of the older era on purpose.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
    pytest.mark.parametrize("transport", ["http", "stdio"]),
    pytest.mark.parametrize("client_era", ["legacy", "modern"]),
    pytest.mark.parametrize("server_era", ["legacy", "modern"]),
]

VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Generator[Daemon]:
    """A yard with a server of each era, and a profile for each."""
    folder = tmp_path_factory.mktemp("matrix")
    root = str(Path(__file__).parents[2])
    servers = {era: everything(era, env={"PYTHONPATH": root}) for era in VERSIONS}
    for each in servers.values():
        del each["wanted"]
    project = write_project(folder / "project", **servers)
    with daemon(folder / "home", "--project", project) as up:
        for era, version in VERSIONS.items():
            up.until(era, lambda record: record["status"] == "connected")
            assert up.record(era)["protocolVersion"] == version
            up.post("/api/profiles", {"name": f"only-{era}", "servers": [era]}, 201)
        yield up


class Person:
    """Whoever answers for a client, and hears what it is told."""

    def __init__(self) -> None:
        self.notifications: asyncio.Queue[object] = asyncio.Queue()

    async def elicit(self, context: object, params: object) -> types.ElicitResult:
        del context, params
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def sample(self, context: object, params: object) -> types.CreateMessageResult:
        del context, params
        content = types.TextContent(text="Paris")
        return types.CreateMessageResult(role="assistant", content=content, model="none")

    async def hear(self, message: object) -> None:
        self.notifications.put_nowait(message)

    async def until(self, kind: type[Any]) -> Any:  # noqa: ANN401  any notification
        async with asyncio.timeout(10):
            while not isinstance(message := await self.notifications.get(), kind):
                pass
        return message


class Case:
    """One cell of the matrix."""

    def __init__(self, yard: Daemon, transport: str, client_era: str, server_era: str) -> None:
        self._yard = yard
        self._transport = transport
        self._server_era = server_era
        self.modern = client_era == "modern"
        self.person = Person()

    def tool(self, name: str) -> str:
        return f"mcp_{self._server_era}_{name}"

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Client]:
        mode: Literal["auto", "legacy"] = "auto" if self.modern else "legacy"
        async with self._target() as target:
            client = Client(
                target,
                mode=mode,
                elicitation_callback=self.person.elicit,
                sampling_callback=self.person.sample,
                message_handler=self.person.hear,
            )
            async with client:
                assert client.protocol_version == VERSIONS["modern" if self.modern else "legacy"]
                yield client

    @asynccontextmanager
    async def _target(self) -> AsyncGenerator[Any]:
        home, profile = self._yard.up.home, f"only-{self._server_era}"
        if self._transport == "stdio":
            args = ["-m", "mcpyard", "stdio", "--home", str(home), "--profile", profile]
            yield StdioServerParameters(command=sys.executable, args=args)
            return
        token = {"Authorization": f"Bearer {(home / 'token').read_text()}"}
        async with httpx2.AsyncClient(headers=token, timeout=30) as http:
            yield streamable_http_client(f"{self._yard.up.url}/mcp/{profile}", http_client=http)


@pytest.fixture
def case(yard: Daemon, transport: str, client_era: str, server_era: str) -> Case:
    return Case(yard, transport, client_era, server_era)


def text_of(result: Any) -> str:  # noqa: ANN401  the result of a call
    (block,) = result.content
    return block.text


async def test_tools_are_listed_and_called(case: Case) -> None:
    async with case.open() as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert case.tool("test_simple_text") in listed
        result = await client.call_tool(case.tool("test_simple_text"), {})
        assert text_of(result) == "This is a simple text response for testing."
        failed = await client.call_tool(case.tool("test_error_handling"), {})
        assert failed.is_error
        assert "intentionally" in text_of(failed)


async def test_progress_comes_before_the_answer(case: Case) -> None:
    seen: list[tuple[float, float | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        del message
        seen.append((progress, total))

    async with case.open() as client:
        name = case.tool("test_tool_with_progress")
        assert text_of(await client.call_tool(name, {}, progress_callback=on_progress)) == "done"
    assert seen == [(0, 100), (50, 100), (100, 100)]


async def test_a_cancelled_call_is_cancelled_at_the_server(case: Case) -> None:
    begun, tag = asyncio.Event(), uuid4().hex

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        del progress, total, message
        begun.set()

    async with case.open() as client:
        calling = asyncio.create_task(
            client.call_tool(case.tool("waits"), {"tag": tag}, progress_callback=on_progress)
        )
        await begun.wait()
        calling.cancel()
        assert text_of(await client.call_tool(case.tool("cancelled"), {"tag": tag})) == "cancelled"


async def test_a_server_that_asks_the_user_is_answered(case: Case) -> None:
    async with case.open() as client:
        name = case.tool("test_input_required_result_elicitation")
        assert text_of(await client.call_tool(name, {})) == "Hello, Ada!"
        several = await client.call_tool(case.tool("test_input_required_result_multi_round"), {})
        assert text_of(several) == "both steps done"


async def test_a_server_that_asks_the_model_is_answered(case: Case) -> None:
    async with case.open() as client:
        result = await client.call_tool(case.tool("test_sampling"), {"prompt": "the capital?"})
        assert text_of(result) == "LLM response: Paris"


async def test_resources_are_read_and_watched(case: Case) -> None:
    async with case.open() as client:
        # Of two servers that list the same addresses one has its name in them.
        listed = [str(each.uri) for each in (await client.list_resources()).resources]
        (watched,) = [uri for uri in listed if uri.endswith("watched-resource")]
        (static,) = [uri for uri in listed if uri.endswith("static-text")]
        (template,) = (await client.list_resource_templates()).resource_templates
        (text,) = (await client.read_resource(static)).contents
        assert isinstance(text, types.TextResourceContents)
        assert text.text == "This is the content of the static text resource."
        (contents,) = (
            await client.read_resource(template.uri_template.replace("{id}", "7"))
        ).contents
        assert isinstance(contents, types.TextResourceContents)
        assert '"id": "7"' in contents.text
        if case.modern:
            async with client.listen(resource_subscriptions=[watched]) as updates:
                await client.call_tool(case.tool("test_trigger_resource_change"), {})
                assert await asyncio.wait_for(anext(updates), 10) == ResourceUpdated(uri=watched)
        else:
            await client.subscribe_resource(watched)  # pyright: ignore[reportDeprecated]
            await client.call_tool(case.tool("test_trigger_resource_change"), {})
            updated = await case.person.until(types.ResourceUpdatedNotification)
            assert str(updated.params.uri) == watched


async def test_a_changed_list_is_told(case: Case) -> None:
    async with case.open() as client:
        before = len((await client.list_tools()).tools)
        if case.modern:
            async with client.listen(tools_list_changed=True) as changes:
                await client.call_tool(case.tool("test_trigger_tool_change"), {})
                await asyncio.wait_for(anext(changes), 10)
        else:
            await client.call_tool(case.tool("test_trigger_tool_change"), {})
            await case.person.until(types.ToolListChangedNotification)
        after = (await client.list_tools(cache_mode="bypass")).tools
        assert len(after) > before
