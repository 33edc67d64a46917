"""Every client there is, by id and by the words of a command: `claude:project`."""

from collections.abc import Iterable, Iterator
from typing import Final

from mcpyard.domain.errors import ArgumentsRefused, DocumentBroken, Problem
from mcpyard.domain.files import FileLock, FileText
from mcpyard.formats.client_definitions import define
from mcpyard.formats.clients import (
    ai_assistant,
    amp,
    antigravity,
    auggie,
    claude_code,
    claude_desktop,
    cline,
    codebuddy,
    codex,
    continue_dev,
    copilot,
    copilot_jetbrains,
    cursor,
    devin,
    droid,
    gemini,
    goose,
    grok,
    hermes,
    junie,
    kilo,
    kimi,
    kiro,
    lmstudio,
    mastracode,
    nanocoder,
    openclaw,
    opencode,
    pi,
    qoder,
    qwen,
    roo,
    rovodev,
    trae,
    vibe,
    vscode,
    warp,
    windsurf,
    yard,
    zed,
)
from mcpyard.formats.facts import Client, ClientScope, Location
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
    kilo.CLIENT,
    qoder.CLIENT,
    auggie.CLIENT,
    openclaw.CLIENT,
    kimi.CLIENT,
    nanocoder.CLIENT,
    droid.CLIENT,
    antigravity.CLIENT,
    pi.CLIENT,
    mastracode.CLIENT,
    junie.CLIENT,
    ai_assistant.CLIENT,
    lmstudio.CLIENT,
    trae.CLIENT,
    warp.CLIENT,
    codebuddy.CLIENT,
    copilot_jetbrains.CLIENT,
    devin.CLIENT,
    rovodev.CLIENT,
    grok.CLIENT,
    vibe.CLIENT,
    goose.CLIENT,
    continue_dev.CLIENT,
    hermes.CLIENT,
    yard.CLIENT,
)


class ClientRegistry:
    """The clients that are known, by id and by the words of a command.

    Attributes:
        clients: All of them, in the order of lists and pages.
        problems: What is wrong with the definitions of clients that could not be used.
    """

    def __init__(self, own: Iterable[Client] = (), problems: Iterable[Problem] = ()) -> None:
        *built_in, yard_itself = CLIENTS
        self.clients = (*built_in, *own, yard_itself)
        self.problems = tuple(problems)
        self._by_word = {
            word: client for client in self.clients for word in (client.id, *client.aliases)
        }

    @classmethod
    def defined_by(cls, files: Iterable[FileText]) -> "ClientRegistry":
        """The clients with those that files describe; a bad file costs only itself."""
        own: list[Client] = []
        problems: list[Problem] = []
        taken = {word for client in CLIENTS for word in (client.id, *client.aliases)}
        for file in files:
            if file.fault or file.text is None:
                problems += [file.fault] if file.fault else []
                continue
            try:
                client = define(file.text, file.path, taken)
            except DocumentBroken as error:
                problems += error.problems
            else:
                own.append(client)
                taken |= {client.id, *client.aliases}
        return cls(own, problems)

    def client_of(self, word: str) -> Client:
        """A client by its id or an alias."""
        if word not in self._by_word:
            raise self._unknown(word)
        return self._by_word[word]

    def scope_ref_of(self, words: str, project: str = "") -> ClientScopeRef:
        """A client and a scope by words such as `claude:project`; its first scope where none is."""
        word, _, scope = words.partition(":")
        client = self.client_of(word)
        return ClientScopeRef(client, _scope(client, scope), project)

    def _unknown(self, word: str) -> ArgumentsRefused:
        """The refusal of a word; a client that is described with a mistake is not just unknown."""
        broken = [
            each
            for each in self.problems
            if each.place and each.place.file.rpartition("/")[2] == f"{word}.toml"
        ]
        if broken:
            return ArgumentsRefused.of(*broken).advising("Correct the description of the client.")
        ids = ", ".join(client.id for client in self.clients)
        problem = Problem("client", f'"{word[:40]}" is unknown; expected one of {ids}')
        # Any of the broken descriptions may be the one that has this id.
        refusal = ArgumentsRefused.of(problem, *self.problems)
        return refusal.advising("List the clients: mcpyard clients ls")

    def program_locks(self, host: ClientFolders) -> dict[str, FileLock]:
        """The locks that programs take to write their own files, by the file."""
        return {
            path: FileLock(kind, template.format(path=path, folder=path.rpartition("/")[0]))
            for client in self.clients
            for scope in client.scopes
            if scope.location and scope.location.lock
            for kind, template in (scope.location.lock,)
            for path in candidates(scope.location, host)
        }

    def settling_times(self, host: ClientFolders) -> dict[str, float]:
        """How long programs that take no lock may write back what they read before, by the file."""
        return {
            path: scope.location.settles
            for client in self.clients
            for scope in client.scopes
            if scope.location and scope.location.settles
            for path in candidates(scope.location, host)
        }

    def entry_maps(self, path: str) -> frozenset[tuple[str, ...]]:
        """Where the entries are in a file of programs, whatever project it belongs to."""
        return frozenset(
            (*scope.above, *shape.keys)
            for client in self.clients
            for scope in client.scopes
            if scope.location and any(path.endswith(end) for end in _ends(scope.location))
            for shape in ClientScopeRef(client, scope).client.shapes
        )


BUILT_IN: Final = ClientRegistry()
client_of: Final = BUILT_IN.client_of
scope_ref_of: Final = BUILT_IN.scope_ref_of


def _scope(client: Client, name: str) -> ClientScope:
    for scope in client.scopes:
        if name in {scope.name, ""}:
            return scope
    names = ", ".join(scope.name for scope in client.scopes)
    message = f'{client.title} has no scope "{name[:40]}"; one of {names}'
    problem = Problem("scope", message)
    raise ArgumentsRefused.of(problem).advising("Omit the scope to use the first of these.")


def _ends(location: Location) -> Iterator[str]:
    """How the paths of a file end, wherever its folder is."""
    templates = *location.templates, *(location.moved or ("", ()))[1]
    return filter(None, (template.rpartition("}")[2] for template in templates))
