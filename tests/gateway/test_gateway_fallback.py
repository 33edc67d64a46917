"""A fallback server answers through the gateway, whatever the client sent, within its rights."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.talking import ODD_SERVER, Message, Talk, odd, talking, text_of
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

TOOL = "mcp_main_nonce"
FOREIGN: list[dict[str, object]] = [
    {},
    {"claudecode/toolUseId": "toolu_1"},
    {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    {"progressToken": 1, "x/y": {"z": [1]}},
]
# It answers one time only: once it was killed, it is on its way up for as long as a test takes.
ONCE = """
import os, signal, sys
mark, server, era = sys.argv[1:]
if os.path.exists(mark):
    signal.pause()
open(mark, "w").close()
os.execv(sys.executable, [sys.executable, "-I", "-S", server, era])
"""


@asynccontextmanager
async def main_is_away(folder: Path, era: str) -> AsyncGenerator[Talk]:
    """Two servers of an era, the first of which has died and has the second as its fallback."""
    once = ["-c", ONCE, str(folder / "mark"), str(ODD_SERVER), era]
    main = {"command": sys.executable, "args": once, "wanted": "running", "timeout": 2000}
    main["backup"] = ["spare"]
    async with talking({"main": main, "spare": odd(era)}) as talk:
        yard = talk.served.yard
        pid: Any = yard.record("main")["pid"]
        os.kill(pid, signal.SIGKILL)
        assert await eventually(lambda: yard.record("main")["phase"] != "connected", 10)
        yield talk


def params(text: str, meta: dict[str, object]) -> dict[str, Any]:
    return {"name": TOOL, "arguments": {"text": text}, **({"_meta": meta} if meta else {})}


@pytest.mark.spec("F1.1")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_fallback_answers_whatever_meta_the_client_sent(tmp_path: Path, era: str) -> None:
    async with main_is_away(tmp_path, era) as talk:
        session = await talk.meet()
        for number, meta in enumerate(FOREIGN):
            told = await session.ask("tools/call", **params(f"{number}", meta))
            assert text_of(told) == f"{number}"
            body, headers = talk.modern("tools/call", params(f"modern {number}", {}), **meta)
            answer: Message = (await talk.post(body, **headers)).json()
            assert text_of(answer) == f"modern {number}"


@pytest.mark.spec("F1.2")
@pytest.mark.parametrize("meta", FOREIGN[:2])
async def test_a_fallback_never_leads_outside_the_callers_profile(
    tmp_path: Path, meta: dict[str, object]
) -> None:
    async with main_is_away(tmp_path, "legacy") as talk:
        profiles = talk.served.yard.profiles
        off = {"spare": {"nonce": {"enabled": False}}}
        await profiles.create({"name": "both", "servers": ["*"]})
        await profiles.create({"name": "one", "servers": ["main"]})
        await profiles.create({"name": "off", "servers": ["*"], "tools": off})
        for profile, is_answered in (("both", True), ("one", False), ("off", False)):
            session = await talk.meet(f"/mcp/{profile}")
            told = await session.ask("tools/call", **params("x", meta))
            assert ("result" in told) is is_answered, told
            if not is_answered:
                assert "spare" not in told["error"]["message"]
