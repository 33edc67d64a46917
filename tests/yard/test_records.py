from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from mcpyard.cli.commands.show import POLICY
from mcpyard.domain.cause import HINTS, Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import LocalConfig, Policy, RemoteConfig, Scope, Wanted
from mcpyard.domain.observed import Era, Observed, SessionFacts
from mcpyard.yard.records import brief, record

ID = UUID(int=7)
SERVER = DesiredServer(
    id=ID,
    name="fs",
    owner=Owner(Scope.USER),
    config=LocalConfig(command=["npx", "-y"], environment={"T": "literal-secret-value"}),
    wanted=Wanted.RUNNING,
    launch=LocalLaunch(("npx", "-y"), {}, None, ()),
    launch_digest="d",
    policy_digest="p",
)


def test_a_local_record_has_every_field_of_the_definition() -> None:
    shown = record(SERVER, Observed(ID), ())
    assert shown["env"] == {"T": {"masked": True, "hint": "...alue"}}
    assert (shown["command"], shown["args"], shown["cwd"]) == ("npx", ["-y"], None)
    assert (shown["type"], shown["transport"], shown["scope"]) == ("local", "stdio", "user")
    assert (shown["status"], shown["state"], shown["wanted"]) == (
        "disconnected",
        "stopped",
        "running",
    )
    assert (shown["toolCount"], shown["tools"]) == (0, [])


def test_every_part_of_the_policy_can_be_read_back() -> None:
    other_names = {"concurrency": "wantedConcurrency", "tools": "toolPolicies"}
    said: dict[str, object] = {
        "enabled": False,
        "timeout": 7,
        "startTimeout": 8,
        "wanted": "running",
        "progressExtends": True,
        "fallback": ["b"],
        "inherit": ["DISPLAY"],
        "isolation": "per-client",
        "concurrency": 4,
        "maxMessage": 9,
        "health": {"interval": 4, "timeout": 5, "failures": 6},
        "restart": {"attempts": 0, "limit": 1, "window": 2},
        "tools": {"t": {"enabled": False, "timeout": 3}},
        "title": "T",
        "description": "D",
    }
    assert [*said] == [info.alias for info in Policy.model_fields.values()]
    config = LocalConfig.model_validate({"command": ["npx"], **said})
    shown = record(replace(SERVER, config=config), Observed(ID), ())
    assert {name: shown[other_names.get(name, name)] for name in said} == said
    usual = record(SERVER, Observed(ID), ())
    assert {name: usual[name] for name in POLICY} == POLICY, "what `show` leaves out"


def test_a_record_says_what_to_call_a_server_and_what_to_say_about_it() -> None:
    config = LocalConfig(command=["npx"], title="Files", description="Papers.")
    shown = record(replace(SERVER, config=config), Observed(ID), ())
    assert (shown["title"], shown["description"]) == ("Files", "Papers.")
    unsaid = record(SERVER, Observed(ID), ())
    assert (unsaid["title"], unsaid["description"]) == (None, None)


def test_the_digest_follows_name_and_definition() -> None:
    def of(server: DesiredServer) -> object:
        return record(server, Observed(ID), ())["digest"]

    assert of(SERVER) == of(replace(SERVER, launch_digest="other"))
    assert of(SERVER) != of(replace(SERVER, name="x"))
    assert of(SERVER) != of(replace(SERVER, config=LocalConfig(command=["npx"])))


def test_a_remote_record_shows_address_and_masked_headers() -> None:
    remote = replace(SERVER, config=RemoteConfig(url="http://h", headers={"X": "${X}"}))
    shown = record(remote, Observed(ID), ())
    assert (shown["url"], shown["headers"], shown["transport"]) == ("http://h", {"X": "${X}"}, None)
    assert "command" not in shown


def test_a_waiting_server_shows_cause_attempt_and_the_next_try() -> None:
    at = datetime(2030, 1, 1, tzinfo=UTC)
    cause = Cause(Code.EXITED, "exited", stderr=("boom",))
    seen = Observed(ID, State(Phase.BACKOFF, n=2, cause=cause), since=at, next_retry_at=at)
    shown = record(SERVER, seen, ())
    assert (shown["attempt"], shown["maxAttempts"]) == (2, 3)
    assert shown["nextRetryAt"] == "2030-01-01T00:00:00.000+00:00"
    assert shown["error"] == {
        "code": "exited",
        "message": "exited",
        "hint": HINTS[Code.EXITED],
        "stderr": ["boom"],
    }
    told = brief(SERVER, seen)
    assert (told["name"], told["state"], told["attempt"]) == ("fs", "error", 2)


def test_a_connected_server_shows_its_session() -> None:
    facts = SessionFacts(Era.MODERN, "2026-07-28", {"name": "x"})
    shown = record(SERVER, Observed(ID, State(Phase.CONNECTED), pid=5, session=facts), ())
    assert (shown["protocolVersion"], shown["pid"], shown["serverInfo"]) == (
        "2026-07-28",
        5,
        {"name": "x"},
    )
