"""A Copilot CLI with a scripted model, over stdio as the SDK starts it.

A call that nobody permits is denied, as the CLI denies it. What the model is told of each call is
appended to a file, a line each. Its first line is the list of tools.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

Message = dict[str, Any]
SCRIPT: list[list[Message]] = json.loads(os.environ["FAKE_COPILOT_SCRIPT"])
LOG = Path(os.environ["FAKE_COPILOT_LOG"])
ID = "00000000-0000-4000-8000-000000000000"


class Cli:
    """One connection with one session."""

    def __init__(self) -> None:
        self.tools: dict[str, Message] = {}
        self.asks = False
        self.streams = False
        self.turns = iter(SCRIPT)
        self.open: dict[str, Message] = {}
        self.session = ""

    def run(self) -> None:
        while message := read():
            if "method" in message and "id" in message:
                self.handle(message)

    def handle(self, message: Message) -> None:
        method, params, number = message["method"], message.get("params") or {}, message["id"]
        if isinstance(params, list):
            params = params[0] if params else {}
        handler = getattr(self, method.replace(".", "_"), None)
        if handler is None:
            error = {"code": -32601, "message": f"Unhandled method {method}"}
            write({"jsonrpc": "2.0", "id": number, "error": error})
            return
        after = handler(params)
        result, then = after if isinstance(after, tuple) else (after, None)
        write({"jsonrpc": "2.0", "id": number, "result": result})
        if then:
            then()

    def connect(self, _params: Message) -> Message:
        return {"ok": True, "protocolVersion": 3, "version": "0.0.0"}

    def session_create(self, params: Message) -> Message:
        self.session = params.get("sessionId") or "s"
        self.tools = {each["name"]: each for each in params.get("tools") or ()}
        for each in self.tools.values():
            assert each["parameters"]["type"] == "object", each
            assert each["description"], each
        self.asks = bool(params.get("requestPermission"))
        self.streams = bool(params.get("streaming"))
        note([each["name"] for each in params.get("tools") or ()])
        return {"sessionId": self.session}

    def session_send(self, _params: Message) -> tuple[Message, Any]:
        return {"messageId": "m"}, self.begin

    def session_abort(self, _params: Message) -> tuple[Message, Any]:
        return {"success": True}, self.abort

    def session_detach(self, _params: Message) -> Message:
        return {"success": True}

    session_destroy = runtime_shutdown = session_detach

    def session_permissions_handlePendingPermissionRequest(
        self, params: Message
    ) -> tuple[Message, Any]:
        call = self.open[params["requestId"]]
        approved = str(params["result"]["kind"]).startswith("approve")
        return {"success": True}, lambda: self.permitted(params["requestId"], call, approved)

    def session_tools_handlePendingToolCall(self, params: Message) -> tuple[Message, Any]:
        result = params.get("result") or {"error": params.get("error")}
        return {"success": True}, lambda: self.finish(params["requestId"], result)

    def begin(self) -> None:
        self.event("user.message", {"content": "", "messageId": "m"})
        self.next_turn()

    def next_turn(self) -> None:
        calls = next(self.turns, [])
        if not calls:
            for part in ("That ", "is all.") if self.streams else ():
                self.event("assistant.message_delta", {"deltaContent": part, "messageId": "a"})
            data = {"content": "That is all.", "messageId": "a", "originatingMessageId": "m"}
            self.event("assistant.message", data)
            self.event("session.idle", {})
            return
        self.open = {f"r{place}": call for place, call in enumerate(calls)}
        for request, call in [*self.open.items()]:
            self.ask(request, call)

    def ask(self, request: str, call: Message) -> None:
        if call["name"] not in self.tools:
            self.finish(request, {"error": f"Tool '{call['name']}' does not exist."})
        elif not self.asks:
            self.finish(request, {"error": "Permission denied"})
        else:
            tool = self.tools[call["name"]]
            permission = {
                "kind": "custom-tool",
                "toolName": call["name"],
                "toolDescription": tool["description"],
            }
            data = {"requestId": request, "permissionRequest": permission}
            self.event("permission.requested", data)

    def permitted(self, request: str, call: Message, approved: bool) -> None:
        if not approved:
            self.finish(request, {"error": "Permission denied"})
            return
        data = {
            "requestId": request,
            "sessionId": self.session,
            "toolCallId": f"c{request}",
            "toolName": call["name"],
            "arguments": call["arguments"],
        }
        self.event("external_tool.requested", data)

    def finish(self, request: str, result: Message) -> None:
        note(result)
        self.open.pop(request)
        if not self.open:
            self.next_turn()

    def abort(self) -> None:
        for request in self.open:
            self.event("external_tool.completed", {"requestId": request})
        self.event("session.idle", {"aborted": True})

    def event(self, kind: str, data: Message) -> None:
        event = {"id": ID, "timestamp": "2026-01-01T00:00:00Z", "type": kind, "data": data}
        params = {"sessionId": self.session, "event": {**event, "parentId": None}}
        write({"jsonrpc": "2.0", "method": "session.event", "params": params})


def note(value: object) -> None:
    with LOG.open("a") as log:
        log.write(json.dumps(value) + "\n")


def read() -> Message | None:
    size = 0
    while (line := sys.stdin.buffer.readline()).strip():
        name, _, value = line.decode().partition(":")
        size = int(value) if name.lower() == "content-length" else size
    return json.loads(sys.stdin.buffer.read(size)) if size else None


def write(message: Message) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    Cli().run()
