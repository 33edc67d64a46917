"""Stored secrets: found by references, launched anew with, allowed to projects, and undone."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpyard.app import WiredYard, open_yard, still_yard
from mcpyard.domain.definition.launch import LocalLaunch, Unlaunchable
from mcpyard.domain.errors import (
    ArgumentsRefused,
    ChangedSince,
    NotWritable,
    ReadOnlyOwner,
    SecretUnknown,
)
from mcpyard.runtime.variables import Variables
from mcpyard.store.volatile_secrets import VolatileSecretConsents, VolatileSecrets
from mcpyard.yard.secrets import SecretBook, SecretChange, SecretPorts

VALUE = "ghp_a-value-that-nobody-may-read"
OUTSIDE = {"TOKEN": "from-outside"}
STDIO = {"command": "cat", "args": ["${TOKEN}"]}


@asynccontextmanager
async def opened(folder: Path, **environment: str) -> AsyncGenerator[WiredYard]:
    project = folder / "project"
    project.mkdir(exist_ok=True)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"shared": STDIO}}))
    host_environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin", **environment}
    async with open_yard(project, home=folder / "home", environment=host_environment) as yard:
        await yard.register({"name": "own", "scope": "user", **STDIO})
        yield yard


def argument(yard: WiredYard, name: str) -> str | None:
    launch = yard.server(name).launch
    return launch.command[1] if isinstance(launch, LocalLaunch) else None


@pytest.mark.real
async def test_a_secret_is_found_after_the_environment_and_by_allowed_projects(
    tmp_path: Path,
) -> None:
    place = str(tmp_path / "project" / ".mcp.json")
    async with opened(tmp_path) as yard:
        launch = yard.server("own").launch
        assert isinstance(launch, Unlaunchable)
        assert launch.missing == ("TOKEN",)
        preview = yard.secrets.preview(SecretChange("TOKEN", VALUE, places=[place]))
        assert (preview.launched_anew, preview.edit) == (["own", "shared"], None)
        assert yard.secrets.all() == []
        done = await yard.secrets.change(SecretChange("TOKEN", VALUE))
        assert done.launched_anew == ["own"]
        assert (argument(yard, "own"), argument(yard, "shared")) == (VALUE, None)
        (secret,) = yard.secrets.all()
        assert (secret.used_by, secret.needs_consent) == (["own", "shared"], [place])
        assert VALUE not in repr(SecretChange("TOKEN", VALUE))
        await yard.secrets.allow("TOKEN", [place], "test")
        assert argument(yard, "shared") == VALUE
        assert [each.kind for each in await yard.clients.edits()] == ["secret", "secret"]
        undone = await yard.clients.undo()
        assert "-allowed\n+not allowed" in undone.files[0][1]
        assert argument(yard, "shared") is None
        undone = await yard.clients.undo()
        assert VALUE not in str(undone)
        assert (argument(yard, "own"), yard.secrets.all()) == (None, [])
    async with opened(tmp_path / "other", **OUTSIDE) as yard:
        done = await yard.secrets.change(SecretChange("TOKEN", VALUE))
        assert done.launched_anew == []
        assert argument(yard, "own") == "from-outside"
        (secret,) = yard.secrets.all()
        assert secret.overridden


@pytest.fixture(autouse=True)
def folders(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()


@pytest.mark.real
async def test_a_secret_that_changed_since_is_not_taken_back(tmp_path: Path) -> None:
    place = str(tmp_path / "project" / ".mcp.json")
    async with opened(tmp_path) as yard:
        first = await yard.secrets.change(SecretChange("TOKEN", "one", places=[place]))
        second = await yard.secrets.change(SecretChange("TOKEN", "two", places=[place]))
        assert argument(yard, "shared") == "two"
        with pytest.raises(ChangedSince, match="the secret TOKEN changed since the edit"):
            await yard.clients.undo(first.edit)
        third = await yard.secrets.change(SecretChange("TOKEN"))
        assert (argument(yard, "own"), yard.secrets.all()) == (None, [])
        for each, value in ((third, "two"), (second, "one"), (first, None)):
            await yard.clients.undo(each.edit)
            assert argument(yard, "own") == value
        assert argument(yard, "shared") is None


@pytest.mark.real
async def test_stored_secrets_count_for_a_home_that_is_not_running(tmp_path: Path) -> None:
    async with opened(tmp_path) as yard:
        await yard.secrets.change(SecretChange("TOKEN", VALUE))
    assert VALUE.encode() not in (tmp_path / "home" / "state.db").read_bytes()
    async with still_yard(tmp_path / "home") as still:
        launch = still.server("own").launch
        assert isinstance(launch, LocalLaunch)
        assert launch.command == ("cat", VALUE)
        with pytest.raises(ReadOnlyOwner):
            still.secrets.view("TOKEN")
        assert (still.secrets.all(), still.secrets.available) == ([], False)


class Ring:
    """A key ring in memory."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.locked = False

    async def set(self, name: str, value: str) -> None:
        if self.locked:
            raise NotWritable("locked")
        self.values[name] = value

    async def remove(self, name: str) -> None:
        del self.values[name]


def book(ring: Ring | None) -> SecretBook:
    stored, consents = VolatileSecrets(), VolatileSecretConsents()
    ports = SecretPorts(stored, consents, Variables({}, stored, consents), ring)
    return SecretBook(ports, list, None)


async def test_a_secret_in_the_key_ring_is_named_here_and_kept_there() -> None:
    ring = Ring()
    secrets = book(ring)
    change = SecretChange("TOKEN", VALUE, "key-ring")
    await secrets.change(change)
    assert ring.values == {"TOKEN": VALUE}
    (secret,) = secrets.all()
    assert (secret.store, secret.readable) == ("key-ring", True)
    ring.locked = True
    with pytest.raises(NotWritable):
        await secrets.change(SecretChange("OTHER", VALUE, "key-ring"))
    assert len(secrets.all()) == 1
    await secrets.change(SecretChange("TOKEN"))
    assert (ring.values, secrets.all(), secrets.has_key_ring) == ({}, [], True)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (SecretChange("a b", VALUE), "name"),
        (SecretChange("", VALUE), "name"),
        (SecretChange("A" * 201, VALUE), "name"),
        (SecretChange("A", ""), "value"),
        (SecretChange("A", "x" * 65_537), "value"),
        (SecretChange("A", "x\0"), "value"),
        (SecretChange("A", VALUE, "key-ring"), "store"),
    ],
)
async def test_a_change_that_cannot_be_made_names_the_field(
    change: SecretChange, field: str
) -> None:
    secrets = book(None)
    with pytest.raises(ArgumentsRefused) as caught:
        await secrets.change(change)
    assert [each.field for each in caught.value.problems] == [field]
    assert secrets.all() == []


async def test_a_secret_that_is_not_there_is_neither_deleted_nor_allowed() -> None:
    secrets = book(None)
    with pytest.raises(SecretUnknown):
        await secrets.change(SecretChange("TOKEN"))
    with pytest.raises(SecretUnknown):
        await secrets.allow("TOKEN", ["/p/.mcp.json"], "test")


@pytest.mark.real
async def test_what_a_key_ring_holds_is_not_journalled(tmp_path: Path) -> None:
    async with opened(tmp_path) as yard:
        stored = yard.storage.secrets
        await stored.set("TOKEN", None)
        done = await yard.secrets.change(SecretChange("TOKEN", VALUE))
        assert (done.edit, argument(yard, "own")) == (None, VALUE)
        assert await yard.clients.edits() == []
