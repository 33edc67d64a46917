from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import orjson
import pytest

from mcpyard.cli.commands.show import POLICY
from mcpyard.domain.cause import HINTS, Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import Config, LocalConfig, Policy, RemoteConfig
from mcpyard.domain.observed import Era, Observed, SessionFacts
from mcpyard.yard.views.base import encodable
from mcpyard.yard.views.events import status_event
from mcpyard.yard.views.servers import ServerView, ToolSummary, server_view
from tests.yard.sample_views import ID, SERVER, sample_server


def test_a_local_record_has_every_field_of_the_definition() -> None:
    view = server_view(SERVER, Observed(ID), ())
    assert view.env == {"T": {"masked": True, "hint": "...alue"}}
    assert (view.command, view.args, view.cwd) == ("npx", ["-y"], None)
    assert (view.type, view.transport, view.scope) == ("local", "stdio", "user")
    assert (view.status, view.state, view.wanted) == (
        "disconnected",
        "stopped",
        "running",
    )
    assert (view.tool_count, view.tools) == (0, [])


def test_every_part_of_the_policy_can_be_read_back() -> None:
    other_names = {"concurrency": "wantedConcurrency", "tools": "toolPolicies"}
    policy: dict[str, object] = {
        "enabled": False,
        "timeout": 7,
        "startTimeout": 8,
        "wanted": "running",
        "progressExtends": True,
        "fallback": ["b"],
        "inherit": ["DISPLAY"],
        "isolation": "per-client",
        "singleton": True,
        "labels": {"gpu": "yes"},
        "concurrency": 4,
        "queue": 5,
        "maxMessage": 9,
        "health": {"interval": 4, "timeout": 5, "failures": 6},
        "restart": {"attempts": 0, "limit": 1, "window": 2},
        "limits": {"memory": 2 << 20, "processes": 3},
        "recordCalls": False,
        "tools": {"t": {"enabled": False, "timeout": 3}},
        "title": "T",
        "description": "D",
        "tags": ["a", "b"],
    }
    assert [*policy] == [info.alias for info in Policy.model_fields.values()]
    config = LocalConfig.model_validate({"command": ["npx"], **policy})
    view = server_view(replace(SERVER, config=config), Observed(ID), ())
    assert {name: view.to_dict()[other_names.get(name, name)] for name in policy} == policy
    usual = server_view(SERVER, Observed(ID), ())
    assert {name: usual.to_dict()[name] for name in POLICY} == POLICY, "what `show` leaves out"


def test_a_record_says_what_to_call_a_server_and_what_to_say_about_it() -> None:
    config = LocalConfig(command=["npx"], title="Files", description="Papers.")
    view = server_view(replace(SERVER, config=config), Observed(ID), ())
    assert (view.title, view.description) == ("Files", "Papers.")
    unsaid = server_view(SERVER, Observed(ID), ())
    assert (unsaid.title, unsaid.description) == (None, None)


def test_the_digest_follows_name_and_definition() -> None:
    def of(server: DesiredServer) -> object:
        return server_view(server, Observed(ID), ()).digest

    assert of(SERVER) == of(replace(SERVER, launch_digest="other"))
    assert of(SERVER) != of(replace(SERVER, name="x"))
    assert of(SERVER) != of(replace(SERVER, config=LocalConfig(command=["npx"])))


def test_a_remote_record_shows_address_and_masked_headers() -> None:
    remote = replace(SERVER, config=RemoteConfig(url="http://h", headers={"X": "${X}"}))
    view = server_view(remote, Observed(ID), ())
    assert (view.url, view.headers, view.transport) == ("http://h", {"X": "${X}"}, None)
    assert view.command is None
    assert "command" not in view.to_dict()


def test_a_waiting_server_shows_cause_attempt_and_the_next_try() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    cause = Cause(Code.EXITED, "exited", stderr=("boom",))
    seen = Observed(ID, State(Phase.BACKOFF, n=2, cause=cause), since=at, next_retry_at=at)
    view = server_view(SERVER, seen, ())
    assert (view.attempt, view.max_attempts) == (2, 3)
    assert view.next_retry_at == "2030-01-01T00:00:00.000+00:00"
    assert view.error
    assert view.error.to_dict() == {
        "code": "exited",
        "message": "exited",
        "hint": HINTS[Code.EXITED],
        "stderr": ["boom"],
    }
    event = status_event(SERVER, seen)
    assert (event["name"], event["state"], event["attempt"]) == ("fs", "error", 2)


def test_a_connected_server_shows_its_session() -> None:
    facts = SessionFacts(Era.MODERN, "2026-07-28", {"name": "x"})
    view = server_view(SERVER, Observed(ID, State(Phase.CONNECTED), pid=5, session=facts), ())
    assert (view.protocol_version, view.pid, view.server_info) == (
        "2026-07-28",
        5,
        {"name": "x"},
    )


DEFINITION = (
    *("id", "name", "title", "description", "tags", "scope", "type", "transport", "thisYard"),
    "enabled",
    *(
        "timeout",
        "startTimeout",
        "progressExtends",
        "fallback",
        "inherit",
        "isolation",
        "singleton",
        "labels",
        "wantedConcurrency",
    ),
    *("queue", "maxMessage", "health", "restart", "limits", "recordCalls", "toolPolicies"),
)
CONDITION = (
    *("status", "state", "phase", "error", "attempt", "maxAttempts", "nextRetryAt", "pid", "since"),
    *("wanted", "protocolVersion", "serverInfo", "concurrency", "toolsStale", "needsApproval"),
    *("warnings", "digest", "toolCount"),
)


@pytest.mark.parametrize(
    ("config", "launch"),
    [
        (LocalConfig(command=["npx"]), ("command", "args", "env", "cwd")),
        (RemoteConfig(url="http://h"), ("url", "headers", "oauth")),
    ],
)
def test_json_has_the_members_of_its_kind_of_server_in_their_order(
    config: Config, launch: tuple[str, ...]
) -> None:
    bare = sample_server(config, tools=None)
    assert [*bare.to_dict()] == [*DEFINITION, *launch, *CONDITION]
    full = sample_server(config, figures=None)
    assert [*full.to_dict()] == [*DEFINITION, *launch, *CONDITION, "tools", "figures"]


def test_a_view_that_was_sent_is_read_back_as_it_was() -> None:
    tools = [ToolSummary(name="read", description="Reads")]
    for view in (sample_server(tools=tools), sample_server(RemoteConfig(url="http://h"))):
        assert msgspec.convert(view.to_dict(), ServerView) == view
        assert (
            msgspec.convert(orjson.loads(orjson.dumps(view, default=encodable)), ServerView) == view
        )


def test_only_views_are_made_encodable() -> None:
    with pytest.raises(TypeError, match="set is not JSON"):
        encodable({1})
