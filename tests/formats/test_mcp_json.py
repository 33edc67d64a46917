import json
from textwrap import dedent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcpyard.domain.desired import Document, Owner
from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.model import LocalConfig, OAuthClient, RemoteConfig, Scope, Transport
from mcpyard.formats import mcp_json

OWNER = Owner(Scope.PROJECT, ".mcp.json")


def read(text: str, *, strict: bool = False) -> Document:
    return mcp_json.read(text, OWNER, strict=strict)


def servers(**entries: object) -> str:
    return json.dumps({"mcpServers": entries}, indent=2)


def configs(text: str) -> dict[str, LocalConfig | RemoteConfig]:
    return {each.name: each.config for each in read(text).definitions}


def broken(text: str) -> str:
    with pytest.raises(DocumentBroken) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.spec("A1.1")
def test_a_stdio_server_is_read() -> None:
    args = ["-y", "@anthropic/mcp-server-filesystem", "/tmp"]  # noqa: S108
    text = servers(fs={"command": "npx", "args": args, "transport": "stdio"})
    (definition,) = read(text).definitions
    assert (definition.name, definition.warnings) == ("fs", ())
    assert definition.config == LocalConfig(command=["npx", *args])
    assert definition.config.transport == "stdio"


@pytest.mark.spec("A1.2")
def test_an_http_server_is_read() -> None:
    text = servers(api={"url": "http://localhost:3001/mcp", "transport": "http"})
    (definition,) = read(text).definitions
    assert definition.config == RemoteConfig(
        url="http://localhost:3001/mcp", transport=Transport.HTTP
    )


def test_a_bad_entry_is_skipped_with_its_position_and_the_others_load() -> None:
    text = dedent("""\
        {
          "mcpServers": {
            "bad": {"command": "npx", "args": ["-y", 80], "transport": "stdio"},
            "good": {"command": "npx", "args": [], "transport": "stdio"},
            "none": {"args": []}
          }
        }
        """)
    document = read(text)
    assert [each.name for each in document.definitions] == ["good"]
    assert document.skipped == {"bad", "none"}
    assert [str(each).split(" (")[0] for each in document.problems] == [
        ".mcp.json:3:46: mcpServers.bad.args[1]: expected a string, found the number 80",
        ".mcp.json:5:5: mcpServers.none.command: is missing, and so is url; set one of them",
    ]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("npx", "mcpServers.x: expected an object, found a string"),
        ({}, "mcpServers.x.command: is missing, and so is url"),
        ({"command": "a", "url": "http://h"}, "mcpServers.x.url: conflicts with command"),
        ({"command": ""}, "mcpServers.x.command: must not be empty"),
        ({"command": "a", "env": {"P": 1}}, "mcpServers.x.env.P: expected a string"),
        ({"command": "a", "transport": "ws"}, 'mcpServers.x.transport: "ws" is unknown'),
        ({"url": "ftp://h"}, "mcpServers.x.url: must begin with http:// or https://"),
        ({"url": "http://h", "timeout": -1}, "mcpServers.x.timeout: must be greater than 0"),
    ],
)
def test_each_kind_of_bad_entry_names_its_field(entry: object, problem: str) -> None:
    (message,) = read(servers(x=entry)).problems
    assert str(message).split(": ", 1)[1].startswith(problem)


def test_a_problem_stands_where_its_field_stands() -> None:
    text = '{"mcpServers": {"x": {"command": "a",\n  "env": {"a.b": 1}}}}'
    (problem,) = read(text).problems
    assert str(problem.place) == ".mcp.json:2:18"
    (missing,) = read('{"mcpServers": {\n "x": {"type": "stdio"}}}').problems
    assert str(missing.place) == ".mcp.json:2:2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ".mcp.json:1:1: the file is empty"),
        ("not json", ".mcp.json:1:1: "),
        ('{"mcpServers": {', ".mcp.json:1:17: "),
        ("[]", ".mcp.json:1:1: expected an object, found a list"),
        ('{"mcpServers": []}', ".mcp.json:1:16: mcpServers: expected an object, found a list"),
    ],
)
def test_a_document_that_makes_no_sense_is_broken_with_its_position(
    text: str, expected: str
) -> None:
    assert broken(text).startswith(expected)


def test_a_document_without_servers_is_empty_and_in_order() -> None:
    assert read("{}") == Document(OWNER)
    assert read('{"mcpServers": null}') == Document(OWNER)


def test_a_bom_is_no_obstacle() -> None:
    assert [*configs("\ufeff" + servers(a={"type": "stdio", "command": ["x"]}))] == ["a"]


def test_comments_and_trailing_commas_are_read_and_noted_with_their_position() -> None:
    text = '{\n  // mine\n  "mcpServers": {"a": {"type": "stdio", "command": ["x"]},}\n}'
    document = read(text)
    assert [each.name for each in document.definitions] == ["a"]
    assert [str(each.place) for each in document.warnings] == [".mcp.json:2:3", ".mcp.json:3:58"]
    assert all("strict JSON" in each.message for each in document.warnings)


def test_what_is_inferred_is_noted_with_file_and_line_and_refused_when_strict() -> None:
    text = '{"mcpServers": {\n"a": {"command": "x"}}}'
    (definition,) = read(text).definitions
    assert [str(each) for each in definition.warnings] == [
        ".mcp.json:2:1: mcpServers.a.transport: is missing; assumed to be stdio",
        ".mcp.json:2:1: mcpServers.a.args: is missing; assumed to be empty",
    ]
    strict = read(text, strict=True)
    assert strict.definitions == ()
    assert [each.field for each in strict.problems] == [
        "mcpServers.a.transport",
        "mcpServers.a.args",
    ]


def test_names_that_are_easily_confused_both_load_with_a_warning() -> None:
    entry = {"type": "stdio", "command": ["x"]}
    document = read(servers(fs=entry, FS=entry, fs2=entry))
    assert [each.name for each in document.definitions] == ["fs", "FS", "fs2"]
    (warning,) = document.warnings
    assert (warning.field, warning.message) == ("mcpServers.FS", 'is easily confused with "fs"')


def test_a_name_that_cannot_be_used_costs_only_its_entry() -> None:
    entry = {"type": "stdio", "command": ["x"]}
    document = read(servers(**{"n" * 1_000_000: entry, "": entry, "ok": entry}))
    assert [each.name for each in document.definitions] == ["ok"]
    assert [each.message for each in document.problems] == [
        "the name is 1000000 characters long; 255 are allowed",
        "the name must not be empty",
    ]
    assert all(len(each.field) < 120 for each in document.problems)


def test_a_server_is_added_in_words_that_every_reader_understands() -> None:
    local = LocalConfig(command=["npx", "-y"], environment={"A": "${A}"}, cwd="/x", timeout=5)
    text = mcp_json.put("", "fs", local)
    assert json.loads(text) == {
        "mcpServers": {
            "fs": {
                "command": "npx",
                "args": ["-y"],
                "env": {"A": "${A}"},
                "cwd": "/x",
                "transport": "stdio",
            }
        }
    }
    assert text.endswith("}\n")
    text = mcp_json.put(text, "api", RemoteConfig(url="http://h", headers={"X": "y"}))
    assert json.loads(text)["mcpServers"]["api"] == {
        "type": "http",
        "url": "http://h",
        "headers": {"X": "y"},
        "transport": "http",
    }
    bare = mcp_json.spell(RemoteConfig(url="http://h", transport=Transport.SSE))
    assert bare == {"type": "sse", "url": "http://h", "transport": "sse"}


def test_an_edit_keeps_spelling_comments_and_unknown_fields() -> None:
    before = dedent("""\
        {
          "mcpServers": {
            "a": {
              "type": "local", // as OpenCode has it
              "command": ["x", "1"],
              "environment": {"A": "1"},
              "note": "mine"
            }
          }
        }
        """)
    after = mcp_json.put(
        before, "a", LocalConfig(command=["x", "2"], environment={"A": "1"}, cwd="/d")
    )
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert changed == ['      "command": ["x", "2"],', '      "note": "mine",', '      "cwd": "/d"']
    assert configs(after)["a"] == LocalConfig(command=["x", "2"], environment={"A": "1"}, cwd="/d")
    assert (
        mcp_json.put(before, "a", LocalConfig(command=["x", "1"], environment={"A": "1"})) == before
    )


@pytest.mark.parametrize(
    ("raw", "config", "expected"),
    [
        ({"command": "a"}, LocalConfig(command=["b"]), {"command": "b"}),
        ({"command": "a"}, LocalConfig(command=["a", "c"]), {"command": "a", "args": ["c"]}),
        (
            {"command": "a", "args": [], "env": {"A": "1"}, "x": 1},
            LocalConfig(command=["a"]),
            {"command": "a", "args": [], "x": 1},
        ),
        (
            {"command": "a", "args": []},
            LocalConfig(command=["a"], environment={"B": "2"}),
            {"command": "a", "args": [], "env": {"B": "2"}},
        ),
        (
            {"type": "stdio", "command": "a", "args": [], "x": 1},
            RemoteConfig(url="http://h"),
            {"x": 1, "type": "http", "url": "http://h", "transport": "http"},
        ),
        (
            {"url": "http://h", "type": "http", "transport": "http"},
            RemoteConfig(url="http://g", transport=Transport.SSE, headers={"A": "b"}),
            {"url": "http://g", "type": "sse", "headers": {"A": "b"}},
        ),
        (
            {"url": "http://h", "type": "http"},
            RemoteConfig(url="http://h"),
            {"url": "http://h", "type": "remote"},
        ),
        (
            {"url": "http://h", "type": "http"},
            RemoteConfig(url="http://g", transport=Transport.HTTP),
            {"url": "http://g", "type": "http"},
        ),
        (
            {"url": "http://h", "type": "http", "oauth": {"clientId": "a", "callbackPort": 1}},
            RemoteConfig(
                url="http://h", transport=Transport.HTTP, oauth=OAuthClient(client_id="b")
            ),
            {"url": "http://h", "type": "http", "oauth": {"callbackPort": 1, "clientId": "b"}},
        ),
        (
            {"url": "http://h", "type": "http", "oauth": {"client_id": "a", "scopes": "x"}},
            RemoteConfig(
                url="http://g", transport=Transport.HTTP, oauth=OAuthClient(client_id="a")
            ),
            {"url": "http://g", "type": "http", "oauth": {"client_id": "a", "scopes": "x"}},
        ),
        (
            {"url": "http://h", "type": "http", "oauth": {"clientId": "a"}},
            RemoteConfig(url="http://h", transport=Transport.HTTP),
            {"url": "http://h", "type": "http"},
        ),
        (
            {"command": "a", "args": []},
            RemoteConfig(url="http://h", oauth=OAuthClient(client_id="a")),
            {"type": "http", "url": "http://h", "oauth": {"clientId": "a"}, "transport": "http"},
        ),
        ({"nonsense": 1}, LocalConfig(command=["a"]), mcp_json.spell(LocalConfig(command=["a"]))),
    ],
)
def test_an_entry_is_respelled_in_its_own_words(
    raw: dict[str, object], config: LocalConfig | RemoteConfig, expected: object
) -> None:
    assert mcp_json.respell(raw, config) == expected


def test_an_entry_that_is_no_object_is_replaced_whole() -> None:
    after = mcp_json.put('{"mcpServers": {"a": "?"}}', "a", LocalConfig(command=["x"]))
    assert configs(after) == {"a": LocalConfig(command=["x"])}


def test_a_server_is_renamed_in_place_and_removed_without_a_trace() -> None:
    before = '{\n  "mcpServers": {\n    "b": {"url": "http://h", "type": "http"}\n  }\n}\n'
    added = mcp_json.put(before, "a", LocalConfig(command=["x"]))
    assert mcp_json.remove(added, "a") == before
    assert mcp_json.rename(before, "b", "c") == before.replace('"b"', '"c"')


names = st.text(min_size=1, max_size=20).filter(
    lambda name: name.strip() == name and name.isprintable()
)


@given(names, st.lists(st.text(), max_size=3), st.dictionaries(names, st.text(), max_size=2))
def test_what_is_written_reads_back_as_it_was_meant(
    name: str, args: list[str], env: dict[str, str]
) -> None:
    raw = {"type": "local", "command": ["x", *args], "environment": env}
    before = configs(json.dumps({"mcpServers": {name: raw}}))
    # Some texts, such as those with a zero byte, are refused.
    assume(before)
    assert configs(mcp_json.put("", name, before[name])) == before


@pytest.mark.parametrize("name", ["x[arg]", "[rg]", "args[rg", "args[1]", "a.b[", "[", "args[9]x"])
def test_a_member_that_is_called_like_a_way_into_another_is_found_where_it_is(name: str) -> None:
    document = read(f'{{"mcpServers": {{"x": {{"command": "a",\n  "{name}": 1}}}}}}')
    (definition,) = document.definitions
    (warning,) = [each for each in definition.warnings if each.field == f"mcpServers.x.{name}"]
    assert warning.place
    assert warning.place.line == 2
