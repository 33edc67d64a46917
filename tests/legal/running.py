"""The real command, as a child process."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "mcpyard.legal"]


@asynccontextmanager
async def listening(transport: str, home: Path) -> AsyncGenerator[str]:
    """The server over HTTP or SSE; its address."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("--transport", transport, "--port", "0", "--home", str(home)),
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr
    try:
        line = (await process.stderr.readline()).decode()
        assert "listening at " in line, line
        yield line.split("listening at ")[1].strip()
    finally:
        process.terminate()
        await process.communicate()
