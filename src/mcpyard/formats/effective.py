"""What becomes of each server in its program: used, switched off, hidden by another, kept out.

A pure function of the texts of the files that decide it. `files_of` names those; whoever calls
reads them, and gives them to `judge`. A file that is broken costs only itself: it is told in the
problems, and counts as absent for all that other files say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.formats.entry_list import Listed
from mcpyard.formats.evaluation import Read, judged, scopes_of
from mcpyard.formats.facts import Client, ClientScope, Effective, Location
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, filled, usable
from mcpyard.formats.texts import ParsedFiles, Text

__all__ = (
    "Effective",
    "Evaluation",
    "ScopeFile",
    "ServerStatus",
    "Text",
    "files_of",
    "judge",
    "standings",
)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server of a file, and what becomes of it.

    Attributes:
        spot: The client and the scope, with the shape its file is in.
        listed: The server as it stands in the file, which is `listed.place.file`.
        state: What becomes of it.
        reason: Why, as a sentence; empty for one that is used as it stands.
        where: What decides it, where a file does.
    """

    spot: ClientScopeRef
    listed: Listed
    state: Effective
    reason: str = ""
    where: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """A file of a scope; an absent one is given only where the scope has no other.

    Attributes:
        spot: The client and the scope, with the shape the file is in.
        path: Where it is, or would be created.
        exists: Whether there is such a file, readable or not.
        standings: Its servers, in the order of the file.
        problems: What keeps us, or the program, from reading it, with line and column.
    """

    spot: ClientScopeRef
    path: str
    exists: bool
    standings: tuple[ServerStatus, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All files of a client's servers, and the problems of the files that decide besides."""

    files: tuple[ScopeFile, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def standings(self) -> tuple[ServerStatus, ...]:
        """The servers of all files."""
        return tuple(standing for file in self.files for standing in file.standings)


def files_of(client: Client, around: ClientFolders) -> tuple[str, ...]:
    """The paths of all files that must be looked at to judge a client's servers."""
    paths: dict[str, None] = {}
    for scope in scopes_of(client, around):
        for location in _locations(scope):
            if usable(location, (), around):
                paths |= dict.fromkeys(candidates(location, around))
    return tuple(paths)


def standings(
    client: Client, around: ClientFolders, texts: Mapping[str, Text]
) -> tuple[ServerStatus, ...]:
    """The servers of a client and what becomes of each; `judge` tells the problems too."""
    return judge(client, around, texts).standings


def judge(client: Client, around: ClientFolders, texts: Mapping[str, Text]) -> Evaluation:
    """Judge a client's servers; `texts` has the files of `files_of` by their paths."""
    shelf = shelf_of(client, around, texts)
    files = judged(client, around, shelf)
    own = {file.path for file in files}
    others = (problem for path, problem in shelf.problems.items() if path not in own)
    besides = tuple(problem for found in others for problem in found)
    return Evaluation(tuple(map(_finished, _worth_telling(files))), besides)


def shelf_of(client: Client, around: ClientFolders, texts: Mapping[str, Text]) -> ParsedFiles:
    """The files that decide about a client's servers, all of them parsed."""
    above = (filled(scope.above, around.project) for scope in client.scopes)
    shelf = ParsedFiles(texts, max(above, key=len))
    for path in files_of(client, around):
        shelf.open(path)
    return shelf


def _locations(scope: ClientScope) -> Iterator[Location]:
    """The files of a scope: its servers, their switch, and what else decides."""
    for location in (scope.location, scope.switch.file):
        if location:
            yield location
    for gate in scope.gates:
        for clue in (*gate.shuts, *gate.opens):
            yield from clue.files


def _worth_telling(files: list[Read]) -> list[Read]:
    """The files that exist, and where a scope has none the one that would be created."""
    scopes = {file.spot.scope.name for file in files if file.exists}
    worth: list[Read] = []
    for file in files:
        scope = file.spot.scope.name
        if file.exists or scope not in scopes:
            scopes.add(scope)
            worth.append(file)
    return worth


def _finished(file: Read) -> ScopeFile:
    standing = tuple(
        ServerStatus(file.spot, listed, verdict.state, verdict.reason, verdict.where)
        for listed in file.listing.servers
        for verdict in (file.verdicts[listed.name],)
    )
    return ScopeFile(file.spot, file.path, file.exists, standing, file.listing.problems)
