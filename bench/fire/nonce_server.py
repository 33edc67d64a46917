"""A server whose every answer names it: `python -I -S nonce_server.py NAME TAG [KIND [KEY]]`.

Its tool `nonce` answers with its name, its tag, its pid and the text it was given, so that an
answer of somebody else's, of an older definition or to another call is told from the right one.
Kinds: `legacy`, `modern`; `slow` answers late and out of order; `crashing` dies now and then in the
middle of a call, unless its text is `last`; `stubborn` ignores SIGTERM and the end of its input;
`schema` has a tool whose schema is expensive to explain; `resources` has a resource template,
subscriptions and completions; `bomb` has resource templates that are expensive to match; `daemons`
starts a process that has a session of its own, no parent and no environment, and carries KEY on its
command line.
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

NAME, TAG, KIND, KEY = (*sys.argv[1:], *("", "", "legacy", "")[len(sys.argv) - 1 :])
MODERN = KIND == "modern"
HAS_RESOURCES = KIND in {"resources", "bomb"}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
BLOCK_TYPES = 25
BOMBS = ["{+a}" * 40 + "!", "{+a}" * 32 + "!", "{+a}" * 32 + "!{b}"]
"""One beyond the number of expressions that are matched, two below."""

DAEMON = "import signal; signal.alarm(900); signal.pause()"
CRASHES = 0.01
LAST = "last"
"""The text of the call that asks whether a server shown as connected is; it must not end it."""

SLOWEST = 0.05

Message = dict[str, Any]
dice = random.Random()  # noqa: S311  not a secret
late: list[tuple[float, int, bytes]] = []


def result_of(value: Message) -> Message:
    return {"resultType": "complete", **value} if MODERN else value


def blocks() -> Message:
    """The schema of a tree of blocks, of which each has one of many types."""
    children = {"type": "array", "items": {"$ref": "#/$defs/block"}}
    types = [
        {
            "type": "object",
            "properties": {
                "type": {"const": f"type{number}"},
                "text": {"type": "string"},
                "children": children,
            },
            "required": ["type"],
        }
        for number in range(BLOCK_TYPES)
    ]
    return {
        "type": "object",
        "properties": {"block": {"$ref": "#/$defs/block"}},
        "required": ["block"],
        "$defs": {"block": {"oneOf": types}},
    }


def listed() -> Message:
    tools = [{"name": each, "inputSchema": TEXT} for each in ("nonce", "hang")]
    if KIND == "schema":
        tools.append({"name": "blocks", "inputSchema": blocks()})
    return result_of(
        {"tools": tools, **({"ttlMs": 60000, "cacheScope": "public"} if MODERN else {})}
    )


def introduced() -> Message:
    info = {"name": NAME, "version": "1"}
    if not MODERN:
        spoken = {"protocolVersion": "2025-11-25", "serverInfo": info}
        more = {"resources": {"subscribe": True}, "completions": {}} if HAS_RESOURCES else {}
        return {**spoken, "capabilities": {"tools": {}, **more}}
    more = {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private"}
    meta = {"io.modelcontextprotocol/serverInfo": info}
    return result_of({"capabilities": {"tools": {}}, "_meta": meta, **more})


def called(params: Message) -> Message | None:
    text = params["arguments"].get("text", "")
    if KIND == "crashing" and text != LAST and dice.random() < CRASHES:
        os.write(2, b"out of luck\n")
        os._exit(9)
    if params["name"] == "hang":
        return None
    return result_of({"content": [{"type": "text", "text": signed(text)}]})


def signed(text: str) -> str:
    return f"{NAME} {TAG} {os.getpid()} {text}"


def of_resources(method: str, params: Message) -> Message | None:
    """The result of a request about resources; None for any other."""
    match method:
        case "resources/list":
            return {"resources": []}
        case "resources/templates/list":
            templates = BOMBS if KIND == "bomb" else [f"nonce://{NAME}/{{text}}"]
            return {
                "resourceTemplates": [{"uriTemplate": each, "name": each} for each in templates]
            }
        case "resources/subscribe" | "resources/unsubscribe":
            return {}
        case "resources/read":
            text = signed(params["uri"].rpartition("/")[2])
            return {"contents": [{"uri": params["uri"], "text": text}]}
        case "completion/complete":
            return {"completion": {"values": [signed(params["argument"]["value"])]}}
        case _:
            return None


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
        case method:
            result = of_resources(str(method), params) if HAS_RESOURCES else None
            if result is None:
                return {"error": {"code": -32601, "message": "not here"}}
    return None if result is None else {"result": result}


def take(line: bytes) -> None:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        return
    reply = answer(message)
    if reply is None:
        return
    whole = json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}).encode() + b"\n"
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


def start_daemon() -> None:
    """Start a process that nothing but its command line connects with this one."""
    name = f"{KEY}:{os.getpid()}"
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", DAEMON, name], {})  # noqa: S606
        os._exit(0)
    os.wait()


def main() -> None:
    if KIND == "daemons":
        start_daemon()
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
