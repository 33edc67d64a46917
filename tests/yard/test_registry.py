from uuid import UUID

import pytest

import mcpyard
from mcpyard import Info, LocalConfig, McpServer, Registry, RemoteConfig
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.errors import (
    DefinitionError,
    InputError,
    ManagedByYard,
    NameRefused,
    NameTaken,
    ServerUnknown,
)
from mcpyard.domain.model import Config, Scope, Wanted
from mcpyard.domain.status import Status


@pytest.fixture
def registry() -> Registry:
    fresh = Registry()
    fresh.register("memory", {"type": "local", "command": ["npx", "mcp-memory"]})
    return fresh


def info(registry: Registry, name: str = "memory") -> Info:
    server = registry.get(name)
    assert server is not None
    return server


@pytest.mark.spec("B1")
def test_a_registered_local_server_is_disconnected(registry: Registry) -> None:
    assert info(registry) == Info("memory", LocalConfig(command=["npx", "mcp-memory"]))
    assert info(registry).status == "disconnected"


@pytest.mark.spec("B2")
def test_a_registered_remote_server_is_disconnected(registry: Registry) -> None:
    registry.register("api", {"type": "remote", "url": "https://example.com/mcp"})
    assert info(registry, "api").config == RemoteConfig(url="https://example.com/mcp")
    assert info(registry, "api").status == "disconnected"


@pytest.mark.spec("B3")
def test_a_status_can_be_updated(registry: Registry) -> None:
    registry.update_status("memory", "connected")
    assert info(registry).status is Status.CONNECTED


@pytest.mark.spec("B4")
def test_an_error_keeps_its_text_until_the_status_changes(registry: Registry) -> None:
    registry.update_status("memory", "error", "连接超时")
    assert (info(registry).status, info(registry).error) == ("error", "连接超时")
    registry.update_status("memory", "connecting")
    assert info(registry).error is None


@pytest.mark.spec("B5")
def test_servers_are_listed_removed_and_reset(registry: Registry) -> None:
    registry.register("api", RemoteConfig(url="http://h"))
    assert [each.name for each in registry.list()] == ["memory", "api"]
    registry.remove("memory")
    assert registry.get("memory") is None
    assert [each.name for each in registry.list()] == ["api"]
    registry.reset()
    assert registry.list() == []


@pytest.mark.spec("B6")
def test_local_and_remote_are_a_union_with_defaults() -> None:
    local = LocalConfig(command=["a"])
    remote = RemoteConfig(url="http://h")
    assert (local.type, local.enabled, local.timeout) == ("local", True, 30000)
    assert (remote.type, remote.enabled, remote.timeout) == ("remote", True, 30000)
    assert Info("a", local).tool_count == 0
    assert Info("a", local).error is None


@pytest.mark.spec("B6")
@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"type": "local"}, "command"),
        ({"type": "local", "command": []}, "command"),
        ({"type": "local", "command": ["a"], "timeout": -5}, "timeout"),
        ({"type": "remote", "url": 3}, "url"),
        ({"type": "remote", "url": "http://h", "headers": {"A": 1}}, "headers.A"),
        ({"type": "pigeon", "url": "http://h"}, "type"),
    ],
)
def test_wrong_input_is_refused_with_the_field_named(
    registry: Registry, config: dict[str, object], field: str
) -> None:
    with pytest.raises(DefinitionError) as caught:
        registry.register("x", config)
    assert [problem.field for problem in caught.value.problems] == [field]
    assert registry.get("x") is None


def test_a_name_in_use_is_refused_and_the_old_server_stays(registry: Registry) -> None:
    before = info(registry)
    with pytest.raises(NameTaken, match='"memory" is in use'):
        registry.register("memory", RemoteConfig(url="http://h"))
    assert info(registry) == before


def test_a_name_that_cannot_be_used_is_refused(registry: Registry) -> None:
    with pytest.raises(NameRefused, match="name: must not be empty"):
        registry.register("", RemoteConfig(url="http://h"))


def test_what_is_not_there_is_not_found(registry: Registry) -> None:
    assert registry.get("nobody") is None
    with pytest.raises(ServerUnknown):
        registry.remove("nobody")
    with pytest.raises(ServerUnknown):
        registry.update_status("nobody", "connected")


def test_a_wrong_status_is_refused(registry: Registry) -> None:
    with pytest.raises(InputError, match='status: "up" is not one of connecting, connected'):
        registry.update_status("memory", "up")
    with pytest.raises(InputError, match="error: cannot be combined"):
        registry.update_status("memory", "connected", "boom")
    assert info(registry).status == "disconnected"


def test_a_managed_registry_is_written_by_its_yard_alone(registry: Registry) -> None:
    book = registry.manage()
    for write in (
        lambda: registry.update_status("memory", "connected"),
        lambda: registry.register("x", LocalConfig(command=["x"])),
        lambda: registry.remove("memory"),
        registry.reset,
    ):
        with pytest.raises(ManagedByYard):
            write()
    book.update_status("memory", Status.CONNECTED)
    book.update_tool_count("memory", 3)
    assert (info(registry).status, info(registry).tool_count) == ("connected", 3)


def desired(number: int, name: str, config: Config) -> DesiredServer:
    return DesiredServer(
        id=UUID(int=number),
        name=name,
        owner=Owner(Scope.USER),
        config=config,
        wanted=Wanted.RUNNING,
        launch=LocalLaunch(("x",), {}, None, ()),
        launch_digest="",
        policy_digest="",
    )


def test_a_server_that_stays_keeps_its_status_also_by_another_name() -> None:
    registry = Registry()
    book = registry.manage()
    old, new, other = (LocalConfig(command=[each]) for each in ("old", "new", "other"))
    book.hold([desired(1, "memory", old), desired(2, "gone", old)])
    book.update_status("memory", Status.CONNECTED)
    book.update_tool_count("memory", 3)
    book.hold([desired(1, "store", new), desired(3, "memory", other)])
    assert registry.list() == [
        Info("store", new, Status.CONNECTED, tool_count=3),
        Info("memory", other),
    ]


def test_an_info_is_a_snapshot(registry: Registry) -> None:
    before = info(registry)
    registry.update_status("memory", "connected")
    assert before.status == "disconnected"


@pytest.mark.spec("B1")
def test_a_ready_registry_is_part_of_the_package() -> None:
    assert isinstance(McpServer, Registry)
    McpServer.register("fs", {"command": "npx", "args": ["x"], "transport": "stdio"})
    try:
        assert mcpyard.McpServer.get("fs") is not None
    finally:
        McpServer.reset()


def test_every_public_name_can_be_imported_and_no_other() -> None:
    for name in mcpyard.__all__:
        assert getattr(mcpyard, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        mcpyard.nothing  # noqa: B018
