import pytest

from mcpyard.domain.definition.fallbacks import fallback_problems, names_fallbacks
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, DesireInputs, Document, Owner
from mcpyard.domain.desiring import desire
from mcpyard.domain.model import FallbackTool, LocalConfig, Scope, ToolPolicy
from mcpyard.testing import VolatileMemory

OWNER = Owner(Scope.CODE)


def server(*fallback: str, **tools: ToolPolicy) -> LocalConfig:
    return LocalConfig(command=["x"], fallback=[*fallback], tools=tools)


def problems(name: str, **configs: LocalConfig) -> list[str]:
    return [str(each) for each in fallback_problems(name, configs)]


def test_fallbacks_that_are_there_are_fine() -> None:
    assert problems("a", a=server("b", "c"), b=server("c"), c=server()) == []


def test_a_fallback_that_is_missing_is_named_with_its_field() -> None:
    tools = {"t": ToolPolicy(fallback=[FallbackTool(server="b"), FallbackTool(server="gone")])}
    assert problems("a", a=server("b", "nobody", **tools), b=server()) == [
        'fallback[1]: there is no server "nobody"',
        'tools.t.fallback[1]: there is no server "gone"',
    ]


def test_a_server_that_is_its_own_fallback_is_told() -> None:
    assert problems("a", a=server("a")) == ["fallback[0]: is the server itself; ignored"]


def test_a_cycle_is_told_with_its_way() -> None:
    configs = {"a": server("b"), "b": server("c", "x"), "c": server("b", "a")}
    assert problems("a", **configs) == [
        (
            "fallback[0]: points back to the server itself (a -> b -> c -> a); "
            "each server is tried once"
        )
    ]


def test_a_cycle_among_others_is_not_this_servers() -> None:
    assert problems("a", a=server("b"), b=server("c"), c=server("b")) == []


@pytest.mark.parametrize(
    ("config", "has"),
    [
        (server(), False),
        (server("b"), True),
        (server(t=ToolPolicy()), False),
        (server(t=ToolPolicy(fallback=[])), False),
        (server(t=ToolPolicy(fallback=[FallbackTool(server="b")])), True),
    ],
)
def test_a_server_has_fallbacks_when_it_or_a_tool_names_one(
    config: LocalConfig, *, has: bool
) -> None:
    assert names_fallbacks(config) is has


def test_what_is_wrong_with_fallbacks_stands_on_the_servers_record() -> None:
    memory = VolatileMemory()
    definitions = Definition("a", server("b")), Definition("b", server())
    document = Document(OWNER, (*definitions, Definition("c", server("nobody"))))
    identities = {(OWNER, name): memory.identity(OWNER, name) for name in ("a", "b", "c")}
    servers = desire([document], DesireInputs(identities, {}.get)).servers.values()
    assert [[str(note) for note in each.warnings] for each in servers] == [
        [],
        [],
        ['fallback[0]: there is no server "nobody"'],
    ]


def test_a_tools_fallback_is_a_name_or_a_name_with_what_differs() -> None:
    fallback = ["b", {"server": "c", "tool": "find", "arguments": {"query": "q", "shelf": None}}]
    raw = {"type": "local", "command": ["x"], "tools": {"t": {"fallback": fallback}}}
    assert read_definition(raw).config.tools["t"].fallback == [
        FallbackTool(server="b"),
        FallbackTool(server="c", tool="find", arguments={"query": "q", "shelf": None}),
    ]
