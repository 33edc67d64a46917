"""An echo server as quick as Python can be, so that what is measured is the client.

Calls are answered without reading more of them than their id and text; everything else goes the
ordinary way. Run as `python -I -S echo.py`; with `ordinary` every message is read and written as
any server does it: one line, one object, one flush.
"""

import json
import os
import re
import sys

CALL = re.compile(rb'"id":\s*(\d+),.*"text":\s*("[^"]*")')
ANSWER = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":%b}]}}\n'
TOOL = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def answer(line: bytes) -> bytes:
    match = CALL.search(line)
    if match and b'"tools/call"' in line:
        return ANSWER % match.groups()
    return slowly(json.loads(line))


def slowly(request: dict[str, object]) -> bytes:
    if "id" not in request:
        return b""
    results = {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "ping": {},
    }
    head = {"jsonrpc": "2.0", "id": request["id"]}
    result = results.get(str(request.get("method")))
    refusal = {"error": {"code": -32601, "message": "not here"}}
    return json.dumps(head | (refusal if result is None else {"result": result})).encode() + b"\n"


def ordinary() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request.get("method") == "tools/call":
            text = request["params"]["arguments"]["text"]
            result = {"content": [{"type": "text", "text": text}]}
            response = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})
            sys.stdout.buffer.write(response.encode() + b"\n")
        else:
            sys.stdout.buffer.write(slowly(request))
        sys.stdout.buffer.flush()


def main() -> None:
    rest = b""
    while data := os.read(0, 1 << 20):
        *lines, rest = (rest + data).split(b"\n")
        out = b"".join(map(answer, lines))
        while out:
            out = out[os.write(1, out) :]


if __name__ == "__main__":
    if sys.argv[1:] == ["ordinary"]:
        ordinary()
    else:
        main()
