import pytest

from mcpyard.domain.definition.fallbacks import backup_problems, names_backups
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, DesireInputs, Document, Owner, desire
from mcpyard.domain.model import FallbackTool, LocalConfig, Scope, ToolPolicy
from mcpyard.testing import VolatileMemory

OWNER = Owner(Scope.CODE)


def server(*backup: str, **tools: ToolPolicy) -> LocalConfig:
    return LocalConfig(command=["x"], backup=[*backup], tools=tools)


def told(name: str, **configs: LocalConfig) -> list[str]:
    return [str(each) for each in backup_problems(name, configs)]


def test_back_ups_that_are_there_are_fine() -> None:
    assert told("a", a=server("b", "c"), b=server("c"), c=server()) == []


def test_a_back_up_that_is_missing_is_named_with_its_field() -> None:
    tools = {"t": ToolPolicy(backup=[FallbackTool(server="b"), FallbackTool(server="gone")])}
    assert told("a", a=server("b", "nobody", **tools), b=server()) == [
        'backup[1]: there is no server "nobody"',
        'tools.t.backup[1]: there is no server "gone"',
    ]


def test_a_server_that_is_its_own_back_up_is_told() -> None:
    assert told("a", a=server("a")) == ["backup[0]: is the server itself; ignored"]


def test_a_cycle_is_told_with_its_way() -> None:
    configs = {"a": server("b"), "b": server("c", "x"), "c": server("b", "a")}
    assert told("a", **configs) == [
        "backup[0]: leads back to the server itself (a -> b -> c -> a); each server is tried once"
    ]


def test_a_cycle_among_others_is_not_this_servers() -> None:
    assert told("a", a=server("b"), b=server("c"), c=server("b")) == []


@pytest.mark.parametrize(
    ("config", "has"),
    [
        (server(), False),
        (server("b"), True),
        (server(t=ToolPolicy()), False),
        (server(t=ToolPolicy(backup=[])), False),
        (server(t=ToolPolicy(backup=[FallbackTool(server="b")])), True),
    ],
)
def test_a_server_has_back_ups_when_it_or_a_tool_names_one(
    config: LocalConfig, *, has: bool
) -> None:
    assert names_backups(config) is has


def test_what_is_wrong_with_back_ups_stands_on_the_servers_record() -> None:
    memory = VolatileMemory()
    definitions = Definition("a", server("b")), Definition("b", server())
    document = Document(OWNER, (*definitions, Definition("c", server("nobody"))))
    known = {(OWNER, name): memory.identity(OWNER, name) for name in ("a", "b", "c")}
    found = desire([document], DesireInputs(known, {}.get)).servers.values()
    assert [[str(note) for note in each.warnings] for each in found] == [
        [],
        [],
        ['backup[0]: there is no server "nobody"'],
    ]


def test_a_tools_back_up_is_a_name_or_a_name_with_what_differs() -> None:
    backup = ["b", {"server": "c", "tool": "find", "arguments": {"query": "q", "shelf": None}}]
    raw = {"type": "local", "command": ["x"], "tools": {"t": {"backup": backup}}}
    assert read_definition(raw).config.tools["t"].backup == [
        FallbackTool(server="b"),
        FallbackTool(server="c", tool="find", arguments={"query": "q", "shelf": None}),
    ]
