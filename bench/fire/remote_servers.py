"""Servers behind HTTP and SSE: `python -m bench.fire.remote_servers PORT`.

As many as are asked for: the path names each of them, and the header X-Tag its tag. They answer as
`nonce_server` does.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"name": each, "inputSchema": TEXT} for each in ("nonce", "hang")]

Message = dict[str, Any]


async def answer(request: Request) -> Message | None:
    """The answer to what a request brings; None for what wants none."""
    message = await request.json()
    if "id" not in message:
        return None
    name, tag = request.path_params["name"], request.headers.get("x-tag", "")
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            info = {"name": name, "version": "1"}
            spoken = {"protocolVersion": "2025-11-25", "serverInfo": info}
            reply: Message = {"result": {**spoken, "capabilities": {"tools": {}}}}
        case "tools/list":
            reply = {"result": {"tools": TOOLS}}
        case "ping":
            reply = {"result": {}}
        case "tools/call":
            if params["name"] == "hang":
                await asyncio.Event().wait()
            text = f"{name} {tag} {os.getpid()} {params['arguments']['text']}"
            reply = {"result": {"content": [{"type": "text", "text": text}]}}
        case _:
            reply = {"error": {"code": -32601, "message": "not here"}}
    return {"jsonrpc": "2.0", "id": message["id"], **reply}


async def streamable(request: Request) -> Response:
    try:
        reply = await answer(request)
    except ClientDisconnect:
        reply = None
    return Response(status_code=202) if reply is None else JSONResponse(reply)


class Streams:
    """The SSE streams that are open."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._open: dict[str, asyncio.Queue[Message]] = {}
        self._answering: set[asyncio.Task[None]] = set()

    async def listen(self, request: Request) -> Response:
        name, number = request.path_params["name"], str(next(self._numbers))
        return StreamingResponse(self._events(name, number), media_type="text/event-stream")

    async def post(self, request: Request) -> Response:
        queue = self._open.get(request.path_params["number"])
        if queue is None:
            return Response(status_code=404)
        with suppress(ClientDisconnect):
            await request.body()
        task = asyncio.create_task(self._put(queue, request))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return Response(status_code=202)

    async def _put(self, queue: "asyncio.Queue[Message]", request: Request) -> None:
        with suppress(ClientDisconnect):
            if reply := await answer(request):
                queue.put_nowait(reply)

    async def _events(self, name: str, number: str) -> AsyncIterator[str]:
        queue = self._open[number] = asyncio.Queue()
        try:
            yield f"event: endpoint\ndata: /messages/{name}/{number}\n\n"
            while True:
                yield f"data: {json.dumps(await queue.get())}\n\n"
        finally:
            del self._open[number]


def app() -> Starlette:
    streams = Streams()
    return Starlette(
        routes=[
            Route("/http/{name}", streamable, methods=["POST"]),
            Route("/sse/{name}", streams.listen, methods=["GET"]),
            Route("/messages/{name}/{number}", streams.post, methods=["POST"]),
        ]
    )


if __name__ == "__main__":
    uvicorn.run(app(), port=int(sys.argv[1]), log_level="error", timeout_graceful_shutdown=1)
