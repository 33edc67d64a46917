"""A server that answers what a test wrote; `python -I -S scripted_server.py ERA ANSWERS`.

`ANSWERS` is the JSON of an object: a method, `tools/call NAME` or `resources/read URI`, and the
result; what stands under `told` is sent before it. The server writes the messages it receives to
its standard error, one a line.
"""

import json
import sys
from typing import Any

MODERN = sys.argv[1] == "modern"
ANSWERS: dict[str, Any] = json.loads(sys.argv[2])
INFO = {"name": "scripted", "version": "1"}


def send(**message: object) -> None:
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    sys.stdout.buffer.flush()


def capabilities() -> dict[str, Any]:
    offered = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}}
    return {**offered, **ANSWERS.get("capabilities", {})}


def introduced() -> dict[str, Any]:
    if MODERN:
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        more = {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private"}
        return {"capabilities": capabilities(), "_meta": meta, **more}
    version = {"protocolVersion": "2025-11-25", "serverInfo": INFO}
    return {"capabilities": capabilities(), **version}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == ("server/discover" if MODERN else "initialize"):
        return introduced()
    if method in {"ping", "resources/subscribe", "resources/unsubscribe"}:
        return {}
    member = {
        "tools/list": "tools",
        "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
        "prompts/list": "prompts",
    }.get(method)
    if member:
        return {member: ANSWERS.get(method, [])}
    named = params.get("name") or params.get("uri")
    return ANSWERS.get(f"{method} {named}", ANSWERS.get(method))


def take(message: dict[str, Any]) -> None:
    print(json.dumps(message), file=sys.stderr, flush=True)
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if number is None or method is None or method == "subscriptions/listen":
        return
    reply = answer(method, params)
    if reply is None:
        unknown = method in {"server/discover", "initialize"} or method.startswith("tasks/")
        error = {"code": -32601 if unknown else -32002, "message": f"no {method} here"}
        send(id=number, error=error)
        return
    for each in reply.get("told", ()):
        send(**each)
    result = {key: value for key, value in reply.items() if key != "told"}
    send(id=number, result={"resultType": "complete", **result} if MODERN else result)


if __name__ == "__main__":
    for received in sys.stdin.buffer:
        take(json.loads(received))
