"""Definitions of the zoo's servers, and waiting for what becomes of them."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcpyard import Yard
from mcpyard.app import WiredYard

AnyYard = Yard | WiredYard

ZOO = Path(__file__).with_name("zoo.py")


def zoo(mode: str, **policy: object) -> dict[str, Any]:
    """The definition of a server of the zoo that is wanted to run."""
    return {
        "transport": "stdio",
        "command": sys.executable,
        "args": ["-I", "-S", str(ZOO), mode],
        "wanted": "running",
        **policy,
    }


def write_project(folder: Path, servers: dict[str, Any]) -> None:
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def state_of(yard: AnyYard, name: str) -> dict[str, Any]:
    """The record of a server; an empty one when there is none."""
    records = [record for record in yard.servers() if record.name == name]
    return records[0].to_dict() if records else {"status": None, "error": None, "pid": None}


def code_of(yard: AnyYard, name: str) -> str | None:
    error = state_of(yard, name)["error"]
    return error and error["code"]


async def until(yard: AnyYard, condition: Callable[[], object], seconds: float = 40) -> None:
    """Return when the condition holds; looks at it after every event of the yard."""
    events = yard.events()
    try:
        async with asyncio.timeout(seconds):
            if condition():
                return
            async for _ in events:
                if condition():
                    return
    finally:
        events.finish()


async def connected(yard: AnyYard, *names: str) -> None:
    await until(yard, lambda: all(state_of(yard, name)["status"] == "connected" for name in names))
