"""What a sync takes from a program is the same there afterwards, and what only it can say stays."""

import json
from pathlib import Path

import pytest

from mcpyard.domain.sync.plan import CellState
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientFolders, ClientScopeRef
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.sync.sources import SyncRequest, depends_on_project
from tests.clients.machine import Machine, machine
from tests.clients.program_files import PROGRAMS
from tests.clients.syncing import ALL, five_servers, states, sync_of, terms

SAMPLES = Path(__file__).parents[1] / "formats/clients/samples"
LIKE_OURS = {CellState.SAME, CellState.OFF}


def scope_of(client: Client) -> ClientScopeRef | None:
    refs = (ClientScopeRef(client, scope) for scope in client.scopes if scope.location)
    return next((ref for ref in refs if not depends_on_project(ref)), None)


def lay_sample(it: Machine, ref: ClientScopeRef) -> Path:
    store = FileScopeStore.of(ref, ClientFolders({}, str(it.home)))
    [sample] = (SAMPLES / ref.client.id).glob("before.*")
    path = Path(store.candidates[0])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sample.read_bytes())
    return path


@pytest.mark.spec("F7.1")
@pytest.mark.parametrize(
    "ref", [ref for ref in map(scope_of, PROGRAMS) if ref], ids=lambda ref: str(ref.client.id)
)
async def test_what_is_adopted_from_a_program_is_the_same_there(
    ref: ClientScopeRef, tmp_path: Path
) -> None:
    async with machine(tmp_path) as it:
        path, request = lay_sample(it, ref), SyncRequest((str(ref),))
        text = path.read_bytes()
        allowed = EditTerms(str(it.project), who="test", unverified=True)
        adopted = await sync_of(it).adopt({}, request, allowed)
        assert {each.outcome for each in adopted.servers} == {"adopted"}
        done = await sync_of(it).apply(request, allowed)
        assert {each.state for each in done.cells} <= LIKE_OURS
        assert path.read_bytes() == text


async def test_tools_that_its_user_left_out_stay_in_an_entry(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(ALL, terms(it))
        gemini = it.json("gemini")
        gemini["mcpServers"]["files"]["excludeTools"] = ["remove"]
        it.path("gemini").write_text(json.dumps(gemini))
        planned = await sync_of(it).plan(ALL, terms(it))
        assert states(planned, "files")["gemini:user"] == "same"
        await it.clients.edit("yard", "files", {"args": ["other"]}, terms(it))
        await sync_of(it).apply(ALL, terms(it))
        entry = it.json("gemini")["mcpServers"]["files"]
        assert (entry["args"], entry["excludeTools"]) == (["other"], ["remove"])


async def test_variables_of_a_remote_server_stay_with_the_program_that_has_them(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        gemini = it.json("gemini")
        gemini["mcpServers"]["wiki"] = {"httpUrl": "https://wiki.example", "env": {"A": "1"}}
        it.path("gemini").write_text(json.dumps(gemini))
        await sync_of(it).adopt({}, SyncRequest(("gemini",)), terms(it))
        await sync_of(it).apply(ALL, terms(it))
        assert states(await sync_of(it).plan(ALL, terms(it)), "wiki")["gemini:user"] == "same"
        assert it.json("gemini")["mcpServers"]["wiki"]["env"] == {"A": "1"}
        assert "env" not in it.json("claude")["mcpServers"]["wiki"]
        patch = {"url": None, "type": None, "command": "wiki"}
        await it.clients.edit("yard", "wiki", patch, terms(it))
        await sync_of(it).apply(ALL, terms(it))
        assert "env" not in it.json("gemini")["mcpServers"]["wiki"]


async def test_what_the_source_cannot_say_of_an_adopted_entry_is_a_warning(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        entry = {"command": "git-mcp", "excludeTools": ["push"], "cwd": "."}
        it.path("gemini").write_text(json.dumps({"mcpServers": {"only": entry}}))
        done = await sync_of(it).adopt({}, SyncRequest(("gemini",)), terms(it))
        [warning] = done.warnings
        assert (warning.kind, warning.field) == ("unsupported", "only.excludeTools")
        assert (
            warning.message == "stays in Gemini CLI only: other clients get the server without it"
        )
