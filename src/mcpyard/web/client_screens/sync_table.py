"""What there is to see of a sync: servers by clients, what is assigned and what is true."""

from collections.abc import Mapping
from dataclasses import dataclass

from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import CellState
from mcpyard.web.badges import SYNC_STATES, StatusBadge
from mcpyard.web.client_screens.presenters import digest_of, problem_line
from mcpyard.yard.views.sync import (
    SyncAssignmentView,
    SyncCellView,
    SyncMatrixView,
    SyncTargetView,
    SyncView,
)

_ABSENT = frozenset({CellState.MISSING, CellState.DELETED, CellState.WAITING})


@dataclass(frozen=True, slots=True)
class SyncColumn:
    """A client and its scope, with what can be assigned to it here."""

    view: SyncTargetView
    assignments: tuple[SyncAssignmentView, ...] = ()

    @property
    def at(self) -> str:
        """The client and the scope in words."""
        return self.view.target

    @property
    def id(self) -> str:
        """What it is known by on the page."""
        return digest_of(self.at)

    @property
    def checked(self) -> str:
        """Whether all servers are assigned to it, some, or none: as a checkbox says it."""
        ticks = {each.wanted for each in self.assignments}
        return "mixed" if len(ticks) > 1 else str(True in ticks).lower()

    @property
    def of_project(self) -> bool:
        """Whether the file of a project names it."""
        return self.view.source is Scope.PROJECT

    @property
    def problems(self) -> list[str]:
        """Why its file cannot be read."""
        return [problem_line(each) for each in self.view.problems]


@dataclass(frozen=True, slots=True)
class SyncCard:
    """A server in a client: a tick where it can be assigned, a badge where there is a state."""

    server: str
    at: str
    cell: SyncCellView | None
    assignment: SyncAssignmentView | None

    @property
    def id(self) -> str:
        """What it is known by on the page."""
        return digest_of(self.at, self.server)

    @property
    def badge(self) -> StatusBadge | None:
        """Its state."""
        return SYNC_STATES[self.cell.state] if self.cell else None

    @property
    def assigned(self) -> bool:
        """Whether the client is to have the server."""
        return self.assignment is not None and self.assignment.wanted

    @property
    def there(self) -> bool:
        """Whether the client's file has an entry of that name."""
        return self.cell is not None and bool(self.cell.seen) and self.cell.state not in _ABSENT


@dataclass(frozen=True, slots=True)
class OwnServer:
    """A server of mcpyard; its scope is empty where it is no file's."""

    badge: StatusBadge
    at: str


@dataclass(frozen=True, slots=True)
class SyncRow:
    """A name: how the server of mcpyard is, if it has it, and what each client has."""

    name: str
    own: OwnServer | None
    cards: tuple[SyncCard, ...]

    @property
    def id(self) -> str:
        """What it is known by on the page."""
        return digest_of(self.name)

    @property
    def shared(self) -> bool:
        """Whether it is a server of a project's file."""
        sources = {each.assignment.source for each in self.cards if each.assignment}
        return Scope.PROJECT in sources

    @property
    def details_at(self) -> str:
        """Where its details are; empty where it has none."""
        return self.own.at if self.own else self.origin

    @property
    def origin(self) -> str:
        """Where an entry of that name is; empty where there is none."""
        return next((each.at for each in self.cards if each.there), "")


@dataclass(frozen=True, slots=True)
class SyncTable:
    """Every server and every client, with the file of assignments and that of a project."""

    columns: tuple[SyncColumn, ...]
    rows: tuple[SyncRow, ...]
    plan: SyncView
    file: str

    @property
    def project_file(self) -> str:
        """The file of the project that assigns servers; empty where there is none."""
        paths = [each.path for each in self.plan.sources if each.scope is Scope.PROJECT]
        return next(iter(paths), "")

    @property
    def open_cells(self) -> list[SyncCellView]:
        """What somebody may decide about."""
        return open_cells(self.plan)


def sync_table(matrix: SyncMatrixView, own: Mapping[str, OwnServer]) -> SyncTable:
    """The table; `own` are mcpyard's servers, by name."""
    cells = {(each.server, each.target): each for each in matrix.plan.cells}
    assignments = {(each.server, each.target): each for each in matrix.assignments}
    columns = tuple(
        SyncColumn(
            target,
            tuple(it for it in matrix.assignments if it.target == target.target and not it.locked),
        )
        for target in matrix.plan.targets
    )
    names = sorted({name for name, _ in (*cells, *assignments)}, key=lambda it: (it.casefold(), it))
    rows = [
        SyncRow(
            name,
            own.get(name),
            tuple(
                SyncCard(name, it.at, cells.get((name, it.at)), assignments.get((name, it.at)))
                for it in columns
            ),
        )
        for name in names
    ]
    return SyncTable(columns, tuple(rows), matrix.plan, matrix.file)


def open_cells(plan: SyncView) -> list[SyncCellView]:
    """The cells that somebody may decide about; left alone, they stay as they are."""
    return [each for each in plan.cells if each.choices]
