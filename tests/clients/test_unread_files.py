"""Edits of files that can be edited here, and that their own program does not read."""

from pathlib import Path

import pytest

from mcpyard.formats.warnings import WarningKind
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.clients.copies import CopyMany, copy_many
from tests.clients.machine import Machine, machine

OPENCODE = '{"mcp": {"x": {"type": "local", "command": ["run"]}}}'
TRAILING = '{\n  "mcpServers": {\n    "old": {"command": "a"},\n  }\n}\n'
COMMENTED = '{\n  // mine\n  "mcpServers": {"x": {"command": "a"}}\n}\n'
BAD = '[mcp_servers.bad]\ncommand = "a"\nrequired = "y"\n'
HALF = '[mcp_servers.half]\nargs = ["a"]\n'


async def unusable(it: Machine, copy: Copy, *, dry_run: bool = False) -> list[str]:
    done = await it.clients.copy(copy, EditTerms(str(it.project), dry_run=dry_run))
    return [each.message for each in done.warnings if each.kind is WarningKind.UNUSABLE]


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        (TRAILING, "4:45", "trailing comma: Claude Code cannot read a file with one"),
        (COMMENTED, "2:3", "comment: Claude Code cannot read a file with one"),
    ],
    ids=["trailing comma", "comment"],
)
@pytest.mark.parametrize("dry_run", [True, False], ids=["preview", "copy"])
async def test_a_copy_into_a_file_that_its_program_cannot_read_warns(
    tmp_path: Path, text: str, place: str, why: str, dry_run: bool
) -> None:
    async with machine(tmp_path, opencode=OPENCODE, claude=text) as it:
        copy = Copy("opencode", "claude", "x", replace='"x"' in text)
        [message] = await unusable(it, copy, dry_run=dry_run)
        assert message == f"not loaded until {it.path('claude')}:{place} is corrected: {why}"


async def test_an_entry_that_costs_its_program_all_others_is_named(tmp_path: Path) -> None:
    async with machine(tmp_path, opencode=OPENCODE, codex=BAD) as it:
        [message] = await unusable(it, Copy("opencode", "codex", "x"))
        assert message.startswith('Codex loads no servers while "bad" is invalid: ')
        assert "required" in message
        # The edit that repairs it has nothing to warn about.
        assert not await unusable(it, Copy("opencode", "codex", "x", "bad", replace=True))


async def test_half_an_entry_may_have_its_other_half_in_another_file(tmp_path: Path) -> None:
    async with machine(tmp_path, opencode=OPENCODE, codex=HALF) as it:
        assert not await unusable(it, Copy("opencode", "codex", "x"))


async def test_each_of_several_copies_tells_it_about_its_own_file(tmp_path: Path) -> None:
    async with machine(tmp_path, opencode=OPENCODE, claude=TRAILING, codex="") as it:
        request = CopyMany("opencode", ("claude", "codex"), ("x",))
        view = await copy_many(it.clients, request, EditTerms(str(it.project)))
        kinds = {each.target: {warning.kind for warning in each.warnings} for each in view.copies}
        assert WarningKind.UNUSABLE in kinds["claude-code:user"]
        assert kinds["codex:user"] == set()


async def test_an_edit_warns_too(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=COMMENTED) as it:
        done = await it.patch("claude", {"command": "b"})
        assert [each["kind"] for each in done["warnings"]] == ["unusable"]
