"""Which calls the query of an address asks for, and calls as commands."""

import json
import shlex
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mcpyard.domain.errors import ArgumentsRefused, ServerUnknown
from mcpyard.domain.stored import CallOrder, CallQuery
from mcpyard.yard.calls.call_commands import call_commands
from mcpyard.yard.calls.call_filters import read_call_query

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
ONE = UUID(int=1)


def read(**parameters: str) -> CallQuery:
    def server_id(name: str) -> UUID:
        if name != "one":
            raise ServerUnknown("there is no such server")
        return ONE

    return read_call_query(parameters, server_id, NOW)


def test_a_query_without_filters_asks_for_the_newest_calls() -> None:
    assert read(server="", text=" ") == CallQuery()
    assert CallQuery().is_newest_first


def test_every_filter_is_read() -> None:
    query = read(server="one", tool="t", outcome="failed", who="cli", text=" x ")
    assert query == CallQuery(server=ONE, tool="t", outcome="failed", who="cli", text="x")
    assert read(server=str(ONE)) == CallQuery(server=ONE)
    sorted_ = read(sort="duration", order="asc")
    assert (sorted_.order, sorted_.ascending) == (CallOrder.DURATION, True)
    assert not sorted_.is_newest_first


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("1h", timedelta(hours=1)),
        ("7d", timedelta(days=7)),
        ("2026-05-04T11:00:00Z", timedelta(hours=1)),
        ("2026-05-04T13:00:00+02:00", timedelta(hours=1)),
    ],
)
def test_times_are_ages_or_moments(text: str, age: timedelta) -> None:
    assert read(since=text, until=text) == CallQuery(since=NOW - age, until=NOW - age)


def test_a_time_without_a_zone_is_that_of_this_machine() -> None:
    local = datetime(2026, 5, 4, 11).astimezone(UTC)
    assert read(since="2026-05-04T11:00").since == local


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("since", "soon"),
        ("until", "1y"),
        ("sort", "name"),
        ("order", "up"),
        ("since", "0001-01-01"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_name(field: str, value: str) -> None:
    with pytest.raises(ArgumentsRefused, match=field):
        read(**{field: value})


def test_a_server_that_is_not_there_is_refused() -> None:
    with pytest.raises(ServerUnknown):
        read(server="two")


def test_a_call_is_copied_as_a_command_without_a_token() -> None:
    arguments = {"text": "it's $HOME\n", "n": None}
    made = call_commands("http://h:1/", "my server", "a/b", "mcp_x", arguments)
    words = shlex.split(made.curl.replace("\\\n", " "))
    assert words[2] == "http://h:1/api/mcp/servers/my%20server/tools/a%2Fb/call"
    assert "Authorization: Bearer $MCPYARD_TOKEN" in words
    assert json.loads(words[-1]) == {"arguments": arguments}
    program, _, server, tool, _, text = shlex.split(made.cli)
    assert (program, server, tool, json.loads(text)) == ("mcpyard", "my server", "a/b", arguments)
    compile(made.python, "python", "exec")
    assert repr(arguments) in made.python
    bare = call_commands("http://h:1", "one", "t", "", {})
    assert (bare.cli, bare.python) == ("mcpyard call one t", "")
