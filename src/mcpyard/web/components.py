"""The components page: every component in every state, for the eyes and for the tests."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.desired import Definition, Owner, Waiting
from mcpyard.domain.display_status import DisplayStatus
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope
from mcpyard.web.badges import EVERY_LOOK, look_at
from mcpyard.web.client_screens.samples import client_samples
from mcpyard.web.metrics import NOTHING, Metric
from mcpyard.web.server_screens.presenters import Card, Tiles
from mcpyard.web.templating import answer
from mcpyard.yard.consent import waiting_record
from mcpyard.yard.records import Record

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)

_RECORD: Final[Record] = {
    "id": "00000000-0000-0000-0000-000000000001",
    "name": "filesystem",
    "title": None,
    "description": None,
    "scope": "project",
    "transport": "stdio",
    "enabled": True,
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"],
    "phase": "connected",
    "wanted": "running",
    "error": None,
    "attempt": 0,
    "maxAttempts": 3,
    "nextRetryAt": None,
    "since": _NOW.isoformat(),
    "pid": 4711,
    "protocolVersion": "2025-11-25",
    "toolCount": 12,
    "toolsStale": False,
    "needsApproval": None,
    "warnings": [],
}


def _error(code: str, message: str, hint: str, *stderr: str) -> Record:
    return {"code": code, "message": message, "hint": hint, "stderr": [*stderr]}


def _card(number: int, lamp: DisplayStatus, **changes: object) -> Card:
    record = _RECORD | {"id": f"00000000-0000-0000-0000-{number:012}"} | changes
    return Card(record, look_at(lamp), NOTHING, "handshake", "", editable=True)


def _cards() -> list[Card]:
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    ended = "the process exited with code 7"
    lost = _error("exited", ended, "", "panic: out of cheese")
    missing = _error("command_missing", 'command not found: "npz"', "")
    sign_in = _error("needs_auth", "Sign-in required", "")
    waits = _error("needs_approval", "needs your approval", "")
    hung = _error("unresponsive", "did not answer 3 calls or a ping in time", "")
    busy = {"phase": "backoff", "error": lost, "attempt": 2, "nextRetryAt": soon}
    vital = Metric(48 << 20, (3.0, 4.5, 2.2, 9.1, 3.3, 2.9, 12.0, 3.1), (False,) * 8)
    odd = Problem("transport", "is missing; assumed to be stdio")
    bad_name = '<script>alert("x")</script> \u202egnp.exe ' + "long" * 60
    return [
        replace(_card(1, DisplayStatus.CONNECTED), vital=vital),
        _card(2, DisplayStatus.RETRYING, name="knowledge", **busy),
        _card(3, DisplayStatus.FAILED, name="broken", phase="failed", error=missing, attempt=3),
        _card(4, DisplayStatus.NEEDS_AUTH, name="remote", phase="needs_auth", error=sign_in),
        replace(
            _card(
                5, DisplayStatus.NEEDS_APPROVAL, name="found", phase="needs_approval", error=waits
            ),
            folder="/srv/project",
        ),
        _card(
            6, DisplayStatus.STOPPED, name="asleep", phase="stopped", wanted="stopped", toolCount=0
        ),
        replace(_card(7, DisplayStatus.CONNECTED, name=bad_name), notes=(odd,)),
        _card(
            8,
            DisplayStatus.CONNECTED,
            title="Shared files",
            description="Papers of everybody. " * 30,
        ),
        _card(9, DisplayStatus.CONNECTED, title=bad_name, description=bad_name),
        _card(
            10, DisplayStatus.DEGRADED, name="hung", phase="degraded", error=hung, toolsStale=True
        ),
    ]


async def components(request: Request) -> Response:
    """Every component in every state."""
    tiles = Tiles(10, {"good": 4, "busy": 1, "bad": 4, "idle": 1}, 42)
    data: Record = {"tab": "components", "looks": EVERY_LOOK, "cards": _cards(), "tiles": tiles}
    lines = [
        ("gap", "@@ -1,3 +1,3 @@"),
        ("cut", '-  "timeout": "30000"'),
        ("add", '+  "timeout": "5"'),
    ]
    data |= {"lines": lines, "waiting": _waiting()}
    return answer(request, "screens/components.html", data | client_samples())


def _waiting() -> list[Record]:
    """An entry of each kind that waits for approval."""
    owner, place = Owner(Scope.PROJECT, "/srv/project/.mcp.json"), Owner(Scope.USER)
    local = LocalConfig(
        command=["npx", "-y", "@acme/files", "${ROOT}"],
        environment={"NODE_OPTIONS": "--require ./hook.js", "API_KEY": "${API_KEY}"},
        inherit=["*"],
    )
    remote = RemoteConfig(url="https://a.example/mcp", headers={"X-Key": "${API_KEY}"})
    entries = [
        Waiting(owner, Definition("added", local)),
        Waiting(owner, Definition("changed", local), LocalConfig(command=["npx", "files"])),
        Waiting(owner, Definition("replaces", remote), shadows=place),
    ]
    return [waiting_record(each) for each in entries]
