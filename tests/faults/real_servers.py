"""Real MCP servers, as `scripts/servers` installs them."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.free_ports import free_port

ROOT = Path(__file__).parents[2]
FROM_PYPI = Path(f"{sys.prefix}-servers") / "bin"
FROM_NPM = ROOT / "tests" / "node_modules" / ".bin"
EVERYTHING = FROM_NPM / "mcp-server-everything"

needs_pypi = pytest.mark.skipif(
    not (FROM_PYPI / "mcp-server-git").exists(), reason="scripts/servers has not been run"
)
needs_npm = pytest.mark.skipif(
    not EVERYTHING.exists(), reason="scripts/servers has not been run, or there is no npm"
)


def definition(program: Path | str, *args: str, **more: object) -> dict[str, Any]:
    return {"transport": "stdio", "command": str(program), "args": [*args], **more}


def definitions(folder: Path) -> dict[str, dict[str, Any]]:
    """The four servers; `folder` must be a git repository."""
    return {
        "time": definition(FROM_PYPI / "mcp-server-time"),
        "git": definition(FROM_PYPI / "mcp-server-git", "--repository", str(folder)),
        "everything": definition(EVERYTHING, "stdio"),
        "filesystem": definition(FROM_NPM / "mcp-server-filesystem", str(folder)),
    }


@asynccontextmanager
async def everything_over(transport: str) -> AsyncGenerator[int]:
    """server-everything as an HTTP server; its port."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        EVERYTHING, transport, env=os.environ | {"PORT": str(port)}, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr
    try:
        while f"port {port}" not in (line := (await process.stderr.readline()).decode()):
            assert line, "server-everything did not start"
        yield port
    finally:
        process.kill()
        await process.communicate()
