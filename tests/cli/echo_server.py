"""A small MCP server of the handshake era; run as `python -I -S echo_server.py [MODE]`.

Modes: `stubborn` ignores the end of its input and SIGTERM; `exits` ends before it says a word;
`long` gives its tool a name too long to be exposed whole.
"""

import json
import os
import signal
import sys
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

ECHO = {
    "name": "echo",
    "description": "Say it again.\nIn as many words.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
PLAIN = [
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}
    for name in ("fail", "hang", "refuse", "log", "a/b?", "cancelled")
]
LONG = {"name": "t" * 80, "description": "", "inputSchema": {"type": "object"}}

cancelled: list[object] = []


def text(words: str, **more: object) -> Message:
    return {"content": [{"type": "text", "text": words}], **more}


def call(name: str, arguments: Message) -> Message | None:
    if name == "fail":
        return text("it went wrong", isError=True)
    if name == "hang":
        return None
    if name == "log":
        print(arguments.get("line", "a line"), file=sys.stderr, flush=True)
    if name == "cancelled":
        return text(str(len(cancelled)))
    return text(str(arguments.get("text", name)), structuredContent={"kept": [1, {"x": None}]})


def initialize(params: Message) -> Message:
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "echo", "version": "1"},
    }


def answer(message: Message) -> Message | None:
    """The answer to a message, or None where there is none."""
    params: Message = message.get("params") or {}
    if message.get("method") == "notifications/cancelled":
        cancelled.append(params.get("requestId"))
    if "id" not in message:
        return None
    result: Message | None = {}
    match message["method"]:
        case "initialize":
            result = initialize(params)
        case "tools/list":
            result = {"tools": [LONG] if MODE == "long" else [ECHO, *PLAIN]}
        case "tools/call" if params["name"] == "refuse":
            return {"error": {"code": -32099, "message": "not today", "data": {"why": "rain"}}}
        case "tools/call":
            result = call(str(params["name"]), params.get("arguments") or {})
        case "ping":
            pass
        case method:
            return {"error": {"code": -32601, "message": f"unknown method {method}"}}
    return None if result is None else {"result": result}


def main() -> None:
    if MODE == "exits":
        print("no licence found", file=sys.stderr)
        sys.exit(3)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"echo server {os.getpid()} is up", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        reply = answer(message)
        if reply is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
    while MODE == "stubborn":
        signal.pause()


MODE = sys.argv[1] if len(sys.argv) > 1 else ""

if __name__ == "__main__":
    main()
