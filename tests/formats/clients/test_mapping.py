import subprocess

import pytest

from mcpyard.domain.errors import DefinitionError
from mcpyard.formats.copying.mapping import Converted, convert, restore
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.fields import Field
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.warnings import Warned, WarningKind, shape_of_value

URL = "https://example.com/mcp"
PRIVATE = "s3cr3t-value"


def copy(entry: Entry, source: str, target: str, matrix: Matrix = Matrix.NATIVE) -> Converted:
    return convert(entry, scope_ref_of(source), scope_ref_of(target), matrix)


def warnings(converted: Converted) -> list[tuple[str, str]]:
    return [(each.kind.value, each.field) for each in converted.warnings]


def test_a_warning_gives_the_shape_of_a_value_and_nothing_of_it() -> None:
    entry = Entry(
        command=PRIVATE,
        args=(PRIVATE,),
        env={"K": f"{PRIVATE}${{V}}"},
        cwd=PRIVATE,
        unknown={"a": PRIVATE, "b": [PRIVATE], "c": {"d": PRIVATE}, "e": 5},
    )
    for target in ("codex", "gemini", "opencode", "cursor", "claude-desktop", "zed"):
        for matrix in Matrix:
            for warning in copy(entry, "claude", target, matrix).warnings:
                assert PRIVATE not in repr(warning)
                assert PRIVATE not in warning.message
    assert shape_of_value({"a": PRIVATE}) == "an object of 1"
    assert shape_of_value((PRIVATE, PRIVATE)) == "a list of 2"
    assert shape_of_value(PRIVATE) == "a string"
    assert shape_of_value(False) == "false"


def test_references_of_a_local_server_become_names_of_variables_in_codex() -> None:
    entry = Entry(command="a", env={"A": "${A}", "B": "${C}", "D": "d"})
    converted = copy(entry, "claude", "codex")
    assert converted.entry == Entry(command="a", env={"B": "${C}", "D": "d"}, env_vars=("A",))
    assert warnings(converted) == [("translated", "env.A"), ("approximated", "env.B")]


def test_nothing_is_left_of_env_when_every_variable_is_named() -> None:
    converted = copy(Entry(command="a", env={"A": "{env:A}"}), "opencode", "codex")
    assert converted.entry == Entry(command="a", env_vars=("A",))
    assert warnings(converted) == [("translated", "environment.A")]


def test_references_in_headers_become_names_of_variables_in_codex() -> None:
    headers = {"authorization": "Bearer ${A}", "X-Key": "${B}", "X-Mode": "fast", "X-C": "c${C}"}
    converted = copy(Entry(url=URL, headers=headers), "claude", "codex")
    assert converted.entry == Entry(
        url=URL,
        bearer="A",
        env_headers={"X-Key": "B"},
        headers={"X-Mode": "fast", "X-C": "c${C}"},
    )
    assert (
        warnings(converted)
        == [
            ("translated", "headers.authorization"),
            ("translated", "headers.X-Key"),
            ("approximated", "headers.X-C"),
            ("info", "url"),
        ][:3]
    )


def test_a_token_that_is_written_out_stays_a_header() -> None:
    entry = Entry(url=URL, headers={"Authorization": f"Bearer {PRIVATE}"})
    assert copy(entry, "claude", "codex").entry.headers == entry.headers


@pytest.mark.parametrize("target", ["kimi", "vibe"])
def test_a_token_in_a_variable_is_named_where_references_are_not_known(target: str) -> None:
    headers = {"Authorization": "Bearer ${T}", "X-Key": "${K}"}
    converted = copy(Entry(url=URL, headers=headers), "claude", target)
    assert (converted.entry.bearer, converted.entry.headers) == ("T", {"X-Key": "${K}"})
    field = scope_ref_of(target).shape.field_names[Field.BEARER]
    assert converted.warnings[0].message == f"read from a variable: named in {field}"
    assert ("approximated", "headers.X-Key") in warnings(converted)


def test_names_of_variables_in_codex_become_references() -> None:
    local = Entry(command="a", env={"A": "x"}, env_vars=("A", "B"))
    converted = copy(local, "codex", "opencode")
    assert converted.entry == Entry(command="a", env={"A": "x", "B": "{env:B}"})
    assert warnings(converted) == [("translated", "env_vars")]
    remote = Entry(url=URL, env_headers={"X-Key": "K"}, bearer="T", headers={"X-Mode": "fast"})
    converted = copy(remote, "codex", "cursor")
    assert converted.entry.headers == {
        "X-Mode": "fast",
        "X-Key": "${env:K}",
        "Authorization": "Bearer ${env:T}",
    }
    assert warnings(converted) == [
        ("translated", "env_http_headers"),
        ("translated", "bearer_token_env_var"),
    ]


def test_a_header_that_stands_there_wins_over_the_name_of_a_variable() -> None:
    entry = Entry(url=URL, bearer="T", headers={"authorization": "Basic x"})
    converted = copy(entry, "codex", "claude")
    assert converted.entry.headers == entry.headers
    assert ("unsupported", "bearer_token_env_var") in warnings(converted)
    assert converted.left == {"bearer_token_env_var": "T"}


def test_names_of_variables_go_where_references_are_not_known() -> None:
    entry = Entry(command="a", env_vars=("A",))
    assert warnings(copy(entry, "codex", "zed")) == [("unsupported", "env_vars")]
    converted = copy(entry, "codex", "yard")
    assert (converted.entry, warnings(converted)) == (entry, [])


def test_codex_and_the_yard_both_name_variables() -> None:
    entry = Entry(command="a", env={"B": "${B}"}, env_vars=("A",))
    assert copy(entry, "yard", "codex").entry == Entry(command="a", env_vars=("A", "B"))


@pytest.mark.parametrize(
    ("way", "target", "expected", "kinds"),
    [
        (EntryTransport.SSE, "opencode", EntryTransport.SSE, [("approximated", "type")]),
        (EntryTransport.SSE, "codex", None, [("unsupported", "type")]),
        (EntryTransport.SSE, "kiro", None, [("approximated", "type")]),
        (EntryTransport.SSE, "qwen", EntryTransport.SSE, []),
        (EntryTransport.SSE, "cline", EntryTransport.SSE, []),
        (EntryTransport.HTTP, "kiro", None, []),
        (EntryTransport.HTTP, "codex", None, []),
        (EntryTransport.WS, "cursor", None, [("unusable", "type")]),
        (EntryTransport.WS, "codex", None, [("unusable", "type")]),
    ],
)
def test_the_way_is_said_as_well_as_the_target_can(
    way: EntryTransport, target: str, expected: EntryTransport | None, kinds: list[tuple[str, str]]
) -> None:
    converted = copy(Entry(url=URL, type=way), "claude", target)
    assert converted.entry.type is expected
    assert warnings(converted) == kinds


def test_times_change_their_unit_and_are_rounded_up_where_they_must() -> None:
    converted = copy(Entry(command="a", call_timeout=1500), "claude", "cline")
    assert converted.entry.call_timeout == 2000
    assert warnings(converted) == [("approximated", "timeout")]
    exact = copy(Entry(command="a", call_timeout=2000), "claude", "cline")
    assert (exact.entry.call_timeout, warnings(exact)) == (2000, [])
    codex = copy(Entry(command="a", start_timeout=0.5, call_timeout=7), "yard", "codex")
    assert (codex.entry.start_timeout, codex.entry.call_timeout) == (0.5, 7)


def test_a_time_is_told_in_the_unit_that_it_is_written_in() -> None:
    copied = copy(Entry(command="run", start_timeout=20_000), "codex", "opencode")
    (warning,) = copied.warnings
    assert (warning.field, warning.shape) == ("startup_timeout_sec", "the number 20")


def test_off_is_relocated_to_where_the_program_keeps_it() -> None:
    source, target = scope_ref_of("codex", "/p"), scope_ref_of("claude", "/p")
    converted = convert(Entry(command="a", enabled=False), source, target)
    assert converted.entry.enabled is False
    [warning] = converted.warnings
    assert warning.kind is WarningKind.RELOCATED
    assert warning.message == ("stored in projects./p.disabledMcpServers of ~/.claude.json")


def test_off_is_lost_where_no_file_says_it() -> None:
    converted = copy(Entry(command="a", enabled=False), "codex", "cursor")
    assert converted.entry == Entry(command="a")
    assert warnings(converted) == [("unsupported", "enabled")]


def test_on_is_what_a_server_is_anyway() -> None:
    assert warnings(copy(Entry(command="a", enabled=True), "codex", "gemini")) == [
        ("info", "enabled")
    ]
    literal = copy(Entry(command="a", enabled=True), "codex", "gemini", Matrix.SPEC)
    assert warnings(literal) == [("unsupported", "enabled")]


def test_a_list_of_every_tool_is_no_list() -> None:
    converted = copy(Entry(command="a", only_tools=("*",)), "copilot", "codex")
    assert converted.entry == Entry(command="a")
    assert warnings(converted) == [("info", "tools")]


def test_what_says_nothing_is_left_out_without_alarm() -> None:
    converted = copy(Entry(url=URL, type=EntryTransport.HTTP, args=()), "claude", "codex")
    assert converted.entry == Entry(url=URL)
    assert ("info", "args") in warnings(converted)


def test_codex_is_not_given_what_it_refuses() -> None:
    remote = copy(Entry(url=URL, env={"A": "b"}), "gemini", "codex")
    assert remote.entry == Entry(url=URL)
    assert ("unsupported", "env") in warnings(remote)
    local = copy(Entry(command="a", headers={"A": "b"}), "gemini", "codex")
    assert local.entry == Entry(command="a")
    assert ("unsupported", "headers") in warnings(local)


def test_an_entry_with_nothing_to_start_is_refused_where_it_would_break_all() -> None:
    with pytest.raises(DefinitionError, match="Codex would then load no servers"):
        copy(Entry(enabled=False), "opencode", "codex")
    assert warnings(copy(Entry(enabled=False), "codex", "kiro")) == [("unusable", "")]


def test_a_project_that_must_be_trusted_is_told() -> None:
    trust = copy(Entry(command="a"), "claude", "codex:project").warnings
    assert [each.kind for each in trust] == [WarningKind.NEEDS_TRUST]
    same = copy(Entry(command="a"), "codex", "codex:project")
    assert (same.entry, same.warnings) == (Entry(command="a"), trust)


def test_a_copy_within_one_program_keeps_what_only_it_knows() -> None:
    entry = Entry(command="a", only_tools=("*",), unknown={"x": 1})
    for matrix in Matrix:
        converted = copy(entry, "copilot", "copilot", matrix)
        assert (converted.entry, converted.warnings) == (entry, ())


def test_a_copy_from_one_shape_to_another_tells_what_is_lost() -> None:
    entry = '{"type": "local", "command": ["a"], "timeout": {"startup": 5}}'
    text = f'{{"mcp": {{"servers": {{"x": {entry}}}}}}}'
    listing = read(scope_ref_of("opencode"), text)
    converted = convert(listing.entry("x"), listing.ref, scope_ref_of("opencode"))
    assert warnings(converted) == [("unsupported", "timeout.startup")]
    assert converted.left == {"timeout.startup": 5}
    assert restore(converted.entry, converted.left, listing.ref) == listing.entry("x")


def test_what_was_left_out_does_not_come_back_when_it_no_longer_fits() -> None:
    entry = Entry(command="a")
    assert restore(entry, {"type": "sse"}, scope_ref_of("claude")) == entry
    assert restore(entry, {"alwaysLoad": True}, scope_ref_of("claude")) == Entry(
        command="a", unknown={"alwaysLoad": True}
    )


def test_what_a_command_holds_is_named_by_its_place_in_the_list() -> None:
    entry = Entry(type=EntryTransport.STDIO, command="{env:A}", args=("b", "{env:C}"))
    converted = copy(entry, "opencode", "cursor")
    assert warnings(converted) == [("translated", "command[0]"), ("translated", "command[2]")]


def test_a_warning_reads_as_a_sentence() -> None:
    assert Warned(WarningKind.INFO, "x", "a string", "is fine").message == "is fine"
    assert Warned(WarningKind.INFO, "", "", "is fine").message == "is fine"


def test_a_reference_is_told_where_a_client_expands_others_only() -> None:
    entry = Entry(command="a", args=("${A}",), env={"B": "${B}"})
    assert warnings(copy(entry, "claude", "droid")) == [("approximated", "args[0]")]
    assert warnings(copy(entry, "claude", "mastracode")) == [("approximated", "args[0]")]
    remote = Entry(url=f"{URL}/${{A}}", headers={"X-B": "${B}"}, type=EntryTransport.HTTP)
    assert warnings(copy(remote, "claude", "droid")) == [("approximated", "url")]
    assert warnings(copy(remote, "claude", "mastracode")) == []
    literal = copy(Entry(command="a", args=("${A}",)), "droid", "auggie")
    assert literal.entry.args == ("'\\${A}'",)


@pytest.mark.parametrize("text", ["a b", "it's", "$A", "a;b", "*", "", 'a"b', "~/x", "a\nb"])
def test_an_argument_reaches_a_server_whose_client_has_a_shell_run_it(text: str) -> None:
    entry = Entry(command="/a dir/run", args=(text, "-y", "@acme/files"))
    there = copy(entry, "codex", "auggie")
    assert there.entry.args
    line = " ".join((there.entry.command or "", *there.entry.args))
    passed_on = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
    )
    assert passed_on.stdout.decode().split("\0")[:-1] == ["/a dir/run", text, "-y", "@acme/files"]
    assert warnings(there) == [("translated", "command"), ("translated", "args[0]")]
    back = copy(there.entry, "auggie", "codex")
    assert (back.entry, warnings(back)) == (entry, [])
    assert copy(there.entry, "auggie", "auggie:project").entry == there.entry


def test_what_a_shell_makes_more_than_one_word_of_stays_as_it_is() -> None:
    entry = Entry(command="a", args=("b c", "it's"))
    assert copy(entry, "auggie", "codex").entry == entry
