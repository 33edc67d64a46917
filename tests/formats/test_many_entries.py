"""Files with many entries: what they cost grows with their number, not with its square."""

import json
from collections.abc import Callable

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import EditRefused
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.formats import mcp_json
from mcpyard.formats.clients import codex
from mcpyard.formats.editors import jsonc, toml
from mcpyard.formats.entry_list import read
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.mcp_json import McpJsonReader
from tests.steps import steps

OWNER = Owner(Scope.PROJECT, "p/.mcp.json")
FEW, MANY = 40, 160
NO_SQUARE = 1.2
"""What four times as many may cost beyond four times as much."""


def names(count: int) -> list[str]:
    return [f"s{number}" for number in range(count)]


def mcp_text(count: int) -> str:
    entry = {"command": "run", "args": ["x"], "env": {"A": "b"}}
    return json.dumps({"mcpServers": dict.fromkeys(names(count), entry)}, indent=2)


def toml_text(count: int) -> str:
    return "\n".join(f'[mcp_servers.{name}]\ncommand = "run"\ntimeout = 1' for name in names(count))


def add(count: int) -> str:
    config = LocalConfig(command=["run"])
    return mcp_json.add(mcp_text(count), {f"new {name}": config for name in names(count)})


def codex_entries(count: int) -> object:
    ref = ClientScopeRef(codex.CLIENT, codex.CLIENT.scopes[0])
    listing = read(ref, toml_text(count))
    return [listing.server(name) for name in names(count)]


@pytest.mark.parametrize(
    "work",
    [
        lambda count: mcp_json.read(mcp_text(count), OWNER),
        add,
        lambda count: mcp_json.remove(mcp_text(count), *names(count)),
        codex_entries,
    ],
    ids=["read", "add", "remove", "codex"],
)
def test_four_times_as_many_entries_are_four_times_the_work(work: Callable[[int], object]) -> None:
    assert steps(lambda: work(MANY)) < steps(lambda: work(FEW)) * (MANY / FEW) * NO_SQUARE


def test_places_are_those_of_the_last_member_of_a_name_and_of_elements() -> None:
    parsed = jsonc.parse('{"a": [1,\n 2], "b": 1,\n "b": 2}')
    assert parsed.place(("a", 1)).line == 2
    assert (parsed.key_place(("b",)).line, parsed.key_place(("b",)).column) == (3, 2)


def test_places_of_toml_are_those_of_headers_dotted_keys_and_inline_values() -> None:
    parsed = toml.parse("a.b = 1\nc = { d = 2 }\n[t.u]\nv = 3\n[t]\nw = 4\n")
    places = {path: parsed.place(path).line for path in [(), ("a",), ("a", "b"), ("c", "d")]}
    assert places == {(): 1, ("a",): 1, ("a", "b"): 1, ("c", "d"): 2}
    assert [parsed.place(("t",)).line, parsed.place(("t", "u")).line] == [5, 3]


def test_entries_that_stay_as_they_were_keep_their_definitions() -> None:
    reader = McpJsonReader(OWNER)
    servers: dict[str, object] = {
        "plain": {"command": "run", "args": [], "transport": "stdio"},
        "odd": {"command": "run", "vendor": 1},
        "other": {"command": "run", "args": [], "transport": "stdio", "timeout": 5000},
    }
    before = {each.name: each for each in reader.read(_spelled(servers)).definitions}
    servers["other"] = {**before["other"].config.model_dump(include={"timeout"}), "url": "http://h"}
    after = {each.name: each for each in reader.read(_spelled(servers)).definitions}
    assert after["plain"] is before["plain"]
    assert after["odd"] == before["odd"]
    assert after["odd"].config is before["odd"].config
    assert after["other"].config != before["other"].config
    moved = {each.name: each for each in reader.read("\n" + _spelled(servers)).definitions}
    assert moved["plain"].config is before["plain"].config
    assert moved["plain"].place != before["plain"].place
    assert [each.place for each in moved["odd"].warnings] != [
        each.place for each in before["odd"].warnings
    ]


def test_a_number_that_turns_into_a_truth_value_is_read_anew() -> None:
    reader = McpJsonReader(OWNER)
    good = reader.read('{"mcpServers": {"a": {"command": "run", "args": [], "concurrency": 1}}}')
    bad = reader.read('{"mcpServers": {"a": {"command": "run", "args": [], "concurrency": true}}}')
    assert [each.name for each in good.definitions] == ["a"]
    assert (bad.definitions, bad.skipped) == ((), {"a"})


def test_members_are_added_to_an_object_only_and_none_that_it_has() -> None:
    assert jsonc.add_members('{"a": {}}', ("a",), {}) == '{"a": {}}'
    assert (
        jsonc.add_members("{}", ("a",), {"b": 1, "c": 2})
        == '{\n  "a": {\n    "b": 1,\n    "c": 2\n  }\n}'
    )
    assert jsonc.add_members('{"a": null}', ("a",), {"b": 1}) == '{"a": {"b": 1}}'
    with pytest.raises(EditRefused, match=r"^a: is not an object$"):
        jsonc.add_members('{"a": []}', ("a",), {"b": 1})
    with pytest.raises(EditRefused, match=r"^a\.b: already exists$"):
        jsonc.add_members('{"a": {"b": 1}}', ("a",), {"c": 1, "b": 1})


def test_members_are_removed_only_if_all_of_them_are_there() -> None:
    assert jsonc.remove_members('{"a": 1}', (), []) == '{"a": 1}'
    assert jsonc.remove_members('{"a": 1, "b": 2, "c": 3}', (), ["c", "a"]) == '{"b": 2}'
    with pytest.raises(EditRefused, match=r"^b: there is no such member$"):
        jsonc.remove_members('{"a": 1}', (), ["a", "b"])


def _spelled(servers: dict[str, object]) -> str:
    return json.dumps({"mcpServers": servers}, indent=2)


def test_one_more_entry_costs_no_look_at_each_that_is_there() -> None:
    def one_more(count: int) -> int:
        reader, text = McpJsonReader(OWNER), mcp_text(count)
        reader.read(text)

        def work() -> None:
            reader.read(mcp_json.add(text, {"new": LocalConfig(command=["run"])}, reader.parsed))

        return steps(work)

    assert one_more(MANY) - one_more(FEW) < MANY - FEW
