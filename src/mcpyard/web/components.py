"""The components page: every component in every state, for the eyes and for the tests."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.cause import Code
from mcpyard.domain.definition.launch import Unlaunchable
from mcpyard.domain.desired import Definition, DesiredServer, Owner, Waiting
from mcpyard.domain.display_status import DisplayStatus
from mcpyard.domain.errors import Problem
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope, Wanted
from mcpyard.domain.observed import Era, Observed, SessionFacts
from mcpyard.web.badges import EVERY_BADGE, badge_for
from mcpyard.web.client_screens.samples import client_samples
from mcpyard.web.metrics import NOTHING, Metric, Usage
from mcpyard.web.server_screens.presenters import Card, Tiles
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.consent import waiting_view
from mcpyard.yard.views.approvals import WaitingServerView
from mcpyard.yard.views.servers import CauseView, server_view

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)

_ID: Final = UUID(int=1)
_SERVER: Final = server_view(
    DesiredServer(
        _ID,
        "filesystem",
        Owner(Scope.PROJECT, "/srv/project/.mcp.json"),
        LocalConfig(command=["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv/files"]),
        Wanted.RUNNING,
        Unlaunchable(()),
        launch_digest="",
        policy_digest="",
    ),
    Observed(
        _ID,
        State(Phase.CONNECTED),
        since=_NOW,
        pid=4711,
        session=SessionFacts(Era.HANDSHAKE, "2025-11-25"),
    ),
    (),
)


def _error(code: Code, message: str, hint: str, *stderr: str) -> CauseView:
    return CauseView(code=code, message=message, hint=hint, stderr=[*stderr])


def _card(number: int, status: DisplayStatus, **changes: object) -> Card:
    fields = {"id": str(UUID(int=number)), "tool_count": 12} | changes
    server = msgspec.structs.replace(_SERVER, **fields)
    return Card(server, badge_for(status), NOTHING, "handshake", "", editable=True)


def _cards() -> list[Card]:
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    ended = "the process exited with code 7"
    lost = _error(Code.EXITED, ended, "", "panic: out of cheese")
    missing = _error(Code.COMMAND_MISSING, 'command not found: "npz"', "")
    sign_in = _error(Code.NEEDS_AUTH, "Sign-in required", "")
    waits = _error(Code.NEEDS_APPROVAL, "needs your approval", "")
    hung = _error(Code.UNRESPONSIVE, "did not answer 3 calls or a ping in time", "")
    busy = {"phase": Phase.BACKOFF, "error": lost, "attempt": 2, "next_retry_at": soon}
    metric = Metric(Usage(48 << 20, 3, 2), (3.0, 4.5, 2.2, 9.1, 3.3, 2.9, 12.0, 3.1), (False,) * 8)
    odd = Problem("transport", "is missing; assumed to be stdio")
    bad_name = '<script>alert("x")</script> \u202egnp.exe ' + "long" * 60
    return [
        replace(_card(1, DisplayStatus.CONNECTED), metric=metric),
        _card(2, DisplayStatus.RETRYING, name="knowledge", **busy),
        _card(3, DisplayStatus.FAILED, name="broken", phase=Phase.FAILED, error=missing, attempt=3),
        _card(4, DisplayStatus.NEEDS_AUTH, name="remote", phase=Phase.NEEDS_AUTH, error=sign_in),
        replace(
            _card(
                5,
                DisplayStatus.NEEDS_APPROVAL,
                name="found",
                phase=Phase.NEEDS_APPROVAL,
                error=waits,
            ),
            folder="/srv/project",
        ),
        _card(
            6,
            DisplayStatus.STOPPED,
            name="asleep",
            phase=Phase.STOPPED,
            wanted=Wanted.STOPPED,
            tool_count=0,
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
            10,
            DisplayStatus.DEGRADED,
            name="hung",
            phase=Phase.DEGRADED,
            error=hung,
            tools_stale=True,
        ),
    ]


async def components(request: Request) -> Response:
    """Every component in every state."""
    tiles = Tiles(10, {"good": 4, "busy": 1, "bad": 4, "idle": 1}, 42)
    data: TemplateData = {
        "tab": "components",
        "badges": EVERY_BADGE,
        "cards": _cards(),
        "tiles": tiles,
    }
    lines = [
        ("gap", "@@ -1,3 +1,3 @@"),
        ("cut", '-  "timeout": "30000"'),
        ("add", '+  "timeout": "5"'),
    ]
    data |= {"lines": lines, "waiting": _waiting()}
    return answer(request, "screens/components.html", data | client_samples())


def _waiting() -> list[WaitingServerView]:
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
    return [waiting_view(each) for each in entries]
