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
)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server of a file, what becomes of it and why, and where a file decides that.

    The file is `listed.place.file`; there is no reason for one that is used as it stands.
    """

    ref: ClientScopeRef
    listed: Listed
    state: Effective
    reason: str = ""
    where: SourceLocation | None = None


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """A file of a scope; an absent one is given only where the scope has no other.

    Its problems keep us, or the program, from reading it.
    """

    ref: ClientScopeRef
    path: str
    exists: bool
    statuses: tuple[ServerStatus, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All files of a client's servers, and the problems of the files that decide besides."""

    files: tuple[ScopeFile, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def statuses(self) -> tuple[ServerStatus, ...]:
        """The servers of all files."""
        return tuple(status for file in self.files for status in file.statuses)


def files_of(client: Client, host: ClientFolders) -> tuple[str, ...]:
    """The paths of all files that must be looked at to judge a client's servers."""
    paths: dict[str, None] = {}
    for scope in scopes_of(client, host):
        for location in _locations(scope):
            if usable(location, (), host):
                paths |= dict.fromkeys(candidates(location, host))
    return tuple(paths)


def judge(client: Client, host: ClientFolders, texts: Mapping[str, Text]) -> Evaluation:
    """Judge a client's servers; `texts` has the files of `files_of` by their paths."""
    parsed_files = parse_files(client, host, texts)
    files = judged(client, host, parsed_files)
    own = {file.path for file in files}
    others = (problem for path, problem in parsed_files.problems.items() if path not in own)
    besides = tuple(problem for problems in others for problem in problems)
    return Evaluation(tuple(map(_finished, _worth_telling(files))), besides)


def parse_files(client: Client, host: ClientFolders, texts: Mapping[str, Text]) -> ParsedFiles:
    """The files that decide about a client's servers, all of them parsed."""
    above = (filled(scope.above, host.project) for scope in client.scopes)
    parsed_files = ParsedFiles(texts, max(above, key=len), client.format)
    for path in files_of(client, host):
        parsed_files.open(path)
    return parsed_files


def _locations(scope: ClientScope) -> Iterator[Location]:
    """The files of a scope: its servers, their switch, and what else decides."""
    for location in (scope.location, scope.switch.file):
        if location:
            yield location
    for rule in scope.rules:
        for condition in rule.conditions:
            yield from condition.files


def _worth_telling(files: list[Read]) -> list[Read]:
    """The files that exist, and where a scope has none the one that would be created."""
    scopes = {file.ref.scope.name for file in files if file.exists}
    worth: list[Read] = []
    for file in files:
        scope = file.ref.scope.name
        if file.exists or scope not in scopes:
            scopes.add(scope)
            worth.append(file)
    return worth


def _finished(file: Read) -> ScopeFile:
    status = tuple(
        ServerStatus(file.ref, listed, verdict.state, verdict.reason, verdict.where)
        for listed in file.listing.servers
        for verdict in (file.verdicts[listed.name],)
    )
    return ScopeFile(file.ref, file.path, file.exists, status, file.listing.problems)
