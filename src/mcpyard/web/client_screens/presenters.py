"""What there is to see of other programs' servers: by program, and as a table of all."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from mcpyard.formats.effective import Effective
from mcpyard.web.badges import EFFECTIVE, StatusBadge
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.views.base import PlacedProblem, PlaceView
from mcpyard.yard.views.clients import EntryBrief, ScopeView

OWN: Final = "yard"
"""The yard among the programs."""


@dataclass(frozen=True, slots=True)
class EntryCard:
    """A server of a program's file; `reason` is empty for one that is used as it stands."""

    at: str
    name: str
    line: str
    enabled: bool
    badge: StatusBadge
    reason: str

    @property
    def id(self) -> str:
        """What its row is known by on the page."""
        return digest_of(self.at, self.name)


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file of a program, there or to be; `at` names the program and the scope."""

    at: str
    client: str
    title: str
    scope: str
    path: str
    exists: bool
    entries: tuple[EntryCard, ...]
    problems: tuple[str, ...]
    evidence: str = "documentation"
    version: str = ""

    @property
    def own(self) -> bool:
        """Whether it is the yard's."""
        return self.client == OWN


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its files."""

    client: str
    title: str
    places: tuple[ProgramFile, ...]

    @property
    def present(self) -> bool:
        """Whether there is anything of it on the machine."""
        return any(each.exists for each in self.places)

    @property
    def count(self) -> int:
        """How many servers it has."""
        return sum(len(each.entries) for each in self.places)


async def places_of(
    clients: Clients, own: Mapping[str, StatusBadge] | None = None
) -> list[ProgramFile]:
    """Every file of every program; `own` are the badges of the yard's servers, by name."""
    return [_place(each, own or {}) for each in await clients.groups()]


def programs_of(places: Iterable[ProgramFile]) -> list[Program]:
    """The files, by the program they belong to."""
    files: dict[str, list[ProgramFile]] = {}
    for each in places:
        files.setdefault(each.client, []).append(each)
    return [Program(client, each[0].title, tuple(each)) for client, each in files.items()]


def effective_badge(effective: str, own: StatusBadge | None) -> StatusBadge:
    """What becomes of a server; of one of the yard's own that is in force, how it is."""
    return own if own and effective == Effective.ENABLED else EFFECTIVE[effective]


def digest_of(*parts: object) -> str:
    """A short name for anything."""
    text = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def line_of(server: EntryBrief) -> str:
    """What a server runs, or its address."""
    return server.url or " ".join([server.command or "", *(server.args or ())])


def problem_line(problem: PlacedProblem) -> str:
    """A problem with where it is."""
    place = problem.place
    return f"{place_line(place)}: {problem.message}" if place else problem.message


def place_line(place: PlaceView) -> str:
    """A place in a file, as editors write it."""
    return f"{place.file}:{place.line}"


def _place(group: ScopeView, own: Mapping[str, StatusBadge]) -> ProgramFile:
    at = f"{group.client}:{group.scope}"
    badges: Mapping[str, StatusBadge] = own if group.client == OWN else {}
    return ProgramFile(
        at=at,
        client=group.client,
        title=group.title,
        scope=group.scope,
        path=group.path,
        exists=group.exists,
        entries=tuple(_entry(at, each, badges) for each in group.servers),
        problems=tuple(map(problem_line, group.problems)),
        evidence=group.evidence,
        version=group.version,
    )


def _entry(at: str, server: EntryBrief, own: Mapping[str, StatusBadge]) -> EntryCard:
    return EntryCard(
        at=at,
        name=server.name,
        line=line_of(server),
        enabled=server.enabled,
        badge=effective_badge(server.effective, own.get(server.name)),
        reason=server.reason,
    )
