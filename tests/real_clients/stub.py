"""An MCP server that writes down how it was started, for a program to start.

`stub.py LOG [argument...]` adds one line to LOG: its arguments, its variables, its folder.
"""

import json
import os
import sys
from pathlib import Path

LOG, *ARGUMENTS = sys.argv[1:]


def main() -> None:
    started = {"argv": ARGUMENTS, "env": dict(os.environ), "cwd": str(Path.cwd())}
    with Path(LOG).open("a") as log:
        log.write(json.dumps(started) + "\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message)


def answer(message: dict[str, object]) -> None:
    reply: dict[str, object] = {"jsonrpc": "2.0", "id": message["id"]}
    match message["method"]:
        case "initialize":
            reply["result"] = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stub", "version": "1"},
            }
        case "tools/list":
            reply["result"] = {"tools": []}
        case "ping":
            reply["result"] = {}
        case _:
            reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
