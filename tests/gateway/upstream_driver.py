"""Our upstream side as the client that the conformance suite tests, led by the scenario's name.

The suite runs a command for each scenario, which names the address of a server. That command is
`upstream_hand.py`, which only tells it here: one process imports everything for all of them. Where
the scenario wants a sign-in, the wire is used itself, with a browser that says yes to everything;
elsewhere a yard is opened on the address, and the SDK's client asks through its gateway.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import mcp_types as types
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from mcpyard.domain.cause import Code
from mcpyard.domain.errors import ServerFault, YardError
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.signins import VolatileCredentials
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.jsonrpc import RpcError
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.signin import Identity, SignIn
from mcpyard.wire.remote.streamable_http import HttpLink
from mcpyard.wire.session import Opening, open_session
from tests.api.office import consent
from tests.gateway.serving import served

BACK = "http://127.0.0.1:8712/oauth/callback"
ABOUT_US = "https://conformance-test.local/client-metadata.json"
SIGN_INS = 3
FACE = ClientFace("mcpyard", "1")
TERMS = CallTerms(timeout=20)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the suite wants: its name, the server's address, the revision, and what it tells."""

    name: str
    url: str
    version: str
    parameters: Mapping[str, Any]


async def drive(scenario: Scenario) -> None:
    """Do what a scenario wants of a client."""
    if scenario.name.startswith("auth/"):
        await sign_in_and_call(scenario)
    elif scenario.name == "http-custom-headers":
        await call_unchecked(scenario)
    else:
        await ask_through_gateway(scenario)


@asynccontextmanager
async def driving(socket: Path) -> AsyncGenerator[None]:
    """Take scenarios from the hands that the suite starts."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        error_text = ""
        try:
            await drive(Scenario(**json.loads(await reader.readline())))
        except (LinkFailed, YardError, RpcError, MCPError, ExceptionGroup) as error:
            error_text = f"{type(error).__name__}: {error}"
        writer.write(json.dumps(error_text).encode() + b"\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_unix_server(take, socket):
        yield


async def sign_in_and_call(scenario: Scenario) -> None:
    """Connect, sign in as often as it is asked for within reason, and call what there is."""
    identity = Identity(
        BACK,
        metadata_url=ABOUT_US,
        client_id=scenario.parameters.get("client_id", ""),
        client_secret=scenario.parameters.get("client_secret", ""),
    )
    url = scenario.url
    sign_in = SignIn(url, VolatileCredentials(), identity)
    for _ in range(SIGN_INS):
        if await calls_answered(url, sign_in):
            return
        location = await consent(await sign_in.begin(sign_in.challenge))
        back = dict(parse_qsl(urlsplit(location).query))
        await sign_in.finish(back["code"], back["state"], back.get("iss"))
    await calls_answered(url, sign_in)


async def calls_answered(url: str, sign_in: SignIn) -> bool:
    """Whether everything was answered; if not, a sign-in is wanted first."""
    try:
        link = HttpLink(url, {}, auth=sign_in.auth)
        session = await open_session(link, FACE, Opening(20))
        try:
            for tool in (await session.list_tools()).tools:
                await session.call_tool(tool["name"], {}, TERMS)
        finally:
            await session.close()
    except (LinkFailed, ServerFault) as failure:
        if failure.cause is None or failure.cause.code is not Code.NEEDS_AUTH:
            raise
        return False
    return True


async def call_unchecked(scenario: Scenario) -> None:
    """Call with what the suite gives; some of it breaks the schemas, so a yard would refuse it."""
    session = await open_session(HttpLink(scenario.url), FACE, Opening(20))
    await session.list_tools()
    for call in scenario.parameters["toolCalls"]:
        await session.call_tool(call["name"], call["arguments"], TERMS)
    await session.close()


async def ask_through_gateway(scenario: Scenario) -> None:
    """List everything and call it as a client of the gateway does."""
    definition = {"url": scenario.url, "type": "http", "wanted": "running"}
    async with served({"it": definition}, open_door=True) as yard:
        gateway = yard.gateway("/servers/it")
        mode = "legacy" if scenario.version < "2026" else "auto"
        async with Client(
            gateway, mode=mode, elicitation_callback=accept, sampling_callback=answer
        ) as client:
            await use(client, scenario)


async def use(client: Client, scenario: Scenario) -> None:
    listed = await client.list_tools()
    if "preservation" in scenario.name:
        rich, echo = sorted(listed.tools, key=lambda tool: len(str(tool.input_schema)))[::-1]
        await client.call_tool(echo.name, {"schema": rich.input_schema})
        return
    for tool in listed.tools:
        await client.call_tool(tool.name, made_up(tool.input_schema))
    if "headers" in scenario.name:
        for resource in (await client.list_resources()).resources:
            await client.read_resource(resource.uri)
        for prompt in (await client.list_prompts()).prompts:
            await client.get_prompt(prompt.name)


def made_up(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit a simple schema."""
    values = {"number": 2, "integer": 2, "string": "x", "boolean": True, "object": {}, "array": []}
    properties = schema.get("properties", {})
    return {
        name: values[properties[name].get("type", "string")] for name in schema.get("required", ())
    }


async def accept(context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Take every default."""
    del context
    assert isinstance(params, types.ElicitRequestFormParams)
    return types.ElicitResult(
        action="accept", content=defaults(params.requested_schema["properties"])
    )


def defaults(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each["default"] for name, each in properties.items() if "default" in each}


async def answer(context: object, params: object) -> types.CreateMessageResult:
    del context, params
    content = types.TextContent(text="yes")
    return types.CreateMessageResult(role="assistant", content=content, model="none")
