"""Streamable HTTP servers by script, and links to them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from mcpyard.wire.remote.eventstream import DEFAULT_LIMIT
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.wire.servers import RawServer, Recorder, Script, Talk, initialize, notice, raw_server


@asynccontextmanager
async def linked(
    url: str, headers: Mapping[str, str] | None = None, *, limit: int = DEFAULT_LIMIT
) -> AsyncGenerator[tuple[HttpLink, Recorder]]:
    link, recorder = HttpLink(url, headers, limit=limit), Recorder()
    await link.open(recorder)
    try:
        yield link, recorder
    finally:
        await link.close()


@asynccontextmanager
async def served(
    script: Script, headers: Mapping[str, str] | None = None, *, limit: int = DEFAULT_LIMIT
) -> AsyncGenerator[tuple[HttpLink, Recorder, RawServer]]:
    async with (
        raw_server(script) as server,
        linked(server.url, headers, limit=limit) as (link, recorder),
    ):
        yield link, recorder, server


def refuse(status: int, body: bytes = b"", **headers: str) -> Script:
    async def script(talk: Talk) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await talk.body(status, body, "text/plain", named)

    return script


async def answer(talk: Talk) -> None:
    if talk.heard.id is None:
        await talk.body(202)
    else:
        await talk.answer({"said": talk.heard.message["method"]})


async def handshake(link: HttpLink, recorder: Recorder) -> None:
    link.send(initialize())
    await recorder.answer(0)
    link.protocol_version = "2025-11-25"
    link.send(notice("notifications/initialized"))


def with_session(then: Script, session: str = "abc") -> Script:
    async def script(talk: Talk) -> None:
        if talk.heard.method == "DELETE":
            await talk.body(200)
        elif talk.heard.message.get("method") == "initialize":
            await talk.answer({}, {"Mcp-Session-Id": session})
        elif talk.heard.method == "POST" and talk.heard.id is None:
            await talk.body(202)
        else:
            await then(talk)

    return script
