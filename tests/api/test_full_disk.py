"""A disk without room: refused with 507, and nothing lost."""

import resource
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.api.daemon import SERVERS, daemon, one
from tests.cli.commands import echo

pytestmark = pytest.mark.real


@contextmanager
def no_room(pid: int) -> Generator[None]:
    """While it lasts, no file of the process can grow; pipes and sockets are not concerned."""
    soft, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_full_disk_refuses_a_change_and_leaves_the_old_state(tmp_path: Path, scope: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with daemon(tmp_path / "home", "--project", project) as it:
        it.register("old", echo(), scope=scope, start=False)
        before = it.record("old")
        text = (project / ".mcp.json").read_bytes() if scope == "project" else b""
        with no_room(it.up.process.pid):
            refused = it.client.post(SERVERS, json={"name": "new", **echo(), "scope": scope})
            assert refused.status_code == 507, refused.text
            assert refused.json()["type"] == "urn:mcpyard:error:storage-full"
            assert it.client.patch(one("old"), json={"args": ["x"]}).status_code == 507
            assert [each["name"] for each in it.get(SERVERS)] == ["old"]
        assert it.record("old") == before
        if scope == "project":
            assert (project / ".mcp.json").read_bytes() == text
            assert [each.name for each in project.iterdir()] == [".mcp.json"]
        it.register("new", echo(), scope=scope, start=False)
        assert [each["name"] for each in it.get(SERVERS)] == ["new", "old"]
