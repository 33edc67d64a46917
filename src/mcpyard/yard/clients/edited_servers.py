"""Which servers an edit was about, read from what its files said before and after."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from mcpyard.domain.files import FileText, FileWrite
from mcpyard.formats.effective import files_of, judge
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientFolders
from mcpyard.yard.clients.yard_scope import MADE_UP, YARD
from mcpyard.yard.clients.yard_scope_documents import concerned

_DEEPEST: Final = 2
"""How far below its project a program's file lies at most."""


_Texts = Mapping[str, FileText]


def files_beside(
    changes: Iterable[FileWrite], around: ClientFolders, clients: Sequence[Client]
) -> set[str]:
    """The other files of the programs whose files were changed: some only switch what is there."""
    readers = [client for each in changes for client in _readers(each, around, clients)]
    return {path for client in readers for path in files_of(client, around)}


def servers_named(
    changes: Iterable[FileWrite],
    around: ClientFolders,
    beside: _Texts,
    clients: Sequence[Client],
) -> set[str]:
    """The servers that changes are about; `beside` is what the programs' other files say."""
    return {name for each in changes for name in _named(each, around, beside, clients)}


def _named(
    change: FileWrite, around: ClientFolders, beside: _Texts, clients: Sequence[Client]
) -> set[str]:
    if change.path in MADE_UP:
        return concerned(change)
    for place in _seen_from(change.path, around):
        readers = _readers(change, place, clients)
        if names := {name for each in readers for name in _different(each, change, place, beside)}:
            return names
    return set()


def _readers(change: FileWrite, around: ClientFolders, clients: Sequence[Client]) -> list[Client]:
    """The programs that read a file."""
    programs = (each for each in clients if each.id != YARD)
    return [each for each in programs if change.path in files_of(each, around)]


def _seen_from(path: str, around: ClientFolders) -> Iterator[ClientFolders]:
    """The project at hand, then those that the file may belong to instead."""
    yield around
    for folder in [*PurePath(path).parents][:_DEEPEST]:
        yield replace(around, project=str(folder))


def _different(
    client: Client, change: FileWrite, around: ClientFolders, beside: _Texts
) -> set[str]:
    path = change.path
    old = _servers(client, around, {**beside, path: FileText(path, change.before)})
    new = _servers(client, around, {**beside, path: FileText(path, change.after)})
    return {name for (at, name) in (*old, *new) if old.get((at, name)) != new.get((at, name))}


def _servers(
    client: Client, around: ClientFolders, texts: _Texts
) -> Mapping[tuple[str, str], object]:
    return {
        (str(each.ref), each.listed.name): (each.listed.entry, each.state)
        for each in judge(client, around, texts).statuses
    }
