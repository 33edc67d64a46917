"""A server that has died, with a fallback."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.gateway.talking import ODD_SERVER, Talk, odd_server, talking
from tests.runtime.waiting import eventually

FOREIGN: list[dict[str, object]] = [
    {},
    {"claudecode/toolUseId": "toolu_1"},
    {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    {"progressToken": 1, "x/y": {"z": [1]}},
]
"""What clients send in `_meta`."""

# It answers one time only: once it was killed, it is on its way up for as long as a test takes.
_ONCE = """
import os, signal, sys
mark, server, era = sys.argv[1:]
if os.path.exists(mark):
    signal.pause()
open(mark, "w").close()
os.execv(sys.executable, [sys.executable, "-I", "-S", server, era])
"""


@asynccontextmanager
async def main_is_away(folder: Path, era: str, *, home: Path | None = None) -> AsyncGenerator[Talk]:
    """Two servers of an era, the first of which has died and has the second as its fallback."""
    once = ["-c", _ONCE, str(folder / "mark"), str(ODD_SERVER), era]
    main = {"command": sys.executable, "args": once, "wanted": "running", "timeout": 2000}
    main["fallback"] = ["spare"]
    async with talking({"main": main, "spare": odd_server(era)}, home=home) as talk:
        yard = talk.served.yard
        pid: Any = yard.record("main").pid
        os.kill(pid, signal.SIGKILL)
        assert await eventually(lambda: yard.record("main").phase != "connected", 10)
        yield talk
