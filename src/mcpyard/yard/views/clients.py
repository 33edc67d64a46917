"""The servers of other programs, and what is done to them, as the faces show it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mcpyard.domain.definition.secret_text import shown_args, shown_text, shown_url
from mcpyard.domain.errors import Problem
from mcpyard.domain.stored import EditEntry
from mcpyard.formats.drift import Drift, Variant
from mcpyard.formats.effective import Effective, ScopeFile
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.fields import OAUTH_FIELDS
from mcpyard.formats.finding import Level
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.provenance import Evidence
from mcpyard.formats.warnings import WarningKind
from mcpyard.yard.clients.edit_results import Copied, Done, EntryStatus
from mcpyard.yard.masking import shown_values
from mcpyard.yard.views.base import (
    FileDiff,
    Moment,
    PlacedProblem,
    PlaceView,
    View,
    moment,
    view_of,
)

Pairs: TypeAlias = dict[str, Annotated[object, Meta(extra={"schema": "Pair"})]]
ImportOutcome: TypeAlias = Literal["imported", "importable", "refused", "skipped"]
FilePath: TypeAlias = Annotated[
    str, Meta(description="Its file; `yard:user` is the user scope of mcpyard.")
]
Limit: TypeAlias = Annotated[float, Meta(gt=0)]
Number: TypeAlias = Annotated[int, Meta(ge=1)]


class EntryBrief(View, frozen=True, kw_only=True):
    """A server in the list of a program's file."""

    name: str
    command: str | None
    args: list[str] | None
    url: str | None
    enabled: Annotated[bool, Meta(description="Whether it is switched on.")]
    effective: Annotated[Effective, Meta(description="What becomes of it in its program.")]
    reason: Annotated[str, Meta(description="Why.")]


class ScopeView(View, frozen=True, kw_only=True):
    """A scope of a client with its servers."""

    client: str
    title: str
    scope: str
    path: FilePath
    evidence: Annotated[
        Evidence,
        Meta(description="How its file and fields were verified; `documentation`: they were not."),
    ]
    version: Annotated[str, Meta(description="The version of the program that was run or read.")]
    verified: Annotated[
        bool, Meta(description="Whether it is written without the option `unverified`.")
    ]
    exists: bool
    servers: list[EntryBrief]
    problems: list[PlacedProblem]


class EntryView(View, frozen=True, kw_only=True):
    """A server with everything that its program's file says of it."""

    client: str
    title: str
    scope: str
    path: FilePath
    name: str
    command: str | None
    args: list[str] | None
    url: str | None
    enabled: Annotated[bool, Meta(description="Whether it is switched on.")]
    effective: Annotated[Effective, Meta(description="What becomes of it in its program.")]
    reason: Annotated[str, Meta(description="Why.")]
    type: EntryTransport | None
    env: Pairs | None
    cwd: str | None
    headers: Pairs | None
    timeout: Annotated[Limit | None, Meta(description="Milliseconds of a call.")]
    start_timeout: Annotated[Limit | None, Meta(description="Milliseconds of a start.")]
    only_tools: list[str] | None
    except_tools: list[str] | None
    env_vars: list[str] | None
    env_headers: dict[str, str] | None
    bearer_token_env_var: str | None
    oauth: list[Annotated[str, Meta(description="A field for the sign-in that it has.")]]
    unknown: list[Annotated[str, Meta(description="A field that is not known of its program.")]]
    where: PlaceView | None
    problems: list[PlacedProblem]


class WarningView(View, frozen=True, kw_only=True):
    """What became of a field that was copied or changed."""

    kind: WarningKind
    field: str
    message: str


class ChangeView(View, frozen=True, kw_only=True):
    """What an operation did, or would do."""

    files: list[FileDiff]
    warnings: list[WarningView]
    edit: Annotated[Number | None, Meta(description="The number to undo it by.")]
    removes: (
        list[Annotated[str, Meta(description="A server of mcpyard that an undo removes.")]]
        | UnsetType
    ) = UNSET


class CopiedView(View, frozen=True, kw_only=True):
    """What became of one of several copies."""

    name: str
    target: Annotated[str, Meta(description="The client and its scope.")] = msgspec.field(name="to")
    warnings: list[WarningView]
    refused: Annotated[str | None, Meta(description="Why there is no copy.")]


class CopiesView(View, frozen=True, kw_only=True):
    """What several copies did, or would do."""

    files: list[FileDiff]
    copies: list[CopiedView]
    warnings: Annotated[list[WarningView], Meta(description="What is to be told of the files.")]
    edit: Annotated[Number | None, Meta(description="The number to undo all of them by.")]


class SecretView(View, frozen=True, kw_only=True):
    """A token that is shown once."""

    variable: Annotated[str, Meta(description="Where the program looks for it.")]
    value: str


class ConnectView(View, frozen=True, kw_only=True):
    """What connecting a program did, or would do."""

    files: list[FileDiff]
    warnings: list[WarningView]
    edit: Annotated[int | None, Meta(description="The number to undo it by.")]
    token: SecretView | None


class EditView(View, frozen=True, kw_only=True):
    """Edits that were made together."""

    id: Number
    at: Moment
    who: str
    kind: str
    paths: list[str]
    servers: list[Annotated[str, Meta(description="A server that it concerns.")]]
    undone: bool


class FindingView(View, frozen=True, kw_only=True):
    """Something that a check found."""

    code: Annotated[str, Meta(description="The rule.")]
    level: Level
    client: str
    scope: str
    name: str
    place: PlaceView | None
    message: str
    hint: str


class VariantPlace(View, frozen=True, kw_only=True):
    """A file that has a variant of a server."""

    client: str
    scope: str
    path: str
    effective: Effective


class VariantView(View, frozen=True, kw_only=True):
    """One of the definitions that stand under a name."""

    places: list[VariantPlace] = msgspec.field(name="in")
    values: dict[str, str]


class ImportView(View, frozen=True, kw_only=True):
    """A server that was found in a program's file, and what became of it."""

    name: str
    source: Annotated[str, Meta(description="Where it was found.")] = msgspec.field(name="from")
    outcome: ImportOutcome
    reason: str
    warnings: list[str]


class DriftView(View, frozen=True, kw_only=True):
    """A server that is not defined alike everywhere."""

    name: str
    variants: list[VariantView]


def scope_view(
    ref: ClientScopeRef,
    path: str,
    servers: Iterable[EntryStatus],
    problems: Sequence[Problem],
    *,
    exists: bool,
) -> ScopeView:
    """The view of a scope."""
    return ScopeView(
        client=ref.client.id,
        title=ref.client.title,
        scope=ref.scope.name,
        path=path,
        evidence=ref.provenance.evidence,
        version=ref.provenance.version,
        verified=ref.provenance.verified,
        exists=exists,
        servers=[_brief(each) for each in servers],
        problems=view_of(list[PlacedProblem], problems),
    )


def file_view(file: ScopeFile) -> ScopeView:
    """The view of a file."""
    entries = map(EntryStatus.of, file.statuses)
    return scope_view(file.ref, file.path, entries, file.problems, exists=file.exists)


def definition_views(problems: Sequence[Problem]) -> list[ScopeView]:
    """The views of the files that should define clients, and do not."""
    files: dict[str, list[Problem]] = {}
    for problem in problems:
        files.setdefault(problem.place.file if problem.place else "", []).append(problem)
    return [
        ScopeView(
            client=file.rpartition("/")[2].removesuffix(".toml"),
            title=file.rpartition("/")[2],
            scope="definition",
            path=file,
            evidence=Evidence.DOCUMENTATION,
            version="",
            verified=False,
            exists=True,
            servers=[],
            problems=view_of(list[PlacedProblem], wrong),
        )
        for file, wrong in files.items()
    ]


def entry_view(ref: ClientScopeRef, path: str, entry_status: EntryStatus) -> EntryView:
    """The view of a server in a program's file."""
    entry = entry_status.entry or Entry()
    return EntryView(
        **msgspec.structs.asdict(_brief(entry_status)),
        client=ref.client.id,
        title=ref.client.title,
        scope=ref.scope.name,
        path=path,
        type=entry.type,
        env=_pairs(entry.env),
        cwd=entry.cwd,
        headers=_pairs(entry.headers),
        timeout=entry.call_timeout,
        start_timeout=entry.start_timeout,
        only_tools=_list(entry.only_tools),
        except_tools=_list(entry.except_tools),
        env_vars=_list(entry.env_vars),
        env_headers=None if entry.env_headers is None else dict(entry.env_headers),
        bearer_token_env_var=entry.bearer,
        oauth=[ref.shape.field_names[name] for name in entry.set_fields() if name in OAUTH_FIELDS],
        unknown=sorted(entry.unknown),
        where=view_of(PlaceView, entry_status.where) if entry_status.where else None,
        problems=view_of(list[PlacedProblem], entry_status.problems),
    )


def change_view(done: Done) -> ChangeView:
    """The view of what an operation did."""
    return ChangeView(
        files=[FileDiff(path=path, diff=diff) for path, diff in done.files],
        warnings=view_of(list[WarningView], done.warnings),
        edit=done.edit,
        removes=UNSET if done.removes is None else [*done.removes],
    )


def copies_view(done: Done, copied: Iterable[Copied]) -> CopiesView:
    """The view of what several copies did."""
    copies = [
        CopiedView(
            name=each.name,
            target=each.target,
            warnings=view_of(list[WarningView], each.warnings),
            refused=None if each.error is None else each.error.message,
        )
        for each in copied
    ]
    return CopiesView(
        files=change_view(done).files,
        copies=copies,
        warnings=view_of(list[WarningView], done.overwritten),
        edit=done.edit,
    )


def connect_view(done: Done, token: SecretView | None) -> ConnectView:
    """The view of what connecting a program did."""
    view = change_view(done)
    return ConnectView(files=view.files, warnings=view.warnings, edit=view.edit, token=token)


def drift_view(drift: Drift) -> DriftView:
    """The view of a drift."""
    return DriftView(name=drift.name, variants=[_variant(each) for each in drift.variants])


def edit_view(entries: Sequence[EditEntry], servers: Iterable[str]) -> EditView:
    """The view of edits that were made together, and of the servers that they concern."""
    first = entries[0]
    return EditView(
        id=first.unit,
        at=moment(first.at),
        who=first.who,
        kind=first.kind,
        paths=[each.path for each in entries],
        servers=sorted(servers),
        undone=first.undone,
    )


def _brief(entry_status: EntryStatus) -> EntryBrief:
    entry = entry_status.entry or Entry()
    return EntryBrief(
        name=entry_status.name,
        command=None if entry.command is None else shown_text(entry.command),
        args=None if entry.args is None else shown_args(entry.args),
        url=None if entry.url is None else shown_url(entry.url),
        enabled=entry_status.enabled,
        effective=entry_status.state,
        reason=entry_status.reason,
    )


def _variant(variant: Variant) -> VariantView:
    return VariantView(
        places=[
            VariantPlace(
                client=each.ref.client.id,
                scope=each.ref.scope.name,
                path=each.listed.place.file,
                effective=each.state,
            )
            for each in variant.statuses
        ],
        values=dict(variant.values),
    )


def _pairs(values: Mapping[str, str] | None) -> Pairs | None:
    return None if values is None else shown_values(values)


def _list(values: Iterable[str] | None) -> list[str] | None:
    return None if values is None else [*values]
