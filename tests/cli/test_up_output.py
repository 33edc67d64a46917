"""What the plain display says of a server's life: each change once, tries again only once."""

import os
from collections.abc import Generator, Mapping

import pytest

from mcpyard.cli.daemon.up_output import PlainOutput
from mcpyard.cli.lines import LineWriter
from mcpyard.yard.events import Event

ENDED = {"code": "exited", "message": "it \x1b[31mended", "hint": "look", "stderr": []}


@pytest.fixture
def pipe() -> Generator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for fd in ends:
        os.close(fd)


def status(phase: str, error: Mapping[str, object] | None = None) -> Event:
    data = {"id": "1", "name": "one", "phase": phase, "error": error, "toolCount": 2}
    return Event(1, "status", data)


def narrated(pipe: tuple[int, int], *events: Event) -> list[str]:
    output = PlainOutput(LineWriter(pipe[1], b""))
    output.ready("http://there")
    for event in events:
        output.event(event)
    output.close()
    return [" ".join(line.split()) for line in os.read(pipe[0], 1 << 16).decode().splitlines()][1:]


def test_each_change_is_told_once(pipe: tuple[int, int]) -> None:
    events = (status("connecting"), status("connected"), status("connected"), status("stopped"))
    assert narrated(pipe, *events) == ["connecting one", "connected one: 2 tools", "stopped one"]


def test_tries_again_for_the_same_reason_are_told_once(pipe: tuple[int, int]) -> None:
    tries = [status("backoff", ENDED), status("connecting", ENDED)] * 3
    lines = narrated(pipe, *tries, status("failed", ENDED))
    message = "one: it \N{REPLACEMENT CHARACTER}[31mended"
    assert lines == [f"retrying {message}", "hint: look", f"failed {message}", "hint: look"]


def test_a_probe_of_a_failed_server_is_not_told(pipe: tuple[int, int]) -> None:
    probe = Event(1, "status", {**status("connecting", ENDED).data, "attempt": 3})
    lines = narrated(pipe, status("failed", ENDED), probe, status("failed", ENDED))
    assert [line.split()[0] for line in lines] == ["failed", "hint:"]


def test_a_server_that_was_removed_is_new_when_it_comes_back(pipe: tuple[int, int]) -> None:
    gone = Event(2, "removed", {"id": "1"})
    assert narrated(pipe, status("stopped"), gone, status("stopped")) == ["stopped one"] * 2


def test_problems_of_documents_are_told(pipe: tuple[int, int]) -> None:
    assert narrated(pipe, Event(1, "documents", {"problems": ["a: b"]})) == ["problem: a: b"]


def test_who_answers_in_a_servers_place_is_told_and_when_it_is_back(pipe: tuple[int, int]) -> None:
    one: dict[str, object] = {"id": "1", "name": "one", "tool": None}
    events = (
        Event(1, "backup", {**one, "backup": "two", "reason": "it \x1b[31mended"}),
        Event(2, "recovered", one),
        Event(3, "backup", {**one, "tool": "read", "backup": None, "reason": None}),
    )
    assert narrated(pipe, *events) == [
        'fallback one: calls go to "two" (it \N{REPLACEMENT CHARACTER}[31mended)',
        "recovered one",
        "fallback one, read: no fallback is available",
    ]


def test_what_waits_while_something_else_runs_is_told_once(pipe: tuple[int, int]) -> None:
    waiting = {"one": "changed", "two": "added", "mine": "replaces"}
    events = [Event(number, "documents", {"waiting": waiting}) for number in (1, 2)]
    lines = narrated(pipe, *events, Event(3, "documents", {"waiting": {}}), events[0])
    changed = "needs approval one: a change needs your approval"
    replaces = "needs approval mine: a project file needs your approval"
    assert [each[: len(changed)] for each in lines if " one: " in each] == [changed] * 2
    assert [each[: len(replaces)] for each in lines if " mine: " in each] == [replaces] * 2
    assert len(lines) == 4
