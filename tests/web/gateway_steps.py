"""A client at the gateway of a machine's yard."""

import httpx2

from tests.web.machine import Machine


def initialize(it: Machine, token: str, name: str, path: str = "/mcp") -> httpx2.Response:
    """Begin a session as a client of that name."""
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": name, "version": "1.2"},
        },
    }
    return httpx2.post(f"{it.yard.up.url}{path}", json=body, headers=headers, timeout=20)


def lists_tools(it: Machine, token: str) -> int:
    """What the gateway answers to somebody with a token."""
    return initialize(it, token, "settings").status_code
