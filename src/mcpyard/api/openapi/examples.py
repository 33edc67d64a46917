"""What things look like; a test holds each against its schema."""

import json
from typing import Final

_ID: Final = "5c0e4f5e-8a53-4d3b-9d0a-0a3c1b6f2d11"

DEFINITION: Final[dict[str, object]] = {
    "type": "local",
    "command": "npx",
    "args": ["-y", "server-files", "/data"],
    "env": {"LOG": "${LOG_LEVEL}"},
}

PASTED: Final = json.dumps({"mcpServers": {"files": DEFINITION}})

REGISTRATION: Final[dict[str, object]] = {
    "command": {"name": "files", **DEFINITION},
    "address": {
        "name": "tickets",
        "type": "http",
        "url": "https://tickets.example/mcp",
        "headers": {"Authorization": "Bearer ${TICKETS_TOKEN}"},
        "scope": "user",
        "start": True,
    },
}

PATCH: Final[dict[str, object]] = {
    "arguments": {"args": ["-y", "server-files", "/other"], "timeout": 60000},
    "rename": {"name": "documents"},
    "variables": {"env": {"LOG": None, "API_KEY": {"masked": True}}},
    "off": {"enabled": False},
}

SERVER: Final[dict[str, object]] = {
    "id": _ID,
    "name": "files",
    "title": "Shared files",
    "description": None,
    "scope": "project",
    "type": "local",
    "transport": "stdio",
    "enabled": True,
    "timeout": 30000,
    "startTimeout": None,
    "progressExtends": False,
    "fallback": [],
    "inherit": [],
    "isolation": "shared",
    "wantedConcurrency": 0,
    "queue": 1024,
    "maxMessage": 16777216,
    "health": {"interval": 30000, "timeout": 5000, "failures": 3},
    "restart": {"attempts": 3, "limit": 10, "window": 3600000},
    "toolPolicies": {},
    "thisYard": False,
    "command": "npx",
    "args": ["-y", "server-files", "/data"],
    "env": {"LOG": "${LOG_LEVEL}", "API_KEY": {"masked": True, "hint": "...9f2c"}},
    "cwd": None,
    "status": "connected",
    "state": "running",
    "phase": "connected",
    "error": None,
    "attempt": 0,
    "maxAttempts": 3,
    "nextRetryAt": None,
    "pid": 4711,
    "since": "2026-11-15T09:00:00.000+00:00",
    "wanted": "running",
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "files", "version": "1"},
    "concurrency": 256,
    "toolsStale": False,
    "needsApproval": None,
    "warnings": [],
    "digest": "0f6c2b8a9d3e4f5061728394a5b6c7d8",
    "toolCount": 1,
    "tools": [{"name": "read", "description": "Read a file."}],
}

TOOL: Final[dict[str, object]] = {
    "name": "read",
    "title": None,
    "description": "Read a file.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    "outputSchema": None,
    "annotations": {"readOnlyHint": True},
    "enabled": True,
    "exposedName": "mcp_files_read",
    "server": "files",
    "stale": False,
}

OUTCOME: Final[dict[str, object]] = {
    "content": [{"type": "text", "text": "hi"}],
    "yard": {
        "server": "files",
        "tool": "read",
        "ms": 1.25,
        "attribution": {"source": "files", "updatedAt": None, "retrievedAt": None},
        "tried": ["files"],
    },
}

CALL: Final[dict[str, object]] = {
    "id": 17,
    "at": "2026-11-15T09:00:00.000+00:00",
    "who": "api",
    "server": "files",
    "serverId": _ID,
    "tool": "read",
    "ms": 1.25,
    "outcome": "ok",
    "bytesIn": 24,
    "bytesOut": 61,
}

EVENTS: Final = (
    "id: 3f9a1c5d7e21-41\nevent: status\n"
    'data: {"id": "' + _ID + '", "name": "files", "status": "connected", "state": "running"}\n\n'
)

METRICS: Final = (
    "# HELP mcpyard_calls_total Calls of a server's tools.\n"
    "# TYPE mcpyard_calls_total counter\n"
    'mcpyard_calls_total{server="files"} 17\n'
)
