"""A server whose every answer names it: `python -I -S nonce_server.py NAME TAG [KIND]`.

Its tool `nonce` answers with its name, its tag, its pid and the text it was given, so that an
answer of somebody else's, of an older definition or to another call is told from the right one.
Kinds: `legacy`, `modern`; `slow` answers late and out of order; `crashing` dies now and then in the
middle of a call; `stubborn` ignores SIGTERM and the end of its input.
"""

import heapq
import json
import os
import random
import select
import signal
import sys
import time
from typing import Any

NAME, TAG, KIND = [*sys.argv[1:], "legacy"][:3]
MODERN = KIND == "modern"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CRASHES = 0.01
SLOWEST = 0.05

Message = dict[str, Any]
dice = random.Random()  # noqa: S311  not a secret
late: list[tuple[float, int, bytes]] = []


def result_of(value: Message) -> Message:
    return {"resultType": "complete", **value} if MODERN else value


def listed() -> Message:
    tools = [{"name": each, "inputSchema": TEXT} for each in ("nonce", "hang")]
    return result_of(
        {"tools": tools, **({"ttlMs": 60000, "cacheScope": "public"} if MODERN else {})}
    )


def introduced() -> Message:
    info = {"name": NAME, "version": "1"}
    if not MODERN:
        spoken = {"protocolVersion": "2025-11-25", "serverInfo": info}
        return {**spoken, "capabilities": {"tools": {}}}
    more = {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private"}
    meta = {"io.modelcontextprotocol/serverInfo": info}
    return result_of({"capabilities": {"tools": {}}, "_meta": meta, **more})


def called(params: Message) -> Message | None:
    if KIND == "crashing" and dice.random() < CRASHES:
        os.write(2, b"out of luck\n")
        os._exit(9)
    if params["name"] == "hang":
        return None
    said = f"{NAME} {TAG} {os.getpid()} {params['arguments']['text']}"
    return result_of({"content": [{"type": "text", "text": said}]})


def answer(message: Message) -> Message | None:
    params: Message = message.get("params") or {}
    match message.get("method"):
        case "tools/call":
            result = called(params)
        case "tools/list":
            result = listed()
        case "ping":
            result = {}
        case "server/discover" if MODERN:
            result = introduced()
        case "initialize" if not MODERN:
            result = introduced()
        case _:
            return {"error": {"code": -32601, "message": "not here"}}
    return None if result is None else {"result": result}


def take(line: bytes) -> None:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        return
    said = answer(message)
    if said is None:
        return
    whole = json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode() + b"\n"
    if KIND == "slow" and message["method"] == "tools/call":
        heapq.heappush(late, (time.monotonic() + dice.uniform(0, SLOWEST), len(late), whole))
    else:
        write(whole)


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def tell_the_late() -> float | None:
    """Say what is due; seconds until the next is."""
    now = time.monotonic()
    while late and late[0][0] <= now:
        write(heapq.heappop(late)[2])
    return late[0][0] - now if late else None


def main() -> None:
    if KIND == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    rest = b""
    while True:
        ready, _, _ = select.select([0], [], [], tell_the_late())
        if not ready:
            continue
        data = os.read(0, 1 << 16)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            take(line)
    while KIND == "stubborn":
        signal.pause()


if __name__ == "__main__":
    main()
