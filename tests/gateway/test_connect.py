"""`mcpyard connect`: the gateway in the configuration of other programs."""

import asyncio
import json
import os
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from mcpyard.api.app import build
from mcpyard.app import open_yard
from mcpyard.domain.errors import StorageFull
from mcpyard.domain.repositories import Tokens
from mcpyard.domain.stored import CallToken
from mcpyard.formats.facts import Client, EntryTransport
from mcpyard.formats.registry import CLIENTS
from mcpyard.gateway.app import Gateway
from mcpyard.store.volatile import VolatileCallTokens
from tests.api.asgi import YardApi, client_of, keys_of, slug
from tests.cli.commands import answer, mcpyard, yard_up

pytestmark = pytest.mark.real


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of a user whose programs have no files yet."""
    folder = tmp_path / "user"
    (folder / ".codex").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("CODEX_", "CLAUDE_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def codex(user: Path) -> dict[str, Any]:
    return tomllib.loads((user / ".codex" / "config.toml").read_text())["mcp_servers"]


def test_the_bridge_is_written_without_a_yard_and_without_a_token(user: Path) -> None:
    home = user.parent / "home"
    done = answer("connect", "codex", home=home)
    assert [file["path"] for file in done["files"]] == [str(user / ".codex" / "config.toml")]
    assert done["token"] is None
    entry = codex(user)["mcpyard"]
    assert [entry["command"], *entry["args"]][-3:] == ["stdio", "--home", str(home)]
    again = answer("connect", "codex", home=home)
    assert again["files"] == [], "it is there already"
    answer("undo", home=home)
    assert not (user / ".codex" / "config.toml").exists(), "it was made for this"


def test_a_dry_run_changes_nothing(user: Path) -> None:
    done = answer("connect", "claude", "--dry-run", home=user.parent / "home")
    assert "stdio" in done["files"][0]["diff"]
    assert not (user / ".claude.json").exists()


def test_another_server_of_that_name_is_left_alone(user: Path) -> None:
    config = user / ".codex" / "config.toml"
    config.write_text(before := '[mcp_servers.mcpyard]\ncommand = "other"\n')
    done = mcpyard("connect", "codex", home=user.parent / "home")
    assert done.returncode == 2
    assert "already" in done.stderr
    assert config.read_text() == before
    answer("connect", "codex", "--name", "yard", home=user.parent / "home")
    assert codex(user)["yard"]["args"]


def test_the_yard_is_not_connected_to_itself(user: Path) -> None:
    done = mcpyard("connect", "yard", home=user.parent / "home")
    assert done.returncode == 3
    assert "itself" in done.stderr


def test_an_address_needs_a_yard_that_runs(user: Path) -> None:
    done = mcpyard("connect", "codex", "--http", home=user.parent / "home")
    assert done.returncode == 4
    assert not (user / ".codex" / "config.toml").exists()


class FullTokens(VolatileCallTokens):
    """Tokens of a yard whose disk is full."""

    async def add(self, token: CallToken) -> None:
        raise StorageFull(f"no room for {token.name}")


@asynccontextmanager
async def user_api(user: Path, tokens: Tokens | None = None) -> AsyncGenerator[YardApi]:
    """A yard that takes that folder for its user's."""
    closing = asyncio.Event()
    async with open_yard(environment={"HOME": str(user)}) as yard:
        keys = replace(keys_of(yard), tokens=tokens or yard.storage.call_tokens)
        app = build(yard, keys=keys, hosts=[], closing=closing, gateway=Gateway(yard, closing))
        async with client_of(app) as client:
            yield YardApi(yard, app, client, closing)
        closing.set()


async def connect(it: YardApi, client: str, **more: object) -> dict[str, Any]:
    answered = await it.post("/api/clients/connect", {"client": client, **more})
    assert answered.status_code == 200, answered.text
    return answered.json()


async def opens(it: YardApi, token: str, path: str = "/mcp") -> bool:
    async with client_of(it.app, {"Authorization": f"Bearer {token}"}) as program:
        answered = await program.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        return answered.status_code not in {401, 403}


async def test_by_address_the_token_is_left_to_a_variable_where_that_is_possible(
    user: Path,
) -> None:
    async with user_api(user) as it:
        token = (await connect(it, "codex", http=True))["token"]
        assert token["variable"] == "MCPYARD_CALL_TOKEN"
        assert codex(user)["mcpyard"] == {
            "url": "http://127.0.0.1/mcp",
            "bearer_token_env_var": "MCPYARD_CALL_TOKEN",
        }
        assert token["value"] not in (user / ".codex" / "config.toml").read_text()
        assert await opens(it, token["value"])
        assert not await opens(it, "mcpyard_other")


async def test_a_program_that_reads_no_variables_gets_the_token_itself(user: Path) -> None:
    async with user_api(user) as it:
        dry = await connect(it, "zed", http=True, dryRun=True)
        assert dry["files"]
        assert it.yard.storage.call_tokens.all() == (), "a look makes none"
        done = await connect(it, "zed", http=True)
        assert done["token"] is None
        (file,) = done["files"]
        assert "Bearer mcpyard_" in Path(file["path"]).read_text()
        assert "Bearer mcpyard_" not in file["diff"], "what is shown is masked"


async def test_no_program_gets_a_token_that_could_not_be_kept(user: Path) -> None:
    async with user_api(user, FullTokens()) as it:
        refused = await it.post("/api/clients/connect", {"client": "zed", "http": True})
        assert slug(refused) == (507, "storage-full")
        assert [*user.rglob("*.json")] == []


async def test_a_token_is_worthless_whose_program_could_not_be_told(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with user_api(user) as it:
        await connect(it, "zed", name="first", http=True)
        monkeypatch.setattr("mcpyard.sources.client_files.edit_file", no_room)
        body = {"client": "zed", "name": "second", "http": True}
        assert slug(await it.post("/api/clients/connect", body)) == (507, "storage-full")
        first, second = it.yard.storage.call_tokens.all()
        assert (first.revoked is None, second.revoked is None) == (True, False)


def no_room(*_: object, **__: object) -> None:
    raise StorageFull("no space left on device")


async def test_a_profile_must_be_there_and_is_named(user: Path) -> None:
    async with user_api(user) as it:
        unknown = await it.post("/api/clients/connect", {"client": "codex", "profile": "my work"})
        assert (unknown.status_code, unknown.json()["type"][-15:]) == (404, "profile-unknown")
        await it.post("/api/profiles", {"name": "my work"})
        await connect(it, "codex", profile="my work")
        assert codex(user)["mcpyard"]["args"] == ["stdio", "--profile", "my work"]
        done = await connect(it, "claude", profile="my work", http=True)
        entry = json.loads((user / ".claude.json").read_text())["mcpServers"]["mcpyard"]
        assert entry["url"] == "http://127.0.0.1/mcp/my%20work"
        assert entry["headers"] == {"Authorization": "Bearer ${MCPYARD_CALL_TOKEN}"}
        token = done["token"]["value"]
        assert await opens(it, token, "/mcp/my%20work")
        assert not await opens(it, token), "it opens that profile alone"


PROGRAMS = [client for client in CLIENTS if client.id != "yard"]


@pytest.mark.parametrize("client", PROGRAMS, ids=lambda each: each.id)
async def test_a_program_gets_an_entry_that_it_can_use_or_nothing(
    user: Path, client: Client
) -> None:
    async with user_api(user) as it:
        before = sorted(user.rglob("*"))
        sure = {"unverified": not client.provenance.verified}
        folder = {} if client.scopes[0].name == "user" else {"project": str(user)}
        query = f"?project={user}" if folder else ""
        body = {"client": client.id, "name": "by-address", "http": True, **sure, **folder}
        answered = await it.post("/api/clients/connect", body)
        if EntryTransport.HTTP in client.speaks:
            assert answered.status_code == 200, answered.text
            entry = (await it.get(f"/api/clients/{client.id}/servers/by-address{query}")).json()
            assert entry["url"] == "http://127.0.0.1/mcp"
            assert entry["headers"] or entry["bearerTokenEnvVar"]
        else:
            (problem,) = answered.json()["problems"]
            assert (answered.status_code, problem["field"]) == (422, "http")
            assert "connect it over stdio" in problem["message"]
            assert sorted(user.rglob("*")) == before
            assert it.yard.storage.call_tokens.all() == ()
        await connect(it, client.id, name="by-command", **sure, **folder)
        entry = (await it.get(f"/api/clients/{client.id}/servers/by-command{query}")).json()
        assert (entry["command"], entry["args"]) == ("mcpyard", ["stdio"])


async def test_a_program_that_is_known_from_documentation_gets_no_token_unasked(
    user: Path,
) -> None:
    async with user_api(user) as it:
        answered = await it.post("/api/clients/connect", {"client": "lmstudio", "http": True})
        assert answered.status_code == 409
        assert it.yard.storage.call_tokens.all() == ()


async def test_what_cannot_be_meant_is_refused_with_its_field(user: Path) -> None:
    async with user_api(user) as it:
        for body, field in (
            ({"client": "codex", "command": "mcpyard stdio"}, "command"),
            ({"client": "codex", "command": ["mcpyard", 5]}, "command"),
            ({"client": "codex", "http": "yes"}, "http"),
            ({"client": "yard"}, "client"),
            ({}, "client"),
        ):
            refused = await it.post("/api/clients/connect", body)
            assert refused.status_code == 422, body
            assert refused.json()["problems"][0]["field"] == field
        assert not (user / ".codex" / "config.toml").exists()


async def test_an_earlier_way_to_the_yard_is_replaced_and_another_server_is_not(
    user: Path,
) -> None:
    async with user_api(user) as it:
        await connect(it, "codex")
        await connect(it, "codex", command=["/opt/mcpyard", "stdio"])
        assert codex(user)["mcpyard"]["command"] == "/opt/mcpyard"
        config = user / ".codex" / "config.toml"
        config.write_text('[mcp_servers.mcpyard]\nurl = "http://127.0.0.1:9/mcp"\n')
        taken = await it.post("/api/clients/connect", {"client": "codex"})
        assert taken.status_code == 409


def test_what_was_connected_is_not_imported(user: Path) -> None:
    with yard_up(user.parent / "home") as up:
        done = answer("connect", "codex", "--http", home=up.home)
        assert codex(user)["mcpyard"]["url"] == f"{up.url}/mcp"
        assert done["token"]["value"].startswith("mcpyard_")
        rows = answer("import", home=up.home)
        assert "mcpyard" not in [each["name"] for each in answer("ls", home=up.home)], rows
