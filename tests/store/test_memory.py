from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import Memory, Reached
from mcpyard.store.file_memory import FileMemory
from mcpyard.store.memory import VolatileMemory
from tests.runtime.waiting import eventually

PROJECT = Owner(Scope.PROJECT, "a/.mcp.json")
USER = Owner(Scope.USER)

Make = Callable[[], Memory]


@pytest.fixture(params=["volatile", "file"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "volatile":
        return VolatileMemory
    return lambda: FileMemory(tmp_path / "memory.json")


async def test_an_identity_is_made_once_and_belongs_to_owner_and_name(make: Make) -> None:
    memory = make()
    one = memory.identity(PROJECT, "fs")
    assert memory.identity(PROJECT, "fs") == one
    assert len({one, memory.identity(USER, "fs"), memory.identity(PROJECT, "x")}) == 3
    await memory.close()


async def test_names_tools_and_ways_are_kept(make: Make) -> None:
    memory = make()
    server = memory.identity(PROJECT, "fs")
    assert (memory.tools(server), memory.reached("d")) == ((), None)
    memory.keep_names({(server, "t"): "mcp_fs_t"})
    memory.keep_tools(server, [{"name": "t"}])
    memory.keep_reached("d", Reached(Era.MODERN, Transport.SSE))
    assert memory.exposed_names() == {(server, "t"): "mcp_fs_t"}
    assert memory.tools(server) == [{"name": "t"}]
    assert memory.reached("d") == Reached(Era.MODERN, Transport.SSE)
    memory.keep_reached("d", None)
    memory.keep_reached("never", None)
    assert memory.reached("d") is None
    await memory.close()


async def test_everything_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    before = FileMemory(path)
    server = before.identity(PROJECT, "文件")
    before.keep_names({(server, "t"): "mcp_x_t"})
    before.keep_tools(server, [{"name": "t", "vendor": {"deep": [1]}}])
    before.keep_reached("d", Reached(Era.HANDSHAKE))
    await before.close()
    after = FileMemory(path)
    assert after.identity(PROJECT, "文件") == server
    assert after.exposed_names() == {(server, "t"): "mcp_x_t"}
    assert after.tools(server) == [{"name": "t", "vendor": {"deep": [1]}}]
    assert after.reached("d") == Reached(Era.HANDSHAKE)
    await after.close()
    assert path.stat().st_mode & 0o777 == 0o600


async def test_changes_are_written_without_being_closed(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    memory = FileMemory(path)
    identity = memory.identity(USER, "fs")
    assert await eventually(path.exists, 3)
    assert str(identity) in path.read_text()
    memory.identity(USER, "other")
    await memory.close()
    assert "other" in path.read_text()


async def test_a_memory_that_did_not_change_writes_nothing(tmp_path: Path) -> None:
    memory = FileMemory(tmp_path / "memory.json")
    await memory.close()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 99}', b'{"version": 1}', b"\xff"]
)
async def test_a_file_that_cannot_be_read_is_put_aside(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.json"
    path.write_bytes(content)
    memory = FileMemory(path)
    assert memory.tools(UUID(int=1)) == ()
    assert (tmp_path / "memory.unreadable").read_bytes() == content
    assert "put aside" in caplog.text


async def test_a_disk_that_refuses_is_told_and_survived(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = FileMemory(tmp_path / "memory.json")
    memory.identity(USER, "fs")
    # A folder in the file's place: the rename fails whoever runs the test.
    (tmp_path / "memory.json").mkdir()
    (tmp_path / "memory.json" / "x").touch()
    await memory.close()
    assert "cannot be written" in caplog.text
    assert [each.name for each in tmp_path.iterdir()] == ["memory.json"]
