"""The servers of other programs, and what is done to them, as the faces show it: ready for JSON."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcpyard.domain.definition.merge import shown_url
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.domain.stored import EditEntry
from mcpyard.formats.drift import Drift, Variant
from mcpyard.formats.effective import Effective, ScopeFile, ServerStatus
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import Field
from mcpyard.formats.finding import Finding
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned
from mcpyard.yard.clients.masking import shown_values
from mcpyard.yard.clients.patching import WORDS
from mcpyard.yard.records import Record

_MASKED = frozenset({Field.ENV, Field.HEADERS})


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation did, or would do.

    Attributes:
        files: Each file that is different, as a path and a difference.
        warnings: What is to be told.
        edit: The number to undo it by; None where nothing was written.
        removes: The servers of the yard that an undo takes out; None for what is no undo.
    """

    files: tuple[tuple[str, str], ...]
    warnings: tuple[Warned, ...] = ()
    edit: int | None = None
    removes: tuple[str, ...] | None = None

    @property
    def record(self) -> Record:
        """As it is shown."""
        told: Record = {
            "files": [{"path": path, "diff": diff} for path, diff in self.files],
            "warnings": [warning_record(each) for each in self.warnings],
            "edit": self.edit,
        }
        return told if self.removes is None else told | {"removes": [*self.removes]}


@dataclass(frozen=True, slots=True)
class Shown:
    """A server to be shown: what it says, and what becomes of it."""

    name: str
    entry: Entry | None
    state: Effective
    reason: str = ""
    where: SourceLocation | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, standing: ServerStatus) -> "Shown":
        """A server of a file."""
        listed = standing.listed
        return cls(
            listed.name,
            listed.entry,
            standing.state,
            standing.reason,
            # Where nothing else decides, the entry itself does.
            standing.where or listed.place,
            listed.problems,
        )

    @property
    def enabled(self) -> bool:
        """Whether it is switched on, whatever else keeps it from being used."""
        on = self.entry is None or self.entry.enabled is not False
        return on and self.state is not Effective.DISABLED


def own_shown(server: DesiredServer, entry: Entry) -> Shown:
    """A server of the yard itself."""
    if server.held:
        reason = "the project file needs approval: mcpyard approve"
        return Shown(server.name, entry, Effective.UNTRUSTED, reason, server.place)
    state = Effective.ENABLED if server.config.enabled else Effective.DISABLED
    return Shown(server.name, entry, state, "", server.place)


def group_record(
    spot: ClientScopeRef, path: str, servers: Iterable[Shown], *, exists: bool
) -> Record:
    """A scope of a client with its servers."""
    return {
        "client": spot.client.id,
        "title": spot.client.title,
        "scope": spot.scope.name,
        "path": path,
        "exists": exists,
        "servers": [brief_record(each) for each in servers],
        "problems": [],
    }


def file_record(file: ScopeFile) -> Record:
    """A file of a client with its servers."""
    shown = map(Shown.of, file.standings)
    told = [problem_record(each) for each in file.problems]
    return group_record(file.spot, file.path, shown, exists=file.exists) | {"problems": told}


def brief_record(shown: Shown) -> Record:
    """A server in a list."""
    entry = shown.entry or Entry()
    return {
        "name": shown.name,
        "command": entry.command,
        "args": None if entry.args is None else [*entry.args],
        "url": None if entry.url is None else shown_url(entry.url),
        "enabled": shown.enabled,
        "effective": str(shown.state),
        "reason": shown.reason,
    }


def full_record(spot: ClientScopeRef, path: str, shown: Shown) -> Record:
    """A server with everything that its file says of it."""
    entry = shown.entry or Entry()
    return {
        "client": spot.client.id,
        "title": spot.client.title,
        "scope": spot.scope.name,
        "path": path,
        **brief_record(shown),
        **{word: _shown(name, getattr(entry, name)) for name, word in WORDS.items()},
        "unknown": sorted(entry.unknown),
        "where": None if shown.where is None else place_record(shown.where),
        "problems": [problem_record(each) for each in shown.problems],
    }


def warning_record(warned: Warned) -> Record:
    """Something to tell."""
    return {"kind": str(warned.kind), "field": warned.field, "message": warned.message}


def problem_record(problem: Problem) -> Record:
    """Something wrong."""
    place = None if problem.place is None else place_record(problem.place)
    return {"field": problem.field, "message": problem.message, "place": place}


def place_record(place: SourceLocation) -> Record:
    """Where something stands."""
    return {"file": place.file, "line": place.line, "column": place.column}


def finding_record(finding: Finding) -> Record:
    """Something that a check found."""
    return {
        "code": finding.code,
        "level": str(finding.level),
        "client": finding.client,
        "scope": finding.scope,
        "name": finding.name,
        "place": None if finding.place is None else place_record(finding.place),
        "message": finding.message,
        "hint": finding.hint,
    }


def drift_record(drift: Drift) -> Record:
    """A server that is not defined alike everywhere."""
    return {"name": drift.name, "variants": [_variant_record(each) for each in drift.variants]}


def edit_record(found: Sequence[EditEntry], servers: Iterable[str]) -> Record:
    """The edits that were made together, and the servers that they concern."""
    first = found[0]
    return {
        "id": first.unit,
        "at": first.at.isoformat(timespec="milliseconds"),
        "who": first.who,
        "kind": first.kind,
        "paths": [each.path for each in found],
        "servers": sorted(servers),
        "undone": first.undone,
    }


def _variant_record(variant: Variant) -> Record:
    return {
        "in": [
            {
                "client": each.spot.client.id,
                "scope": each.spot.scope.name,
                "path": each.listed.place.file,
                "effective": str(each.state),
            }
            for each in variant.standings
        ],
        "values": dict(variant.values),
    }


def _shown(name: Field, value: object) -> object:
    if name in _MASKED and isinstance(value, Mapping):
        return shown_values(value)  # pyright: ignore[reportUnknownArgumentType]  an entry's pairs are texts
    if name is Field.URL and isinstance(value, str):
        return shown_url(value)
    if isinstance(value, tuple):
        return [*value]  # pyright: ignore[reportUnknownVariableType]  an entry's lists are texts
    return value
