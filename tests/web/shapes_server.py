"""A server with a tool for every shape of arguments and of results; run as `python -I -S`."""

import base64
import json
import struct
import sys
import zlib
from typing import Any

SHAPE = {
    "type": "object",
    "required": ["name"],
    "$defs": {
        "home": {"type": "object", "properties": {"street": {"type": "string"}}},
        "plain": {
            "title": "Plain",
            "type": "object",
            "properties": {"kind": {"const": "plain"}, "colour": {"type": "string"}},
        },
        "mixed": {
            "title": "Mixed",
            "type": "object",
            "properties": {"kind": {"const": "mixed"}, "parts": {"type": "integer"}},
        },
    },
    "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "size": {"enum": ["small", "large"]},
        "open": {"type": ["boolean", "null"]},
        "home": {"$ref": "#/$defs/home"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "paint": {"oneOf": [{"$ref": "#/$defs/plain"}, {"$ref": "#/$defs/mixed"}]},
        "anything": {},
        "limit": {"type": "number", "default": 10},
        "skipped": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
}


def png() -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = (
        chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


PICTURE = [
    {"type": "image", "mimeType": "image/png", "data": png()},
    {"type": "resource", "resource": {"uri": "file:///notes.md", "text": "# Notes"}},
    {"type": "resource_link", "uri": "https://example.invalid/", "name": "elsewhere"},
    {"type": "hologram", "data": "?"},
]


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            info = {"name": "shapes", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            empty = {"type": "object"}
            return {
                "tools": [
                    {"name": "shape", "description": "Takes any shape.", "inputSchema": SHAPE},
                    {"name": "picture", "description": "Shows things.", "inputSchema": empty},
                ]
            }
        case "tools/call" if params["name"] == "shape":
            return {"content": [], "structuredContent": {"sent": params["arguments"]}}
        case "tools/call":
            return {"content": PICTURE}
        case "ping":
            return {}
        case _:
            return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request)
        error = {"error": {"code": -32601, "message": "unknown"}}
        body = error if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)
