"""A server whose tools take their time, keep a password, or delete; run as `python -I -S`."""

import json
import sys
import threading
from typing import Any

TEXT = {"type": "string"}


def tool(name: str, *required: str, destructive: bool = False, **properties: object) -> object:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    hints = {"destructiveHint": True} if destructive else {}
    return {"name": name, "inputSchema": schema, "annotations": hints}


TOOLS = [
    tool(
        "weather",
        "city",
        city=TEXT,
        days={"type": "integer"},
        units={"enum": ["metric", "imperial"]},
        tags={"type": "array", "items": TEXT},
    ),
    tool("wait", "seconds", seconds={"type": "number"}),
    tool("sign_in", "user", "password", user=TEXT, password=TEXT),
    tool("wipe", "path", destructive=True, path=TEXT),
]


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "wait":
        threading.Event().wait(arguments["seconds"])
    return {"content": [{"type": "text", "text": f"{name}: {json.dumps(arguments)}"}]}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            info = {"name": "shaped", "version": "3.1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return call(params["name"], params.get("arguments") or {})
        case "ping":
            return {}
        case _:
            return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request)
        error = {"error": {"code": -32601, "message": "unknown"}}
        body = error if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
