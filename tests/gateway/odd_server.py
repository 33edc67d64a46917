"""A server that answers with odd bytes, asks, hangs and floods; `python -I -S odd_server.py ERA`.

Written over plain lines, so that every byte of an answer is the test's own.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

ODD = (
    '{"content": [ {"type":"text","text":"\\ud83d\\ude80 \U0001f680 \\u00fc \xfc"},'
    '{"type":"hologram","depth":3,"of":[null,{}]} ],  "structuredContent":'
    '{"big":123456789012345678901234567890,"exact":0.1000,"exp":1E+2},'
    '"x-vendor":{"nested":[1,2,{"k":"v"}]},"isError":false%s}'
)
MODERN = sys.argv[1:] == ["modern"]
OBJECT: dict[str, Any] = {"type": "object"}
TOOLS = [
    "touch",
    "odd",
    "big",
    "nonce",
    "ask",
    "hang",
    "gate",
    "cancelled",
    "steps",
    "flood",
    "vanish",
    "die",
    "list",
]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

cancels: list[object] = []
waiting: dict[str, object] = {}
watched: list[str] = []
offered = [*TOOLS]


def say(line: str) -> None:
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def send(**message: object) -> None:
    say(json.dumps({"jsonrpc": "2.0", **message}))


def result_of(value: dict[str, Any]) -> dict[str, Any]:
    return {"resultType": "complete", **value} if MODERN else value


def text(words: str) -> dict[str, Any]:
    return result_of({"content": [{"type": "text", "text": words}]})


def listed() -> dict[str, Any]:
    schema = {"nonce": TEXT, "steps": OBJECT}
    tools = [
        {"name": each, "inputSchema": schema.get(each, OBJECT), "x-odd": 2**70} for each in offered
    ]
    hints = {"ttlMs": 60000, "cacheScope": "public"} if MODERN else {}
    return result_of({"tools": tools, **hints})


def resources() -> dict[str, Any]:
    return result_of({"resources": [{"uri": "odd://thing", "name": "thing"}]})


def ask(number: object, params: dict[str, Any]) -> None:
    question = {
        "message": "who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        "task": {"ttl": 1000},
    }
    if not MODERN:
        waiting["q"] = number
        send(id="q", method="elicitation/create", params=question)
        return
    reply = params.get("inputResponses", {}).get("who")
    if reply is None:
        requests = {"who": {"method": "elicitation/create", "params": {"mode": "form", **question}}}
        again = {"resultType": "input_required", "inputRequests": requests, "requestState": "s-1"}
        send(id=number, result=again)
    else:
        send(id=number, result=text(f"{params.get('requestState')} {json.dumps(reply)}"))


def steps(number: object, params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    for step in range(3):
        if token is not None:
            params_ = {
                "progressToken": token,
                "progress": step,
                "total": 3,
                "message": f"step {step}",
            }
            send(method="notifications/progress", params=params_)
    send(method="notifications/message", params={"level": "info", "data": "between"})
    send(id=number, result=text("done"))


def unusual_result(number: object) -> None:
    era = ',"resultType":"complete"' if MODERN else ""
    say(f'{{"jsonrpc":"2.0","result":{ODD % era},"id":{number}}}')


def flood(number: object, params: dict[str, Any]) -> None:
    data = {"level": "info", "data": "y" * 100_000}
    for _ in range(int(params.get("arguments", {}).get("count", 100))):
        send(method="notifications/message", params=data)
    waiting["flood"] = number


def vanish(number: object) -> None:
    offered.remove("odd")
    send(id=number, result=text("gone"))
    send(method="notifications/tools/list_changed")


def touch(number: object) -> None:
    """Tell of a change of the resource, and say what was asked to be told of it."""
    send(method="notifications/resources/updated", params={"uri": "odd://thing"})
    send(id=number, result=text(json.dumps(watched)))


def gate(number: object, params: dict[str, Any]) -> None:
    """Answer what somebody writes to a named pipe."""
    send(id=number, result=text(Path(params["arguments"]["path"]).read_text()))


def echo(number: object, params: dict[str, Any]) -> None:
    arguments = params.get("arguments", {})
    words = {
        "big": "x" * int(arguments.get("size", 1)),
        "nonce": str(arguments.get("text")),
        "cancelled": str(len(cancels)),
    }
    send(id=number, result=text(words[params["name"]]))


def call(number: object, params: dict[str, Any]) -> None:
    deeds: dict[str, Any] = {
        "odd": lambda: unusual_result(number),
        "ask": lambda: ask(number, params),
        "hang": lambda: None,
        "gate": lambda: gate(number, params),
        "steps": lambda: steps(number, params),
        "flood": lambda: flood(number, params),
        "vanish": lambda: vanish(number),
        "touch": lambda: touch(number),
        "die": lambda: os._exit(3),
        "list": lambda: send(id=number, result=[]),
    }
    print("called", params["name"], file=sys.stderr, flush=True)
    deeds.get(params["name"], lambda: echo(number, params))()


def introduced() -> dict[str, Any]:
    capabilities = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True},
        "logging": {},
    }
    if MODERN:
        info = {"io.modelcontextprotocol/serverInfo": {"name": "odd", "version": "1"}}
        more = {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private"}
        return result_of({"capabilities": capabilities, "_meta": info, **more})
    info = {"name": "odd", "version": "1"}
    return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}


def answered(message: dict[str, Any]) -> None:
    outcome = message.get("result", message.get("error"))
    send(id=waiting.pop("q"), result=text(json.dumps(outcome)))


def watch(method: object, params: dict[str, Any]) -> None:
    if method == "resources/subscribe":
        watched.append(params["uri"])
    elif method == "resources/unsubscribe":
        watched.remove(params["uri"])
    elif method == "subscriptions/listen":
        watched[:] = params["notifications"].get("resourceSubscriptions", [])
    elif method == "logging/setLevel":
        print("level", params["level"], file=sys.stderr, flush=True)


def take(message: dict[str, Any]) -> None:
    number, method = message.get("id"), message.get("method")
    watch(method, message.get("params", {}))
    if method == "tools/call":
        call(number, message["params"])
    elif method is None:
        answered(message)
    elif method == "notifications/cancelled":
        cancels.append(message["params"]["requestId"])
        print("cancelled", len(cancels), file=sys.stderr, flush=True)
    elif number is not None and method != "subscriptions/listen":
        results = {
            "server/discover" if MODERN else "initialize": introduced,
            "tools/list": listed,
            "resources/list": resources,
            "resources/subscribe": dict[str, Any],
            "resources/unsubscribe": dict[str, Any],
            "ping": dict[str, Any],
            "logging/setLevel": dict[str, Any],
        }
        if make := results.get(method):
            send(id=number, result=make())
        else:
            error = {"code": -32601, "message": "not known", "data": [2**70]}
            send(id=number, error=error)


if __name__ == "__main__":
    for received in sys.stdin.buffer:
        take(json.loads(received))
