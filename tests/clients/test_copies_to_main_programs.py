"""Each program's servers reach the four main programs, and theirs reach each program."""

import pytest

from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import Client
from mcpyard.formats.fields import Field
from mcpyard.formats.registry import client_of
from mcpyard.formats.warnings import WarningKind
from mcpyard.yard.clients.operations import Copying
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.workspace import Workspace
from tests.clients.program_files import PROGRAMS, laid, scopes

MAIN = [client_of(each) for each in ("claude-code", "codex", "gemini", "opencode")]
PAIRS = [(client, main) for client in PROGRAMS for main in MAIN if client.id != main.id]
LOCAL = Entry(command="run", args=("-v", "all"), env={"A": "1"})
REMOTE = Entry(url="https://h.example/mcp")
LOST = {WarningKind.UNSUPPORTED, WarningKind.UNUSABLE}


def has_addresses(store: FileScopeStore) -> bool:
    return Field.URL in store.ref.shape.field_names


def copied(source: FileScopeStore, target: FileScopeStore, entry: Entry) -> Entry:
    """What a target has of an entry of a source; a loss is a failure."""
    workspace = Workspace(laid(source, entry))
    Copying(source, target, "s", "s", Matrix.NATIVE).do(workspace)
    lost = [each for each in workspace.warnings if each.kind in LOST]
    assert not lost, (source.ref, target.ref, lost)
    copy, _ = target.entry(workspace, "s")
    return copy


@pytest.mark.spec("F7.3")
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(each.id for each in pair))
def test_a_server_is_the_same_in_each_program_and_in_the_main_ones(
    pair: tuple[Client, Client],
) -> None:
    one, other = (next(scopes(each)) for each in pair)
    for source, target in ((one, other), (other, one)):
        local = copied(source, target, LOCAL)
        assert (local.command, local.args, local.env) == ("run", ("-v", "all"), {"A": "1"})
        if has_addresses(source) and has_addresses(target):
            assert copied(source, target, REMOTE).url == REMOTE.url
