"""Other people's clients list and call through the gateway."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.api.asgi import TOKEN
from tests.cli.commands import MCPYARD, echo, write_project, yard_up
from tests.gateway.serving import served
from tests.gateway.suite import MODULES, NODE, needs_suite

pytestmark = [pytest.mark.real, needs_suite]

INSPECTOR = MODULES / ".bin" / "mcp-inspector"
TS_CLIENT = Path(__file__).with_name("ts_client.mjs")
ECHO = {"echo": echo(wanted="running")}
CALL = ("--method", "tools/call", "--tool-name", "mcp_echo_echo", "--tool-arg", "text=hello")


async def node(*arguments: object, **env: str) -> Any:  # noqa: ANN401  whatever it prints
    """What a program on Node prints as JSON."""
    process = await asyncio.create_subprocess_exec(
        NODE,
        *map(str, arguments),
        env=os.environ | env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, output.decode() + errors.decode()
    return json.loads(output)


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


async def test_the_inspector_lists_and_calls_by_address(tmp_path: Path) -> None:
    async with served(ECHO) as yard:
        door = ("--header", f"Authorization: Bearer {TOKEN}", "--transport", "http")
        command = (INSPECTOR, "--cli", yard.gateway(), *door)
        home = {"HOME": str(tmp_path)}
        listed, called = await asyncio.gather(
            node(*command, "--method", "tools/list", **home), node(*command, *CALL, **home)
        )
    assert "mcp_echo_echo" in [tool["name"] for tool in listed["tools"]]
    assert text_of(called) == "hello"


async def test_the_inspector_calls_through_the_bridge(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", echo=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        await asyncio.to_thread(up.event, "status", status="connected")
        config = {"command": MCPYARD[0], "args": [*MCPYARD[1:], "stdio", "--home", str(up.home)]}
        file = tmp_path / "config.json"
        file.write_text(json.dumps({"mcpServers": {"yard": config}}))
        command = (INSPECTOR, "--cli", "--config", file, "--server", "yard")
        assert text_of(await node(*command, *CALL, HOME=str(tmp_path))) == "hello"


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_typescript_client_lists_and_calls(era: str) -> None:
    async with served(ECHO) as yard:
        result = await node(TS_CLIENT, yard.gateway(), TOKEN, era)
    assert "mcp_echo_echo" in result["tools"]
    assert text_of(result) == "hello"
