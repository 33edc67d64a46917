"""A folder of files for each client: what stands there before, and what each edit makes of it.

`before` is as people have it; `added` has one server more, copied from Claude Code, and
`warnings.txt` says what that copy tells; `changed` has another argument for `files` and another
address or command for `docs`; `removed` has no `files`.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import remove, rename, write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.lint import lint
from mcpyard.formats.locations import ClientScopeRef, candidates
from mcpyard.formats.registry import CLIENTS, scope_ref_of
from mcpyard.formats.texts import Text
from tests.formats.clients.evaluations import host

SAMPLES = Path(__file__).parent / "samples"
FOLDERS = sorted(SAMPLES.iterdir())

ADDED = Entry(
    type=EntryTransport.STDIO,
    command="uvx",
    args=("acme-notes", "--root", "${HOME}/notes"),
    env={"NOTES_KEY": "${NOTES_KEY}", "MODE": "fast"},
    call_timeout=1500,
    unknown={"alwaysLoad": True},
)

SCOPES = {
    "opencode-v2": "opencode",
    "qwen-shared": "qwen:shared",
    "vscode-shared": "vscode:shared",
    "yard": "yard:project",
}

pytestmark = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def scope_ref_for(folder: Path) -> ClientScopeRef:
    return scope_ref_of(SCOPES.get(folder.name, folder.name))


def sample(folder: Path, name: str) -> str:
    [path] = folder.glob(f"{name}.*")
    return path.read_bytes().decode()


def added(folder: Path) -> tuple[str, str]:
    ref = scope_ref_for(folder)
    before = sample(folder, "before")
    target = read(ref, before).ref
    converted = convert(ADDED, scope_ref_of("claude"), target)
    lines = [f"{each.kind} {each.field}: {each.message}\n" for each in converted.warnings]
    return write(ref, before, "notes", converted.entry).text, "".join(lines)


def changed(folder: Path) -> str:
    ref = scope_ref_for(folder)
    text = sample(folder, "before")
    listing = read(ref, text)
    files = replace(listing.entry("files"), args=("-y", "@acme/files@2"))
    docs = listing.entry("docs")
    docs = (
        replace(docs, url="https://new.example.com/mcp") if docs.url else replace(docs, command="d")
    )
    text = write(ref, text, "files", files).text
    return write(ref, text, "docs", docs).text


def removed(folder: Path) -> str:
    return remove(scope_ref_for(folder), sample(folder, "before"), "files").text


def test_a_server_is_added_and_nothing_else_changes(folder: Path) -> None:
    text, warnings = added(folder)
    assert text == sample(folder, "added")
    assert warnings == sample(folder, "warnings")


def test_removing_what_was_added_gives_back_the_original(folder: Path) -> None:
    assert remove(scope_ref_for(folder), sample(folder, "added"), "notes").text == sample(
        folder, "before"
    )


def test_a_change_touches_only_what_differs(folder: Path) -> None:
    assert changed(folder) == sample(folder, "changed")
    lines = zip(changed(folder).splitlines(), sample(folder, "before").splitlines(), strict=True)
    assert sum(new != old for new, old in lines) in {1, 2}


def test_a_server_is_removed_with_what_belongs_to_it(folder: Path) -> None:
    assert removed(folder) == sample(folder, "removed")


def test_writing_what_stands_there_changes_nothing(folder: Path) -> None:
    ref, text = scope_ref_for(folder), sample(folder, "before")
    for listed in read(ref, text).servers:
        assert listed.problems == ()
        assert listed.entry is not None
        assert write(ref, text, listed.name, listed.entry).text == text


def test_a_rename_and_a_rename_back_change_nothing(folder: Path) -> None:
    ref, text = scope_ref_for(folder), sample(folder, "before")
    renamed = rename(ref, text, "files", "archive").text
    assert [each.name for each in read(ref, renamed).servers] == ["archive", "docs"]
    assert rename(ref, renamed, "archive", "files").text == text


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_secrets_and_foreign_references_are_found(folder: Path, mode: int) -> None:
    ref, text = scope_ref_for(folder), sample(folder, "before")
    files = replace(
        read(ref, text).entry("files"),
        args=("--token=hunter22", "{env:A} ${A} ${env:B} ${A:-b}"),
        env={"API_TOKEN": "hunter22"},
    )
    assert ref.scope.location
    path, *_ = candidates(ref.scope.location, host())
    written = write(ref, text, "files", files).text
    codes = {
        each.code
        for each in lint(ref.client, host(), {path: Text(path, written, mode=mode)})
        if each.name == "files"
    }
    assert {"foreign-reference", "secret-readable" if mode & 4 else "secret-visible"} <= codes


def test_every_client_has_a_folder(folder: Path) -> None:
    names = {each.name for each in FOLDERS}
    assert folder.name in {*(client.id for client in CLIENTS), *SCOPES}
    assert {client.id for client in CLIENTS} <= names
