"""Every client there is, by id and by the words of a command: `claude:project`."""

from collections.abc import Mapping
from typing import Final

from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.files import FileLock
from mcpyard.formats.clients import (
    amp,
    claude_code,
    claude_desktop,
    cline,
    codex,
    copilot,
    cursor,
    gemini,
    kiro,
    opencode,
    qwen,
    roo,
    vscode,
    windsurf,
    yard,
    zed,
)
from mcpyard.formats.facts import Client, ClientScope
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates

CLIENTS: Final[tuple[Client, ...]] = (
    claude_code.CLIENT,
    codex.CLIENT,
    gemini.CLIENT,
    opencode.CLIENT,
    copilot.CLIENT,
    claude_desktop.CLIENT,
    cursor.CLIENT,
    vscode.CLIENT,
    windsurf.CLIENT,
    zed.CLIENT,
    qwen.CLIENT,
    cline.CLIENT,
    roo.CLIENT,
    kiro.CLIENT,
    amp.CLIENT,
    yard.CLIENT,
)

_BY_WORD: Final[Mapping[str, Client]] = {
    word: client for client in CLIENTS for word in (client.id, *client.aliases)
}


def client_of(word: str) -> Client:
    """A client by its id or an alias."""
    if word not in _BY_WORD:
        ids = ", ".join(client.id for client in CLIENTS)
        problem = Problem("client", f'"{word[:40]}" is unknown; expected one of {ids}')
        raise ArgumentsRefused.of(problem).advising("List the clients: mcpyard clients ls")
    return _BY_WORD[word]


def scope_ref_of(words: str, project: str = "") -> ClientScopeRef:
    """A client and a scope by words such as `claude:project`; its first scope where none is."""
    word, _, scope = words.partition(":")
    client = client_of(word)
    return ClientScopeRef(client, _scope(client, scope), project)


def program_locks(host: ClientFolders) -> dict[str, FileLock]:
    """The locks that programs take to write their own files, by the file."""
    return {
        path: FileLock(kind, template.format(path=path, folder=path.rpartition("/")[0]))
        for client in CLIENTS
        for scope in client.scopes
        if scope.location and scope.location.lock
        for kind, template in (scope.location.lock,)
        for path in candidates(scope.location, host)
    }


def _scope(client: Client, name: str) -> ClientScope:
    for scope in client.scopes:
        if name in {scope.name, ""}:
            return scope
    names = ", ".join(scope.name for scope in client.scopes)
    message = f'{client.title} has no scope "{name[:40]}"; one of {names}'
    problem = Problem("scope", message)
    raise ArgumentsRefused.of(problem).advising("Omit the scope to use the first of these.")
