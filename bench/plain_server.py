"""An ordinary server for the gateway and its peers: `python -I -S plain_server.py [TOOLS]`.

It echoes, has as many more tools as asked for, and speaks whichever revision of the handshake era
it is greeted with, since some peers know only old ones.
"""

import json
import os
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
MORE = int(sys.argv[1]) if len(sys.argv) > 1 else 0
TOOLS = [
    {
        "name": name,
        "description": "Does something useful with a text, and says what became of it.",
        "inputSchema": SCHEMA,
    }
    for name in ["echo", "big", *(f"tool_{number}" for number in range(2, MORE))]
]


BIG: dict[str, bytes] = {}


def big(request: dict[str, Any]) -> list[bytes]:
    """So many bytes, made once and not copied: what is measured is how they travel."""
    size = request["params"]["arguments"]["text"]
    if size not in BIG:
        big_result = {"content": [{"type": "text", "text": "x" * int(size)}]}
        BIG[size] = json.dumps(big_result).encode()
    number = json.dumps(request["id"]).encode()
    return [b'{"jsonrpc":"2.0","id":%b,"result":' % number, BIG[size], b"}\n"]


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "plain", "version": "1"},
            }
        case "tools/call":
            return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
        case "tools/list":
            return {"tools": TOOLS}
        case "ping":
            return {}
        case _:
            return None


def answer(request: dict[str, Any]) -> list[bytes]:
    params = request.get("params") or {}
    if request["method"] == "tools/call" and params["name"] == "big":
        return big(request)
    answered = result(request["method"], params)
    refusal = {"error": {"code": -32601, "message": "not here"}}
    reply = refusal if answered is None else {"result": answered}
    return [json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}).encode() + b"\n"]


def write(parts: list[bytes]) -> None:
    while parts:
        written = os.writev(sys.stdout.fileno(), parts)
        while parts and written >= len(parts[0]):
            written -= len(parts.pop(0))
        if parts and written:
            parts[0] = parts[0][written:]


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if "id" in request:
            write(answer(request))


if __name__ == "__main__":
    main()
