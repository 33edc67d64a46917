import pytest

from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, make_launch
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope, Transport
from mcpyard.formats import environment


def read(**variables: str) -> dict[str, LocalConfig | RemoteConfig]:
    document = environment.read(variables)
    assert document.problems == ()
    return {each.name: each.config for each in document.definitions}


def test_an_address_without_a_transport_means_sse() -> None:
    assert read(LEGAL_MCP_SERVER_URL="http://h/sse", LEGAL_MCP_TIMEOUT="1500") == {
        "legal": RemoteConfig(url="http://h/sse", transport=Transport.SSE, timeout=1500)
    }


def test_anything_else_without_a_transport_is_a_command() -> None:
    assert read(LEGAL_MCP_SERVER_URL="mcpyard-legal --dir 'my laws'") == {
        "legal": LocalConfig(command=["mcpyard-legal", "--dir", "my laws"])
    }


@pytest.mark.parametrize("word", ["http", "HTTP", " http "])
def test_the_transport_can_be_said(word: str) -> None:
    assert read(A_MCP_SERVER_URL="http://h", A_MCP_TRANSPORT=word) == {
        "a": RemoteConfig(url="http://h", transport=Transport.HTTP)
    }


def test_any_prefix_is_a_server_and_an_empty_address_is_none() -> None:
    servers = read(
        A_B_MCP_SERVER_URL="http://h", C_MCP_SERVER_URL=" ", MCP_SERVER_URL="http://h", D="x"
    )
    assert [*servers] == ["a_b"]


def test_the_owner_is_the_environment() -> None:
    assert environment.read({}).owner.scope is Scope.ENV


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_TRANSPORT": "ws"},
            'A_MCP_TRANSPORT: "ws" is unknown',
        ),
        ({"A_MCP_SERVER_URL": "ftp://h", "A_MCP_TRANSPORT": "sse"}, "A_MCP_SERVER_URL: must begin"),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_TIMEOUT": "1s"},
            "A_MCP_TIMEOUT: expected a whole",
        ),
        ({"A_MCP_SERVER_URL": "http://h", "A_MCP_TIMEOUT": "-1"}, "A_MCP_TIMEOUT: must be greater"),
        ({"A_MCP_SERVER_URL": "run 'it"}, "A_MCP_SERVER_URL: is not a command line"),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_TRANSPORT": "stdio"},
            "A_MCP_TRANSPORT: stdio requires a command line, but the URL is an HTTP URL",
        ),
        (
            {"A_MCP_SERVER_URL": "run", "A_MCP_TRANSPORT": "local"},
            (
                'A_MCP_TRANSPORT: "local" is unknown; '
                "expected one of sse, stdio, http, streamable-http"
            ),
        ),
        ({"A_MCP_SERVER_URL": "run", "A_MCP_TRANSPORT": "sse"}, "A_MCP_SERVER_URL: must begin"),
        ({"A_MCP_SERVER_URL": "''"}, "A_MCP_SERVER_URL: must not be empty"),
        ({"A_MCP_SERVER_URL": "run", "A_MCP_FALLBACK": "b,,c"}, "A_MCP_FALLBACK: expected names"),
        ({"A_MCP_SERVER_URL": "run", "A_MCP_TOKEN": "x"}, "A_MCP_TOKEN: only a server with a URL"),
        ({"A_MCP_SERVER_URL": "run", "A_MCP_HEADERS": "{}"}, "A_MCP_HEADERS: only a server with"),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_HEADERS": '{"Authorization": s3cret}'},
            "A_MCP_HEADERS: expected a JSON object of names and values: ",
        ),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_HEADERS": '["s3cret"]'},
            "A_MCP_HEADERS: expected a JSON object of names and values, all of them strings",
        ),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_HEADERS": '{"X": {"y": "s3cret"}}'},
            "A_MCP_HEADERS: expected a JSON object of names and values, all of them strings",
        ),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_HEADERS": '{"X Y": "s3cret"}'},
            "A_MCP_HEADERS: X Y: is not a header name",
        ),
        (
            {"A_MCP_SERVER_URL": "http://h", "A_MCP_TOKEN": "s3cret s3cret"},
            "A_MCP_TOKEN: must consist of visible ASCII characters",
        ),
        (
            {
                "A_MCP_SERVER_URL": "http://h",
                "A_MCP_TOKEN": "s3cret",
                "A_MCP_HEADERS": '{"authorization": "s3cret"}',
            },
            "A_MCP_TOKEN: A_MCP_HEADERS already contains an Authorization header",
        ),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], problem: str) -> None:
    document = environment.read(variables | {"B_MCP_SERVER_URL": "http://h"})
    assert [each.name for each in document.definitions] == ["b"]
    assert document.skipped == {"a"}
    assert str(document.problems[0]).startswith(problem)
    assert "s3cret" not in str(document.problems)


def test_a_value_is_taken_as_it_is_and_not_as_a_reference() -> None:
    local = read(A_MCP_SERVER_URL="run '${HOME}'")["a"]
    assert make_launch(local, {}.get) == LocalLaunch(("run", "${HOME}"), {}, None, ())
    remote = read(A_MCP_SERVER_URL="http://h/${X}")["a"]
    assert make_launch(remote, {}.get) == RemoteLaunch("http://h/${X}", {}, Transport.SSE)
    sent = read(A_MCP_SERVER_URL="http://h", A_MCP_HEADERS='{"X": "${Y}"}', A_MCP_TOKEN="${Z}")["a"]  # noqa: S106
    headers = {"X": "${Y}", "Authorization": "Bearer ${Z}"}
    assert make_launch(sent, {}.get) == RemoteLaunch("http://h", headers, Transport.SSE)


def test_fallback_servers_are_named_with_commas_between() -> None:
    servers = read(A_MCP_SERVER_URL="run", A_MCP_FALLBACK=" b, c ", B_MCP_SERVER_URL="run")
    assert (servers["a"].fallback, servers["b"].fallback) == (["b", "c"], [])


def test_empty_variables_are_not_set() -> None:
    empty = dict.fromkeys(["A_MCP_TOKEN", "A_MCP_HEADERS", "A_MCP_FALLBACK", "A_MCP_TIMEOUT"], " ")
    assert read(A_MCP_SERVER_URL="run", **empty) == {"a": LocalConfig(command=["run"])}


def test_of_two_prefixes_that_differ_in_case_one_counts_and_the_other_is_named() -> None:
    document = environment.read({"A_MCP_SERVER_URL": "http://h", "a_MCP_SERVER_URL": "http://i"})
    assert [each.config for each in document.definitions] == [
        RemoteConfig(url="http://h", transport=Transport.SSE)
    ]
    assert [str(each) for each in document.problems] == [
        'a_MCP_SERVER_URL: ignored: a server "a" already exists'
    ]
