"""A server that reports progress, asks questions, logs, and has prompts and resources.

Run as `python -I -S`. A call of `wait` ends by `finish` or when it is cancelled, so that no test
depends on time.
"""

import json
import sys
from typing import Any

FORM = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "title": "Your name"},
        "size": {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "sure": {"type": "boolean"},
    },
}
NOTHING = {"type": "object", "additionalProperties": False}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = {
    "wait": NOTHING,
    "finish": TEXT,
    "ask": NOTHING,
    "visit": TEXT,
    "think": NOTHING,
    "show": TEXT,
    "log": TEXT,
    "change": TEXT,
}
MARKDOWN = """# Title

Some **bold** text, [a link](https://example.invalid/page), ![a picture](https://example.invalid/p.png)
and <img src=x onerror=alert(1)>, [bad](javascript:alert(2)).

| left | right |
|:-----|------:|
| 1    | 2     |
"""
NOTES = "test://notes.md"
CITIES = ("Oslo", "Osaka", "Paris")
ABLE = {
    "tools": {},
    "prompts": {},
    "resources": {"subscribe": True},
    "completions": {},
    "logging": {},
}
Members = dict[str, Any]
waiting: dict[int, Any] = {}
asked: dict[int, int] = {}
notes = {"text": "# Notes\n\nThe first *version*."}
begun: list[int] = []


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def say(number: int, text: str) -> None:
    send(id=number, result={"content": [{"type": "text", "text": text}]})


def ask(number: int, method: str, **params: object) -> None:
    asked[1000 + len(asked)] = number
    send(id=999 + len(asked), method=method, params=params)


def log(level: str, logger: str, data: object) -> None:
    send(method="notifications/message", params={"level": level, "logger": logger, "data": data})


def wait(number: int, params: Members) -> None:
    begun.append(number)
    waiting[number] = token = params["_meta"]["progressToken"]
    progress = {"progressToken": token, "progress": 1, "total": 4, "message": "a quarter done"}
    send(method="notifications/progress", params=progress)
    log("warning", "waiter", "it takes long")


def finish(number: int, params: Members) -> None:
    del params
    for each in [*waiting]:
        del waiting[each]
        say(each, f"finished after {len(begun)} calls")
    say(number, "told")


def ask_form(number: int, params: Members) -> None:
    del params
    ask(number, "elicitation/create", message="Who are you?", requestedSchema=FORM)


def visit(number: int, params: Members) -> None:
    url = params["arguments"]["text"]
    ask(number, "elicitation/create", mode="url", url=url, elicitationId="e", message="Sign in")


def think(number: int, params: Members) -> None:
    del params
    message = {"role": "user", "content": {"type": "text", "text": "What is two and two?"}}
    ask(number, "sampling/createMessage", messages=[message], maxTokens=10)


def log_twice(number: int, params: Members) -> None:
    for level in ("debug", "error"):
        log(level, "db", {"said": f"{level} {params['arguments']['text']}"})
    say(number, "logged")


def change(number: int, params: Members) -> None:
    notes["text"] = params["arguments"]["text"]
    send(method="notifications/resources/updated", params={"uri": NOTES})
    say(number, "changed")


def show(number: int, params: Members) -> None:
    del params
    parts = [
        {"type": "text", "text": MARKDOWN},
        {"type": "text", "text": json.dumps({"deep": {"list": [1, {"key": "value"}]}})},
        {"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="},
        {"type": "resource_link", "uri": NOTES, "name": "notes"},
    ]
    send(id=number, result={"content": parts, "structuredContent": {"count": 3}})


CALLS = {
    "wait": wait,
    "finish": finish,
    "ask": ask_form,
    "visit": visit,
    "think": think,
    "show": show,
    "log": log_twice,
    "change": change,
}


def initialize(_params: Members) -> Members:
    info = {"name": "asking", "version": "1"}
    return {"protocolVersion": "2025-11-25", "capabilities": ABLE, "serverInfo": info}


def list_tools(_params: Members) -> Members:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    more = {"show": {"outputSchema": schema}}
    return {"tools": [{"name": n, "inputSchema": s, **more.get(n, {})} for n, s in TOOLS.items()]}


def list_prompts(_params: Members) -> Members:
    arguments = [{"name": "city", "description": "Which one", "required": True}]
    return {"prompts": [{"name": "greet", "arguments": arguments}, {"name": "plain"}]}


def get_prompt(params: Members) -> Members:
    city = params.get("arguments", {}).get("city", "nowhere")
    content = {"type": "text", "text": f"Greet **{city}** warmly."}
    return {"description": "A greeting", "messages": [{"role": "user", "content": content}]}


def complete(params: Members) -> Members:
    begins = params["argument"]["value"].lower()
    values = [each for each in CITIES if each.lower().startswith(begins)]
    return {"completion": {"values": values, "total": len(values)}}


def list_resources(_params: Members) -> Members:
    data = {"uri": "test://data", "name": "data", "mimeType": "application/json"}
    return {
        "resources": [
            {"uri": NOTES, "name": "notes", "mimeType": "text/markdown", "size": 12},
            data,
        ]
    }


def list_templates(_params: Members) -> Members:
    return {"resourceTemplates": [{"uriTemplate": "test://city/{name}{?year}", "name": "city"}]}


def read(params: Members) -> Members | None:
    uri = params["uri"]
    if uri == NOTES:
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", **notes}]}
    if uri == "test://data":
        data = {"uri": uri, "mimeType": "application/json", "text": '{"answer": [42]}'}
        return {"contents": [data]}
    if uri.startswith("test://city/"):
        return {"contents": [{"uri": uri, "text": f"about {uri}"}]}
    return None


ANSWERS = {
    "initialize": initialize,
    "tools/list": list_tools,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "completion/complete": complete,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read,
}


def on_request(number: int, method: str, params: Members) -> None:
    if method == "tools/call":
        CALLS[params["name"]](number, params)
        return
    result = ANSWERS[method](params) if method in ANSWERS else {}
    if result is None:
        send(id=number, error={"code": -32002, "message": "Resource not found"})
    else:
        send(id=number, result=result)


for line in sys.stdin:
    got = json.loads(line)
    method = got.get("method")
    if method == "notifications/cancelled":
        if waiting.pop(got["params"]["requestId"], None) is not None:
            print("the call was cancelled", file=sys.stderr, flush=True)
    elif method and "id" in got:
        on_request(got["id"], method, got.get("params", {}))
    elif "id" in got:
        say(asked[got["id"]], json.dumps(got.get("result", got.get("error"))))
