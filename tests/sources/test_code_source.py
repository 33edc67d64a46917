import pytest

from mcpyard.domain.errors import DefinitionError, NameRefused, NameTaken, ServerUnknown
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.sources.code import CodeSource
from mcpyard.sources.environment import EnvironmentSource


async def test_every_change_wakes_whoever_listens() -> None:
    source = CodeSource({"a": {"type": "local", "command": ["x"]}})
    woken: list[int] = []
    source.add("before", LocalConfig(command=["x"]))
    await source.open(lambda: woken.append(1))
    source.add("b", LocalConfig(command=["y"]))
    source.remove("a")
    assert [each.name for each in source.document().definitions] == ["before", "b"]
    await source.close()
    source.remove("b")
    assert len(woken) == 2
    assert source.owner.scope is Scope.CODE


def test_wrong_input_changes_nothing() -> None:
    source = CodeSource({"a": {"type": "local", "command": ["x"]}})
    with pytest.raises(NameTaken):
        source.add("a", LocalConfig(command=["y"]))
    with pytest.raises(NameRefused):
        source.add("", LocalConfig(command=["y"]))
    with pytest.raises(DefinitionError, match=r"^b\.command: is missing") as caught:
        source.add("b", {"type": "local"})
    assert [each.field for each in caught.value.problems] == ["b.command"]
    with pytest.raises(ServerUnknown):
        source.remove("nobody")
    assert [each.name for each in source.document().definitions] == ["a"]


async def test_the_environment_is_read_once() -> None:
    variables = {"LEGAL_MCP_SERVER_URL": "http://h/sse"}
    source = EnvironmentSource(variables)
    await source.open(lambda: None)
    variables.clear()
    assert [each.name for each in source.document().definitions] == ["legal"]
    assert source.owner.scope is Scope.ENV
    await source.close()
