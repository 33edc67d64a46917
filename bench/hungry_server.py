"""A server whose tools use all the memory and processes they get, or say in which group it is."""

import json
import os
import signal
import sys
from pathlib import Path

ENDLESS = 5000


def eat() -> str:
    if os.fork() == 0:
        pieces: list[bytearray] = []
        while True:
            pieces.append(bytearray(1 << 20))
    return str(os.wait())


def fork() -> str:
    for count in range(ENDLESS):
        try:
            child = os.fork()
        except OSError as error:
            return f"{count} processes: {error}"
        if child == 0:
            signal.pause()
    return f"{ENDLESS} processes"


def place() -> str:
    return Path("/proc/self/cgroup").read_text()


TOOLS = {"eat": eat, "fork": fork, "place": place}


def result_of(method: str, params: dict[str, str]) -> dict[str, object] | None:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hungry", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": TOOLS[params["name"]]()}]}
    return None


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = result_of(request["method"], request.get("params", {}))
        unknown = {"code": -32601, "message": "unknown"}
        outcome = {"error": unknown} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **outcome}), flush=True)


if __name__ == "__main__":
    main()
