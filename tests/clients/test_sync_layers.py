"""The sources of a sync: a repository's file with the user's targets on top."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mcpyard.domain.errors import (
    ApprovalOutdated,
    ArgumentsRefused,
    DocumentBroken,
    ProfileUnknown,
)
from mcpyard.domain.sync.plan import Choice
from mcpyard.formats.clients import qwen
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.syncing import SyncDecision
from tests.clients.machine import Machine, machine
from tests.clients.syncing import five_servers, states, sync_of, terms

REPOSITORY = """# shared
[servers.lint]
command = "lint-server"   # fast

[servers.files]
command = "shared-files"

[targets.claude]
"""


def lay(it: Machine, shared: str = "", user: str = "") -> None:
    """Write the file of the repository, and that of the user."""
    if shared:
        (it.project / "mcpyard.toml").write_text(shared)
    if user:
        (it.project.parent / "state" / "mcpyard.toml").write_text(user)


def project_entries(it: Machine) -> dict[str, dict[str, object]]:
    return json.loads((it.project / ".mcp.json").read_text())["mcpServers"]


async def test_the_users_servers_count_where_both_want_a_name(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        lay(it, REPOSITORY, '[targets."claude:project"]\nonly = ["files"]\n[targets.codex]\n')
        view = await sync_of(it).apply(SyncRequest(), terms(it))
        assert [each.target for each in view.targets] == [
            "claude-code:project",
            "codex:user",
        ]
        assert project_entries(it)["files"]["command"] == "npx"
        assert project_entries(it)["lint"]["command"] == "lint-server"
        assert "docs" not in project_entries(it)
        assert "[mcp_servers.docs]" in it.read("codex")
        assert (await sync_of(it).plan(SyncRequest(), terms(it))).writes == 0


async def test_one_target_alone_prunes_nothing_that_another_wants(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        lay(it, REPOSITORY, "[targets.codex]\n")
        await sync_of(it).apply(SyncRequest(), terms(it))
        alone = await sync_of(it).apply(SyncRequest(("claude:project",)), terms(it))
        assert {each.target for each in alone.cells} == {"claude-code:project"}
        assert {"lint", "files"} <= project_entries(it).keys()
        only = await sync_of(it).plan(SyncRequest(("codex",)), terms(it))
        assert {each.target for each in only.cells} == {"codex:user"}


async def test_what_a_repository_wrote_into_its_file_is_not_approved_by_that(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path) as it:
        lay(it, REPOSITORY)
        automatic = SyncRequest(automatic=True)
        waiting = await sync_of(it).apply(automatic, terms(it))
        assert (waiting.waiting, waiting.edit) == (2, None)
        consent = await sync_of(it).waiting(terms(it))
        lay(it, REPOSITORY.replace("lint-server", "evil"))
        with pytest.raises(ApprovalOutdated):
            await sync_of(it).approve(consent.digest, terms(it))
        consent = await sync_of(it).waiting(terms(it))
        await sync_of(it).approve(consent.digest, terms(it))
        done = await sync_of(it).apply(automatic, terms(it))
        assert (done.waiting, done.writes) == (0, 2)
        lay(it, REPOSITORY)
        assert [it.name for it in (await sync_of(it).waiting(terms(it))).servers] == [
            "claude-code:project lint"
        ]


async def test_the_gateway_stands_for_all_servers_of_a_profile(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        lay(it, user='[targets.codex]\nvia = "gateway"\nprofile = "work"\n[targets.gemini]\n')
        with pytest.raises(ProfileUnknown):
            await sync_of(it).plan(SyncRequest(), terms(it))
        await it.yard.profiles.create({"name": "work", "servers": ["d*"]})
        request = SyncRequest(command=("mcpyard", "stdio"))
        view = await sync_of(it).apply(request, terms(it))
        assert states(view, "mcpyard") == {"codex:user": "missing"}
        assert 'args = ["stdio", "--profile", "work"]' in it.read("codex")
        lay(it, user='[targets.gemini]\nprofile = "work"\n')
        await sync_of(it).apply(SyncRequest(), terms(it))
        assert it.json("gemini")["mcpServers"].keys() == {"docs", "db"}


async def test_each_program_that_shares_a_file_tells_what_it_loses(tmp_path: Path) -> None:
    source = '[servers.a]\ncommand = "a"\nenv = { KEY = "${KEY}" }\n[targets."claude:project"]\n'
    async with machine(tmp_path) as it:
        lay(it, source + '[targets."qwen:shared"]\n')
        view = await sync_of(it).apply(SyncRequest(), terms(it))
        assert project_entries(it).keys() == {"a"}
        losses = {
            cell.target: [each.message for each in cell.warnings if each.kind != "info"]
            for cell in view.cells
        }
        assert losses == {
            "claude-code:project": [
                "Claude Code asks for approval before it uses a project server"
            ],
            "qwen:shared": [
                "Qwen Code does not expand ${KEY}: the server will get that text literally",
                qwen.CLIENT.scopes[2].trust,
            ],
        }
        planned = await sync_of(it).plan(SyncRequest(), terms(it))
        assert states(planned, "a") == {"claude-code:project": "same", "qwen:shared": "same"}


async def test_a_conflict_is_adopted_into_the_file_of_the_repository(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        lay(it, REPOSITORY + "[targets.codex]\n")
        await sync_of(it).apply(SyncRequest(), terms(it))
        path = it.project / ".mcp.json"
        path.write_text(path.read_text().replace("lint-server", "lint-2"))
        seen = await sync_of(it).plan(SyncRequest(), terms(it))
        [cell] = [each for each in seen.cells if each.state == "conflict"]
        chosen = {(cell.target, cell.server): SyncDecision(Choice.ADOPT, cell.seen)}
        await sync_of(it).apply(SyncRequest(decisions=chosen), terms(it))
        text = (it.project / "mcpyard.toml").read_text()
        assert "lint-2" in text
        assert text.startswith("# shared\n")
        assert 'command = "lint-2"' in (it.project / ".codex/config.toml").read_text()
        assert (await sync_of(it).plan(SyncRequest(), terms(it))).different == 0


async def test_what_a_repositorys_programs_have_is_adopted_without_secrets(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        lay(it, "[targets.claude]\n")
        entries = {
            "a": {"command": "a", "env": {"TOKEN": "${TOKEN}"}},
            "b": {"command": "b", "env": {"TOKEN": "plain-secret"}},
            "broken": {"command": 3},
            "mcpyard": {"command": "mcpyard", "args": ["stdio"]},
        }
        (it.project / ".mcp.json").write_text(json.dumps({"mcpServers": entries}))
        done = await sync_of(it).adopt({}, SyncRequest(), terms(it))
        outcomes = {each.name: each.outcome for each in done.servers}
        assert outcomes["a"] == "adopted"
        assert outcomes["b"] == outcomes["broken"] == "skipped"
        text = (it.project / "mcpyard.toml").read_text()
        assert "plain-secret" not in text
        assert 'command = "a"' in text
        again = await sync_of(it).adopt({}, SyncRequest(), terms(it))
        assert "a" not in {each.name for each in again.servers}


async def test_programs_that_share_a_file_share_its_entries(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        lay(it, REPOSITORY + "[targets.copilot]\n")
        (it.project / ".mcp.json").write_text("{}\n")
        done = await sync_of(it).apply(SyncRequest(), terms(it))
        assert [each.path for each in done.files] == [str(it.project / ".mcp.json")]
        assert done.writes == 2
        after = await sync_of(it).plan(SyncRequest(), terms(it))
        assert states(after, "lint") == {"claude-code:project": "same", "copilot:project": "same"}
        adopted = await sync_of(it).adopt({}, SyncRequest(), terms(it))
        assert (adopted.servers, adopted.edit) == ([], None)


async def test_links_lead_to_one_entry(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(SyncRequest(("codex",)), terms(it))
        real = it.home / "dotfiles.toml"
        it.path("codex").rename(real)
        it.path("codex").symlink_to(real)
        view = await sync_of(it).plan(SyncRequest(("codex",)), terms(it))
        assert states(view, "files") == {"codex:user": "same"}


async def test_bad_requests_are_refused(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        with pytest.raises(ArgumentsRefused, match="no folder"):
            await sync_of(it).plan(SyncRequest(), EditTerms(str(tmp_path / "gone")))
        lay(it, "[servers", "x = 1")
        with pytest.raises(DocumentBroken):
            await sync_of(it).plan(SyncRequest(("codex",)), terms(it))
        (it.project.parent / "state" / "mcpyard.toml").unlink()
        (it.project / "mcpyard.toml").write_bytes(b"\xff")
        with pytest.raises(DocumentBroken, match="UTF-8"):
            await sync_of(it).plan(SyncRequest(("codex",)), replace(terms(it), project=None))
