"""A yard in a process of its own, so that it can be killed and measured.

Run as `python -m tests.faults.host FOLDER`: it runs the project of that folder until SIGTERM or
SIGINT. It says one line of JSON when it is ready, and one for each line on its standard input:
`{"do": "records"}`, or `{"do": "call", "server": ..., "tool": ..., "arguments": ...}`.
"""

import asyncio
import signal
import sys
from typing import Any

import orjson
import uvloop

from mcpyard import Yard
from mcpyard.domain.errors import YardError


def say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
    sys.stdout.buffer.flush()


async def lines() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def answer(yard: Yard, request: dict[str, Any]) -> dict[str, Any]:
    if request["do"] == "records":
        return {"records": [each.to_dict() for each in yard.servers()]}
    try:
        outcome = await yard.call_tool(request["server"], request["tool"], request["arguments"])
    except YardError as error:
        return {"error": type(error).__name__, "message": str(error)}
    return {"size": len(outcome.raw), "text": outcome.text[:100]}


async def serve(yard: Yard) -> None:
    requests = await lines()
    say({"ready": True})
    while line := await requests.readline():
        say(await answer(yard, orjson.loads(line)))


async def main(folder: str) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    async with Yard.open(folder) as yard:
        serving = asyncio.create_task(serve(yard))
        await ended.wait()
        serving.cancel()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
