"""An echo server behind streamable HTTP that costs little: `python -m bench.remote_server PORT`."""

import asyncio
import json
import sys
from typing import Any, Final, cast

import uvloop

_END: Final = b"\r\n\r\n"
_TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_RESULTS: Final[dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "serverInfo": {"name": "echo", "version": "1"},
        "capabilities": {"tools": {}},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": _TEXT}]},
    "ping": {},
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "tools/call":
        block = {"type": "text", "text": message["params"]["arguments"]["text"]}
        return {**reply, "result": {"content": [block]}}
    if message["method"] in _RESULTS:
        return {**reply, "result": _RESULTS[message["method"]]}
    return {**reply, "error": {"code": -32601, "message": "Method not found"}}


class Echo(asyncio.Protocol):
    """One connection; requests come one at a time, with a length."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(_END)
        _, _, length = head.lower().partition(b"content-length:")
        if end and len(body) >= int(length.partition(b"\r")[0] or 0):
            self._received = b""
            self._transport.write(respond(head, body))


def respond(head: bytes, body: bytes) -> bytes:
    """The HTTP answer to a request."""
    if not head.startswith(b"POST"):
        return b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n"
    message = json.loads(body)
    if "id" not in message:
        return b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n"
    content = json.dumps(answer(message)).encode()
    fields = b"content-type: application/json\r\nmcp-session-id: bench\r\n"
    return b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (fields, len(content), content)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
