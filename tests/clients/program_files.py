"""The programs of the registry, each with a file in memory that a test lays out."""

from collections.abc import Iterator

from mcpyard.domain.files import FileText
from mcpyard.formats import editing
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, usable
from mcpyard.formats.registry import CLIENTS
from mcpyard.yard.clients.scope_store import FileScopeStore

AROUND = ClientFolders({}, "/home/u", "/srv/p")
PROGRAMS = [client for client in CLIENTS if client.id != "yard"]


def scopes(client: Client) -> Iterator[FileScopeStore]:
    """The scopes of a program that have a file."""
    for scope in client.scopes:
        if scope.location and usable(scope.location, scope.above, AROUND):
            yield FileScopeStore.of(ClientScopeRef(client, scope, AROUND.project), AROUND)


def laid(store: FileScopeStore, entry: Entry) -> dict[str, FileText]:
    """A file of a scope with one server, called `s`."""
    path = store.candidates[0]
    return {path: FileText(path, editing.write(store.ref, "", "s", entry).text)}
