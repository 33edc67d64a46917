"""What a repository may do to the files of the user, which its own sync did not write."""

import re
from pathlib import Path

import pytest

from mcpyard.domain.errors import ApprovalOutdated
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.sources import SyncRequest
from tests.clients.machine import Machine
from tests.clients.syncing import SERVERS, contents, five_servers, states, sync_of, terms

CODEX = SyncRequest(("codex",))
ALL = SyncRequest()
DOCS = Path(__file__).parents[2] / "docs/sync.md"
SHARED = '[servers.lint]\ncommand = "lint-server"\n'
OF_USER = '[targets.codex]\nscope = "user"\n'


def lay(folder: Path, text: str) -> EditTerms:
    """A repository with that `mcpyard.toml`; a sync in it."""
    folder.mkdir(exist_ok=True)
    (folder / "mcpyard.toml").write_text(text)
    return EditTerms(str(folder), who="test")


async def approve(it: Machine, inside: EditTerms) -> None:
    consent = await sync_of(it).waiting(inside)
    await sync_of(it).approve(consent.digest, inside)


@pytest.mark.spec("F7.2")
@pytest.mark.parametrize("automatic", [False, True])
async def test_a_repository_removes_nothing_that_the_user_synced(
    tmp_path: Path, *, automatic: bool
) -> None:
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(CODEX, terms(it))
        before = contents(it)
        inside = lay(it.project, SHARED + OF_USER)
        view = await sync_of(it).apply(SyncRequest(automatic=automatic), inside)
        assert (view.writes, view.edit, view.waiting) == (0, None, 1)
        assert states(view, "files") == {"codex:user": "foreign"}
        assert {each.reason for each in view.cells if each.server in SERVERS} == {
            "written by the sync of another source: left alone"
        }
        assert contents(it) == before


@pytest.mark.spec("F7.2")
async def test_a_repository_forgets_nothing_that_the_user_deleted(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(CODEX, terms(it))
        text = it.read("codex").replace("[mcp_servers.mail]\n", "")
        it.path("codex").write_text(text.replace('url = "https://mail.example/mcp"\n', ""))
        await sync_of(it).apply(ALL, lay(it.project, SHARED + OF_USER))
        mine = await sync_of(it).plan(CODEX, EditTerms(str(it.home)))
        assert states(mine, "mail") == {"codex:user": "deleted-outside"}


@pytest.mark.spec("F7.2")
async def test_what_an_approved_repository_wrote_is_removed_by_itself_alone(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, SHARED + OF_USER)
        await approve(it, inside)
        await sync_of(it).apply(ALL, inside)
        assert "lint-server" in it.read("codex")
        mine = await sync_of(it).apply(CODEX, EditTerms(str(it.home)))
        assert states(mine, "lint") == {"codex:user": "foreign"}
        other = lay(tmp_path / "other", SHARED.replace("lint", "other") + OF_USER)
        await approve(it, other)
        assert states(await sync_of(it).apply(ALL, other), "lint") == {"codex:user": "foreign"}
        assert "lint-server" in it.read("codex")
        assert "other-server" in it.read("codex")

        lay(it.project, '[servers.new]\ncommand = "new"\n' + OF_USER)
        await approve(it, inside)
        done = await sync_of(it).apply(ALL, inside)
        assert states(done, "lint") == {"codex:user": "prune"}
        assert "lint-server" not in it.read("codex")
        assert {"other-server", "https://docs.example/mcp"} <= {*it.read("codex").split('"')}


async def test_what_a_repository_wrote_is_not_assigned_by_the_user(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, SHARED + OF_USER)
        await approve(it, inside)
        await sync_of(it).apply(ALL, inside)
        matrix = await sync_of(it).matrix(terms=EditTerms(str(it.home)))
        assert states(matrix.plan, "lint") == {"codex:user": "foreign"}
        assert matrix.plan.writes == 0


@pytest.mark.spec("F7.2")
async def test_a_file_that_leads_out_of_the_repository_needs_approval(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        before = contents(it)
        inside = lay(it.project, SHARED + "[targets.codex]\n[targets.claude]\n[targets.gemini]\n")
        (it.project / ".codex").symlink_to(it.home / ".codex")
        (it.project / ".mcp.json").symlink_to(it.path("claude"))
        view = await sync_of(it).apply(ALL, inside)
        assert states(view, "lint") == {
            "claude-code:project": "waiting",
            "codex:project": "waiting",
            "gemini:project": "missing",
        }
        reasons = {each.reason for each in view.cells if each.state == "waiting"}
        assert any(str(it.path("codex")) in reason for reason in reasons)
        assert contents(it) == before
        with pytest.raises(ApprovalOutdated):
            await sync_of(it).approve("", inside)
        await approve(it, inside)
        done = await sync_of(it).apply(ALL, inside)
        assert done.writes == 2
        assert "lint-server" in it.read("codex")


async def test_a_link_inside_of_the_repository_needs_no_approval(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, SHARED + "[targets.claude]\n")
        (it.project / "shared.json").write_text("{}")
        (it.project / ".mcp.json").symlink_to("shared.json")
        assert (await sync_of(it).apply(ALL, inside)).writes == 1
        link = tmp_path / "link"
        link.symlink_to(it.project)
        assert (await sync_of(it).plan(ALL, EditTerms(str(link)))).waiting == 0


@pytest.mark.spec("F7.2")
async def test_a_repository_switches_nothing_off_for_all_projects(tmp_path: Path) -> None:
    shared = '[servers.files]\ncommand = "shared"\nenabled = false\n'
    targets = "".join(f"[targets.{each}]\n" for each in ("gemini", "copilot", "qwen"))
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(SyncRequest(("gemini",)), terms(it))
        inside = lay(it.project, shared + targets)
        view = await sync_of(it).apply(ALL, inside)
        assert states(view, "files") == {
            "gemini:project": "off",
            "copilot:project": "off",
            "qwen:project": "missing",
        }
        assert not (it.home / ".gemini/mcp-server-enablement.json").exists()
        assert not (it.home / ".copilot").exists()
        assert (await it.clients.show("gemini:user", "files", str(it.project))).enabled
        check = SyncRequest(check=True)
        assert (await sync_of(it).plan(check, inside)).different == 0


async def test_what_is_off_in_its_program_for_all_projects_stays_off(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, SHARED + "[targets.gemini]\n")
        await sync_of(it).apply(ALL, inside)
        await it.clients.toggle("gemini:project", "lint", enabled=False, terms=terms(it))
        assert states(await sync_of(it).plan(ALL, inside), "lint") == {"gemini:project": "off"}
        lay(it.project, "[targets.gemini]\n")
        assert states(await sync_of(it).apply(ALL, inside), "lint") == {
            "gemini:project": "conflict"
        }


async def test_the_example_of_the_documentation_reaches_all_its_clients(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(\[servers\..*?)```", DOCS.read_text(), re.DOTALL)
    async with five_servers(tmp_path) as it:
        view = await sync_of(it).apply(ALL, lay(it.project, example))
        assert [f"{each.server} {each.target} {each.state}" for each in view.cells] == [
            "docs claude-code:project missing",
            "files claude-code:project missing",
            "files codex:project missing",
        ]


@pytest.mark.parametrize("automatic", [False, True])
async def test_the_gateway_is_approved_whatever_command_starts_it(
    tmp_path: Path, *, automatic: bool
) -> None:
    request = SyncRequest(command=("/opt/mcpyard", "stdio", "--home", "/h"), automatic=automatic)
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, OF_USER + 'via = "gateway"\n')
        assert (await sync_of(it).apply(request, inside)).waiting == 1
        await approve(it, inside)
        assert (await sync_of(it).apply(request, inside)).writes == 1
        assert 'command = "/opt/mcpyard"' in it.read("codex")


BRIDGES = [
    (("mcpyard", "stdio"), 0),
    (("/opt/ci/bin/mcpyard", "stdio"), 0),
    (("/usr/bin/python3", "-m", "mcpyard", "stdio"), 0),
    (("mcpyard", "stdio", "--home", "/ci/home"), 0),
    (("other", "stdio"), 1),
]


@pytest.mark.parametrize(("command", "different"), BRIDGES)
async def test_a_check_on_another_machine_finds_the_gateway_whatever_starts_it_there(
    tmp_path: Path, command: tuple[str, ...], different: int
) -> None:
    via = '[targets."claude:project"]\nvia = "gateway"\n'
    async with five_servers(tmp_path) as it:
        inside = lay(it.project, via)
        await sync_of(it).apply(SyncRequest(command=("/home/ann/bin/mcpyard", "stdio")), inside)
        assert "/home/ann/bin/mcpyard" in (it.project / ".mcp.json").read_text()
        check = SyncRequest(check=True, command=command)
        assert (await sync_of(it).plan(check, inside)).different == different
        # What an entry asks the gateway for is no matter of the machine.
        file = it.project / ".mcp.json"
        file.write_text(file.read_text().replace('"stdio"', '"stdio", "--profile", "work"'))
        assert (await sync_of(it).plan(check, inside)).different == 1
