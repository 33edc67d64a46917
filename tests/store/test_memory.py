from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import KnownConnection
from mcpyard.store.memory import VolatileMemory, VolatilePolicies

PROJECT = Owner(Scope.PROJECT, "a/.mcp.json")
USER = Owner(Scope.USER)


async def test_an_identity_is_made_once_and_belongs_to_owner_and_name() -> None:
    memory = VolatileMemory()
    one = memory.identity(PROJECT, "fs")
    assert memory.identity(PROJECT, "fs") == one
    assert len({one, memory.identity(USER, "fs"), memory.identity(PROJECT, "x")}) == 3
    assert await memory.rename(PROJECT, "fs", "files") == one
    assert memory.identity(PROJECT, "files") == one
    assert memory.identity(PROJECT, "fs") != one
    await memory.close()


async def test_names_tools_and_ways_are_kept() -> None:
    memory = VolatileMemory()
    server = memory.identity(PROJECT, "fs")
    assert (memory.tools(server), memory.reached("d")) == ((), None)
    memory.keep_names({(server, "t"): "mcp_fs_t"})
    memory.keep_tools(server, [{"name": "t"}])
    memory.keep_reached("d", KnownConnection(Era.MODERN, Transport.SSE))
    assert memory.exposed_names() == {(server, "t"): "mcp_fs_t"}
    assert memory.tools(server) == [{"name": "t"}]
    assert memory.reached("d") == KnownConnection(Era.MODERN, Transport.SSE)
    memory.keep_reached("d", None)
    memory.keep_reached("never", None)
    assert memory.reached("d") is None


async def test_policies_are_set_and_changed() -> None:
    policies, server = VolatilePolicies(), VolatileMemory().identity(USER, "fs")
    await policies.set(server, {"timeout": 5})
    assert await policies.change(server, lambda old: {**old, "enabled": False}) == {
        "timeout": 5,
        "enabled": False,
    }
    await policies.set(server, {})
    assert policies.all() == {}
