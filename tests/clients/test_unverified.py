"""Clients that are known from documentation only: read as all others, written on request."""

from pathlib import Path

import pytest

from mcpyard.domain.errors import ClientUnverified
from mcpyard.domain.remedies import remedy
from mcpyard.formats.warnings import WarningKind
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.clients.connecting import Bridged
from tests.api.asgi import slug
from tests.clients.machine import Machine, machine

CODEX = '[mcp_servers.x]\ncommand = "run"\n'
STUDIO = '{"mcpServers": {"x": {"command": "run"}}}'
COPY = Copy("codex", "lmstudio", "x")
SURE = EditTerms(unverified=True)


def studio(it: Machine) -> Path:
    return it.home / ".lmstudio" / "mcp.json"


def lay_studio(it: Machine) -> None:
    studio(it).parent.mkdir()
    studio(it).write_text(STUDIO)


@pytest.mark.spec("F7.3")
async def test_a_copy_is_refused_with_what_to_do_until_it_is_confirmed(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        with pytest.raises(ClientUnverified, match=r"LM Studio .*documentation") as refused:
            await it.clients.copy(COPY)
        assert "--unverified" in remedy(refused.value)
        assert not studio(it).exists()
        done = await it.clients.copy(COPY, SURE)
        assert [each.kind for each in done.warnings] == [WarningKind.UNVERIFIED]
        assert studio(it).exists()
        await it.clients.undo()
        assert not studio(it).exists()


async def test_a_preview_needs_no_confirmation_and_tells_that_the_edit_does(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        preview = await it.clients.copy(COPY, EditTerms(dry_run=True))
        assert [each.kind for each in preview.warnings] == [WarningKind.UNVERIFIED]
        assert not studio(it).exists()


async def test_every_edit_of_such_a_client_needs_it(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        lay_studio(it)
        edits = [
            it.clients.edit("lmstudio", "x", {"command": "other"}),
            it.clients.rename("lmstudio", "x", "y"),
            it.clients.remove("lmstudio", "x"),
            it.clients.copy(Copy("lmstudio", "codex", "x", "z", move=True)),
            it.clients.connect("lmstudio", "mcpyard", Bridged(("mcpyard", "stdio"))),
        ]
        for edit in edits:
            with pytest.raises(ClientUnverified):
                await edit
        assert studio(it).read_text() == STUDIO
        await it.clients.edit("lmstudio", "x", {"command": "other"}, SURE)
        assert "other" in studio(it).read_text()


async def test_listing_importing_and_copying_from_it_need_nothing(tmp_path: Path) -> None:
    async with machine(tmp_path, codex="") as it:
        lay_studio(it)
        [group] = [each for each in await it.clients.groups() if each.client == "lmstudio"]
        assert [each.name for each in group.servers] == ["x"]
        assert (group.evidence, group.version, group.verified) == ("documentation", "", False)
        assert [each.outcome for each in await it.clients.import_all()] == ["imported"]
        await it.clients.copy(Copy("lmstudio", "codex", "x"))
        assert "[mcp_servers.x]" in it.read("codex")


async def test_a_scope_can_be_known_better_than_its_client(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        await it.clients.copy(Copy("codex", "junie:project", "x"))
        assert (it.project / ".junie/mcp/mcp.json").exists()
        with pytest.raises(ClientUnverified):
            await it.clients.copy(Copy("codex", "junie:user", "x"))


async def test_the_routes_take_the_confirmation(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        body = {"from": "codex", "to": "lmstudio", "name": "x"}
        refused = await it.http.post("/api/clients/copy", json=body)
        assert slug(refused) == (409, "client-unverified")
        assert "unverified" in refused.json()["hint"]
        done = await it.copy("codex", "lmstudio", unverified=True)
        assert done["warnings"][0]["kind"] == "unverified"
        path = "/api/clients/lmstudio/servers/x"
        assert slug(await it.http.delete(path)) == (409, "client-unverified")
        assert slug(await it.http.patch(path, json={"command": "a"}))[0] == 409
        assert (await it.http.delete(f"{path}?unverified=1")).status_code == 200
        connect = {"client": "lmstudio"}
        assert slug(await it.http.post("/api/clients/connect", json=connect))[0] == 409
        sure = {**connect, "unverified": True}
        assert (await it.http.post("/api/clients/connect", json=sure)).status_code == 200
        groups = await it.get("/api/clients")
        evidence = {each["client"]: each["evidence"] for each in groups}
        assert (evidence["codex"], evidence["zed"], evidence["cursor"]) == (
            "ran",
            "source",
            "files",
        )
