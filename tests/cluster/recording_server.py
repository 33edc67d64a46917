"""An MCP server that records its own start and every call that it begins, with its fence.

Run as `python -I -S recording_server.py FILE NAME [SECONDS [START]]`; a call of `record` takes so
many seconds, or as many as it asks for, and its start so many. All copies on all nodes append to
the same file, by CLOCK_BOOTTIME: it says what ran when.
"""

import json
import os
import sys
import threading
import time
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

TOOL = {
    "name": "record",
    "description": "Write a line.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "seconds": {"type": "number"}},
    },
}


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def note(event: str, text: str = "") -> None:
    fence = int(os.environ.get("MCPYARD_FENCE", "0"))
    line = {"event": event, "server": NAME, "fence": fence, "pid": os.getpid(), "text": text}
    # One write of a line: lines of several processes do not mix.
    os.write(FILE, json.dumps({**line, "at": now()}).encode() + b"\n")


def answer(method: str, params: Message) -> Message | None:
    match method:
        case "initialize":
            version = params["protocolVersion"]
            info = {"name": "recorder", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            arguments: Message = params.get("arguments") or {}
            text = str(arguments.get("text", ""))
            note("call", text)
            PAUSE.wait(float(arguments.get("seconds", SECONDS)))
            return {"content": [{"type": "text", "text": text}]}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    note("start")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            error = {"error": {"code": -32601, "message": "unknown method"}}
            reply = error if result is None else {"result": result}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    FILE = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    NAME = sys.argv[2]
    SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 0.0
    PAUSE = threading.Event()
    PAUSE.wait(float(sys.argv[4]) if len(sys.argv) > 4 else 0.0)
    main()
