"""A yard that runs the server `fs` for real."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcpyard import Yard
from tests.faults.watching import connected

SERVER = Path(__file__).with_name("fs.py")


@asynccontextmanager
async def yard_of_fs(**policy: object) -> AsyncGenerator[Yard]:
    command = {"command": sys.executable, "args": ["-I", "-S", str(SERVER)]}
    fs = {"transport": "stdio", "wanted": "running", **command, **policy}
    async with Yard.open(servers={"fs": fs}) as yard:
        await connected(yard, "fs")
        yield yard
