"""A sync as the faces show it: servers by programs, and what changes."""

from typing import Annotated

from msgspec import Meta

from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import CellState, Choice
from mcpyard.yard.views.base import Count, FileDiff, PlacedProblem, View
from mcpyard.yard.views.clients import Number, WarningView


class SyncSourceView(View, frozen=True, kw_only=True):
    """Where the servers of a sync come from."""

    scope: Annotated[Scope, Meta(description="Of the user, or of a repository.")]
    path: Annotated[str, Meta(description="Its file; `yard:user` is mcpyard itself.")]


class SyncTargetView(View, frozen=True, kw_only=True):
    """A program that is to have servers."""

    target: Annotated[str, Meta(description="The client and its scope: `codex:user`.")]
    client: str
    title: str
    scope: str
    path: Annotated[str, Meta(description="Its file, or the one that would be created.")]
    source: Annotated[Scope, Meta(description="Whose servers it is to have.")]
    gateway: Annotated[bool, Meta(description="Whether it is to have the gateway instead.")]
    problems: Annotated[list[PlacedProblem], Meta(description="Why its file cannot be read.")]


class SyncDifference(View, frozen=True, kw_only=True):
    """What the source and an entry do not say alike; secrets are not shown."""

    field: str
    source: Annotated[str | None, Meta(description="What the source says.")]
    entry: Annotated[str | None, Meta(description="What the entry says.")]


class SyncCellView(View, frozen=True, kw_only=True):
    """A server in a program."""

    server: str
    target: str
    state: CellState
    wanted: Annotated[bool, Meta(description="Whether the source wants it there.")]
    changes: Annotated[bool, Meta(description="Whether its entry is written or removed.")]
    reason: str
    choices: Annotated[
        list[Choice], Meta(description="What can be decided; without a decision it is left alone.")
    ]
    seen: Annotated[str, Meta(description="Stands for the entry as it is; a decision names it.")]
    differences: list[SyncDifference]
    warnings: list[WarningView]


class SyncView(View, frozen=True, kw_only=True):
    """The plan of a sync, or what it did."""

    sources: list[SyncSourceView]
    targets: list[SyncTargetView]
    cells: list[SyncCellView]
    files: list[FileDiff]
    edit: Annotated[Number | None, Meta(description="The number to undo all of it by.")]
    writes: Annotated[Count, Meta(description="Entries that are written or removed.")]
    conflicts: Annotated[Count, Meta(description="Entries that need a decision.")]
    waiting: Annotated[Count, Meta(description="Entries that need approval.")]
    different: Annotated[
        Count, Meta(description="Entries that are not as the source wants them, after this.")
    ]
    warnings: Annotated[list[WarningView], Meta(description="What concerns more than one entry.")]


class SyncAssignmentView(View, frozen=True, kw_only=True):
    """Whether a client is to have a server."""

    server: str
    target: str
    wanted: bool
    source: Annotated[Scope, Meta(description="Whose file decides.")]
    file: Annotated[str, Meta(description="The file that decides.")]
    locked: Annotated[
        str, Meta(description="Why it can be changed only in that file; empty where it can.")
    ]


class SyncMatrixView(View, frozen=True, kw_only=True):
    """Every server and every client that is found: what is wanted, and what is true."""

    plan: SyncView
    file: Annotated[str, Meta(description="The file that assignments of the user are kept in.")]
    assignments: list[SyncAssignmentView]


class AdoptedView(View, frozen=True, kw_only=True):
    """What became of a name that programs have."""

    name: str
    outcome: Annotated[
        str,
        Meta(extra_json_schema={"enum": ["adopted", "present", "conflict", "skipped"]}),
    ]
    targets: list[Annotated[str, Meta(description="A program that has it.")]]
    reason: str


class AdoptionView(View, frozen=True, kw_only=True):
    """What was taken into the source of a sync, or would be."""

    servers: list[AdoptedView]
    files: list[FileDiff]
    edit: Annotated[Number | None, Meta(description="The number to undo all of it by.")]
    conflicts: Annotated[Count, Meta(description="Names that need a decision.")]
    warnings: Annotated[
        list[WarningView],
        Meta(description="What stays in one client, as the source cannot say it."),
    ]
