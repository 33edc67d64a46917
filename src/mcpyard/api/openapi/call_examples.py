"""What calls, their recordings and their charts look like; a test holds each against its schema."""

from collections.abc import Mapping
from typing import Final

_CALL: Final[Mapping[str, object]] = {
    "id": 17, "at": "2026-11-15T09:00:00.000+00:00", "who": "api", "server": "files",
    "serverId": "5c0e4f5e-8a53-4d3b-9d0a-0a3c1b6f2d11", "tool": "read",
    "ms": 1.25, "outcome": "ok", "bytesIn": 24, "bytesOut": 61, "recorded": True,
}  # fmt: skip
_RECORDED: Final[Mapping[str, object]] = {"size": 24, "tokens": 6, "cut": False, "masked": False}
_CALL_DETAILS: Final[Mapping[str, object]] = {
    **_CALL,
    "queueMs": 0.0,
    "serverMs": 1.25,
    "serverVersion": "files 1.2.0",
    "protocol": "2025-11-25",
    "passedOver": [],
    "arguments": {"text": '{"path": "notes.txt"}', **_RECORDED},
    "result": {"text": '{"content":[{"type":"text","text":"hi"}]}', **_RECORDED},
    "error": None,
    "commands": {
        "curl": "curl -sS http://127.0.0.1:8712/api/mcp/servers/files/tools/read/call ...",
        "cli": 'mcpyard call files read --args \'{"path": "notes.txt"}\'',
        "python": "from mcpyard import Yard ...",
    },
}
_COST: Final[Mapping[str, object]] = {
    "name": "files",
    "tools": 11,
    "tokens": 1840,
}
_CALLS_CHART: Final[Mapping[str, object]] = {
    "since": 0,
    "until": 120,
    "step": 60,
    "total": 3,
    "calls": {"ok": [2, 0], "tool_error": [1, 0]},
    "latency": {name: [12.5, None] for name in ("p05", "p25", "p50", "p75", "p95")},
    "overall": {"p50": 12.5, "p95": 31.0},
    "points": {
        "at": [1.2, 3.4, 5.6],
        "ms": [11.2, 12.8, 31.1],
        "outcome": ["ok", "ok", "tool_error"],
        "every": 1,
    },
}

CALL_ANSWERS: Final[Mapping[str, object]] = {
    "Calls": {"calls": [_CALL], "next": None, "dropped": 0, "trimmed": 0},
    "CallsChart": _CALLS_CHART,
    "UsageChart": {
        "since": 0,
        "until": 120,
        "step": 60,
        "rss": [50331648, None],
        "cpu": [1.5, None],
    },
    "TokensChart": {"all": _COST, "servers": [_COST], "profiles": [], "clients": []},
    "CallDetails": _CALL_DETAILS,
    "Recording": {
        "mode": "auto",
        "recording": True,
        "reason": None,
        "calls": 17,
        "bytes": 20480,
        "dropped": 0,
    },
    "Cleared": {"calls": 17},
}
