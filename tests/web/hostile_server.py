"""A server whose every text tries to be something else; run as `python -I -S hostile_server.py`."""

import json
import sys
from typing import Any

TOOLS = 5_000
SCHEMA = {
    "type": "object",
    "properties": {'"><script>alert(3)</script>': {"type": "string", "title": "<u>t</u>"}},
}


def tool(number: int) -> dict[str, Any]:
    name = f"<img src=x onerror=alert(2)>{number}" + ("n" * 10_000 if number == 1 else "")
    text = "</pre><b>bold</b>\u202eflip" + ("d" * 10_000 if number == 1 else "")
    return {"name": name, "description": text, "inputSchema": SCHEMA}


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    match message.get("method"):
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "<hr>", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [tool(each) for each in range(TOOLS)]}
        case "tools/call" | "ping":
            return {"content": [{"type": "text", "text": "<script>alert(4)</script>"}]}
        case _:
            return None


print("\x1b[31mred <i>text</i>\x1b[0m \u202eflip", file=sys.stderr, flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request)
        error = {"error": {"code": -32601, "message": "<script>alert(5)</script>"}}
        body = error if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
