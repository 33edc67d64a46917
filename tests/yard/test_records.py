from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.launch import LocalLaunch
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope, Wanted
from mcpyard.domain.observed import Era, Observed, SessionFacts
from mcpyard.yard.records import brief, masked, record

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


def test_references_are_shown_and_literals_are_masked() -> None:
    shown = masked(
        {
            "A": "${A}",
            "B": "Bearer ${TOKEN}",
            "C": "sk-1234567890abcdef",
            "D": "short",
            "E": "a-long-secret-prefix-${X}",
        }
    )
    assert shown == {
        "A": "${A}",
        "B": "Bearer ${TOKEN}",
        "C": {"masked": True, "hint": "...cdef"},
        "D": {"masked": True, "hint": ""},
        "E": {"masked": True, "hint": "...${X}"},
    }


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
    assert shown["error"] == {"code": "exited", "message": "exited", "hint": "", "stderr": ["boom"]}
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
