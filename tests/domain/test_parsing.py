from typing import Any

import pytest

from mcpyard.domain.definition.parsing import describe, read_definition
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.model import EVERYTHING, LocalConfig, RemoteConfig, Transport


def fields(raw: object, *, strict: bool = False) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(raw, strict=strict)
    return [problem.field for problem in caught.value.problems]


def sentence(raw: object) -> str:
    with pytest.raises(DefinitionError) as caught:
        read_definition(raw)
    return str(caught.value)


LOCAL = LocalConfig(command=["npx", "-y", "x"], environment={"A": "1"})


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}, "transport": "stdio"},
        {"type": "local", "command": ["npx", "-y", "x"], "environment": {"A": "1"}},
        {"type": "stdio", "command": "npx", "args": ["-y", "x"], "env": {"A": "1"}},
        {"type": "stdio", "transport": "stdio", "command": ["npx", "-y", "x"], "env": {"A": "1"}},
        LOCAL,
    ],
)
def test_every_spelling_of_a_local_server_means_the_same(raw: object) -> None:
    reading = read_definition(raw)
    assert reading.config == LOCAL
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("raw", "transport"),
    [
        ({"type": "remote"}, None),
        ({"type": "remote", "transport": "sse"}, Transport.SSE),
        ({"type": "http"}, Transport.HTTP),
        ({"type": "streamable-http"}, Transport.HTTP),
        ({"type": "sse"}, Transport.SSE),
        ({"transport": "http"}, Transport.HTTP),
        ({"transport": "sse"}, Transport.SSE),
    ],
)
def test_every_spelling_of_a_remote_server_is_understood(
    raw: dict[str, Any], transport: Transport | None
) -> None:
    reading = read_definition(raw | {"url": "http://h/mcp", "headers": {"X": "y"}})
    assert isinstance(reading.config, RemoteConfig)
    assert reading.config.transport is transport
    assert (reading.config.url, reading.config.headers) == ("http://h/mcp", {"X": "y"})
    assert reading.warnings == ()


def test_what_is_missing_is_inferred_with_a_warning() -> None:
    local = read_definition({"command": "npx"})
    assert local.config == LocalConfig(command=["npx"])
    assert [str(each) for each in local.warnings] == [
        "transport: is missing; assumed to be stdio",
        "args: is missing; assumed to be empty",
    ]
    remote = read_definition({"url": "http://h"})
    assert isinstance(remote.config, RemoteConfig)
    assert remote.config.transport is None
    assert [each.field for each in remote.warnings] == ["transport"]


def test_strict_refuses_what_would_be_inferred() -> None:
    assert fields({"command": "npx"}, strict=True) == ["transport", "args"]
    assert fields({"url": "http://h"}, strict=True) == ["transport"]
    assert read_definition({"command": "a", "args": [], "type": "stdio"}, strict=True)


def test_unknown_fields_are_passed_over_with_a_warning() -> None:
    reading = read_definition({"type": "stdio", "command": ["a"], "enviroment": {}, "headers": {}})
    assert [str(each) for each in reading.warnings] == [
        "enviroment: is unknown; ignored",
        "headers: does not apply to a local server",
    ]


def test_null_counts_as_absent() -> None:
    reading = read_definition({"type": "stdio", "command": ["a"], "env": None, "timeout": None})
    assert reading.config == LocalConfig(command=["a"])


def test_policy_fields_are_read_in_both_cases_of_their_names() -> None:
    raw = {"type": "local", "command": ["a"], "startTimeout": 5, "progress_extends": True}
    config = read_definition(raw | {"inherit": "all", "disabled": True, "timeout": 7.0}).config
    assert (config.start_timeout, config.progress_extends, config.timeout) == (5, True, 7)
    assert config.inherit == [EVERYTHING]
    assert not config.enabled


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("npx", "expected an object, found a string"),
        ([], "expected an object, found a list"),
        (None, "expected an object, found null"),
        ({}, "command: is missing, and so is url; set one of them"),
        ({"command": "a", "url": "http://h"}, "url: conflicts with command"),
        ({"type": "stdio", "url": "http://h"}, "command: is missing"),
        ({"type": "sse", "command": "a"}, "url: is missing"),
        ({"command": ""}, "command: must not be empty"),
        ({"command": "  "}, "command: must not be empty"),
        ({"command": []}, "command: must not be empty"),
        ({"command": 3}, "command: expected a string or a list of strings, found the number 3"),
        ({"command": ["a"], "args": []}, "args: conflicts with a command that is already a list"),
        ({"command": "a", "args": "b"}, "args: expected a list, found a string"),
        (
            {"command": "a", "args": ["b", 8080]},
            'args[1]: expected a string, found the number 8080 (write "8080")',
        ),
        ({"command": "a\0"}, "command: contains a NUL"),
        ({"command": ["a", "b\0"]}, "command[1]: contains a NUL"),
        ({"command": "a", "env": {"PORT": 1}}, "env.PORT: expected a string, found the number 1"),
        ({"command": "a", "env": {"PORT": True}}, "env.PORT: expected a string, found true"),
        ({"command": "a", "env": []}, "env: expected an object, found a list"),
        ({"command": "a", "environment": {"A=": "x"}}, "environment: the name of a variable"),
        ({"command": "a", "env": {}, "environment": {}}, "env: conflicts with environment"),
        ({"command": "a", "type": "ws"}, 'type: "ws" is unknown; expected one of stdio, http, sse'),
        ({"command": "a", "transport": 1}, "transport: expected a string, found the number 1"),
        (
            {"url": "http://h", "type": "sse", "transport": "http"},
            'transport: "http" contradicts type "sse"',
        ),
        (
            {"url": "http://h", "type": "local", "transport": "http"},
            'transport: "http" contradicts',
        ),
        ({"url": "ftp://h"}, "url: must begin with http:// or https://"),
        ({"url": "http://h", "headers": {"a b": "c"}}, "headers: a b: is not a header name"),
        (
            {"url": "http://h", "timeout": -1},
            "timeout: must be greater than 0, found the number -1",
        ),
        ({"url": "http://h", "timeout": 0}, "timeout: must be greater than 0"),
        ({"url": "http://h", "timeout": True}, "timeout: expected a whole number, found true"),
        ({"url": "http://h", "timeout": "1s"}, "timeout: expected a whole number, found a string"),
        (
            {"url": "http://h", "timeout": 1.5},
            "timeout: expected a whole number, found the number 1.5",
        ),
        ({"url": "http://h", "timeout": 10**12}, "timeout: must be at most 86400000"),
        ({"url": "http://h", "enabled": "yes"}, "enabled: expected true or false, found a string"),
        ({"url": "http://h", "disabled": 1}, "disabled: expected true or false"),
        (
            {"url": "http://h", "disabled": True, "enabled": True},
            "disabled: conflicts with enabled",
        ),
        ({"url": "http://h", "wanted": "now"}, "wanted: expected running, stopped or on_demand"),
        ({"url": "http://h", "lanes": 2}, "lanes: expected one of the known words"),
        ({"url": "http://h", "tools": {"t": {"x": 1}}}, "tools.t.x: is unknown"),
        ({"url": "http://h", "fallback": ["b", 1]}, "fallback[1]: expected a string"),
    ],
)
def test_wrong_input_is_refused_with_the_field_as_it_was_written(
    raw: object, expected: str
) -> None:
    assert sentence(raw).startswith(expected)


def test_every_wrong_field_is_named_at_once() -> None:
    raw = {"command": "a", "args": [1], "env": {"B": 2}, "timeout": -3}
    assert fields(raw) == ["timeout", "args[0]", "env.B"]


def test_an_address_with_references_is_checked_after_they_are_filled_in() -> None:
    assert read_definition({"type": "http", "url": "${BASE}/mcp"}).config


def test_a_value_is_described_without_showing_a_string() -> None:
    descriptions = [describe(value) for value in ("secret", 1, 2.5, True, None, {}, (), object())]
    assert descriptions == [
        "a string",
        "the number 1",
        "the number 2.5",
        "true",
        "null",
        "an object",
        "a list",
        "a object",
    ]
