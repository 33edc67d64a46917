"""A small server as an agent may meet it; run as `python -I -S fs.py`.

Its tools: `read_file` gives a file's text, `show` gives parts of several kinds, `refuse` says that
it failed, with a picture, `hang` never answers, `die` ends the process. With a number as its
argument it has so many tools more.
"""

import json
import pathlib
import sys
from typing import Any

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
NOTHING = {"type": "object", "properties": {}}
TOOLS = [
    {"name": "read_file", "description": "Reads a text file.", "inputSchema": PATH},
    *(
        {"name": name, "description": f"does {name}", "inputSchema": NOTHING}
        for name in ("show", "refuse", "hang", "die")
    ),
    *(
        {"name": f"tool_{number}", "description": f"Tool {number}.", "inputSchema": NOTHING}
        for number in range(int(sys.argv[1]) if __name__ == "__main__" and sys.argv[1:] else 0)
    ),
]
SHOWN = [
    {"type": "text", "text": "words"},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "https://example.com/b", "name": "the link"},
    {"type": "resource", "resource": {"uri": "file:///a.md", "text": "inner words"}},
]


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "read_file":
        return text(pathlib.Path(arguments["path"]).read_text(encoding="utf-8"))
    if name == "die":
        sys.exit(7)
    if name == "refuse":
        # As browsers do: what went wrong, and what it looked like.
        words, picture = text("it does not please me")["content"], SHOWN[1]
        return {"content": [*words, picture], "isError": True}
    return {"content": SHOWN, "structuredContent": {"answer": 42}}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    method, params = request["method"], request.get("params", {})
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fs", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    return call(params["name"], params.get("arguments", {})) if method == "tools/call" else {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or request.get("params", {}).get("name") == "hang":
            continue
        response: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "server/discover":
            response["error"] = {"code": -32601, "message": "not here"}
        else:
            response["result"] = answer(request)
        sys.stdout.write(json.dumps(response) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
