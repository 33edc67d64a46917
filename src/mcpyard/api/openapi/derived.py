"""Schemas derived from types: of answers from the views, of bodies from what routes read."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, Final

from msgspec import NODEFAULT, inspect
from pydantic import BaseModel

from mcpyard.api import bodies
from mcpyard.api.bodies import Body
from mcpyard.api.openapi.builders import NULL, Json, array, maybe, members, named, ref, text
from mcpyard.domain.model import OAuthClient
from mcpyard.domain.narrowing import is_object, list_of, object_of
from mcpyard.yard.profiles import ToolOverride
from mcpyard.yard.views import (
    access,
    approvals,
    base,
    calls,
    charts,
    clients,
    cluster,
    content,
    imports,
    problems,
    secrets,
    servers,
    sync,
)

COMPONENTS: Final[Mapping[str, type[object]]] = {
    "Cause": servers.CauseView,
    "Server": servers.ServerView,
    "Revealed": servers.RevealedView,
    "Tool": servers.ToolView,
    "LogLine": calls.LogLineView,
    "Resource": content.ResourceView,
    "ResourceTemplate": content.ResourceTemplateView,
    "ResourceContents": content.ContentsView,
    "Prompt": content.PromptView,
    "PromptArgument": content.PromptArgumentView,
    "FilledPrompt": content.FilledPromptView,
    "Completion": content.CompletionView,
    "LogLevel": content.LogLevelView,
    "Parsed": imports.ParsedView,
    "Imported": imports.ImportedView,
    "MachineImport": imports.MachineImport,
    "PastedImport": imports.PastedImport,
    "Trial": servers.TrialView,
    "Calls": calls.CallPage,
    "Call": calls.CallView,
    "CallsChart": charts.CallsChartView,
    "UsageChart": charts.UsageChartView,
    "TokensChart": charts.TokensChartView,
    "TokenCost": charts.TokenCostView,
    "CallDetails": calls.CallDetailsView,
    "RecordedText": calls.RecordedTextView,
    "CallCommands": calls.CallCommandsView,
    "Recording": calls.RecordingView,
    "Cleared": calls.ClearedView,
    "SignIn": access.SignInView,
    "Alive": problems.AliveView,
    "Readiness": problems.ReadinessView,
    "Degradation": problems.DegradationView,
    "Health": problems.HealthyView,
    "Sickness": problems.UnhealthyView,
    "FieldProblem": base.FieldProblem,
    "Problem": problems.ProblemView,
    "Token": access.TokenView,
    "MadeToken": access.NewTokenView,
    "Revocation": access.RevocationView,
    "LoginLink": access.LoginLinkView,
    "Ticket": access.TicketView,
    "WaitingFolder": approvals.WaitingFolderView,
    "WaitingServer": approvals.WaitingServerView,
    "Approved": approvals.ApprovedView,
    "Profile": access.ProfileView,
    "SeenClient": access.SeenClientView,
    "StoredSecret": secrets.StoredSecretView,
    "SecretChange": secrets.SecretChangeView,
    "SecretBody": bodies.SecretBody,
    "Cluster": cluster.ClusterView,
    "Placement": cluster.PlacementView,
    "PlacedServer": cluster.PlacedServerView,
    "NodeReason": cluster.NodeReasonView,
    "ClusterEvent": cluster.ClusterEventView,
    "MovePlan": cluster.MovePlanView,
    "PlannedMove": cluster.PlannedMoveView,
    "Move": bodies.MoveBody,
    "ClientGroup": clients.ScopeView,
    "ClientServer": clients.EntryView,
    "Place": base.PlaceView,
    "PlacedProblem": base.PlacedProblem,
    "FileDiff": base.FileDiff,
    "Warned": clients.WarningView,
    "Done": clients.ChangeView,
    "Copies": clients.CopiesView,
    "Copied": clients.CopiedView,
    "Edit": clients.EditView,
    "Finding": clients.FindingView,
    "Drift": clients.DriftView,
    "Connected": clients.ConnectView,
    "CallSecret": clients.SecretView,
    "Pasted": bodies.PastedBody,
    "Import": bodies.ImportBody,
    "Copy": bodies.CopyBody,
    "CopyMany": bodies.CopiesBody,
    "Undo": bodies.UndoBody,
    "SyncRequest": bodies.SyncBody,
    "AdoptRequest": bodies.AdoptBody,
    "SyncApproval": bodies.SyncApprovalBody,
    "AssignmentsRequest": bodies.AssignmentsBody,
    "AssignmentRequest": bodies.AssignmentBody,
    "Decision": bodies.DecisionBody,
    "Sync": sync.SyncView,
    "SyncCell": sync.SyncCellView,
    "SyncTarget": sync.SyncTargetView,
    "SyncMatrix": sync.SyncMatrixView,
    "SyncAssignment": sync.SyncAssignmentView,
    "Adoption": sync.AdoptionView,
    "Connect": bodies.ConnectBody,
    "Disconnect": bodies.DisconnectBody,
    "Approval": bodies.ApprovalBody,
    "NewToken": bodies.TokenBody,
    "Asked": bodies.ToolCallBody,
    "PromptArguments": bodies.PromptBody,
    "ArgumentToComplete": bodies.CompleteBody,
    "NewLogLevel": bodies.LogLevelBody,
    "RecordingMode": bodies.RecordingBody,
    "ToolView": ToolOverride,
}
"""The types that have a name of their own in the document; any other stands where it is used."""

_NAMES: Final = {kind: name for name, kind in COMPONENTS.items()}

_OMITTED: Final = {"title", "default", "description"}
_BOUNDS: Final = {"gt": "exclusiveMinimum", "ge": "minimum", "le": "maximum"}
"""Bounds that pydantic leaves in words of its own, behind a validator."""

_BARE: Final[Mapping[type, Json]] = {inspect.BoolType: {"type": "boolean"}, inspect.NoneType: NULL}


def oauth(value: Json) -> Json:
    """Our registration at an authorization server."""
    # Other programs that share a file have words of their own in there, which are passed over.
    names = (info.alias or name for name, info in OAuthClient.model_fields.items())
    return {"type": "object", "properties": dict.fromkeys(names, value)}


_WRITTEN: Final[Mapping[str, Json]] = {
    "OAuth": oauth(ref("Shown")),
    "OAuthText": oauth(text()),
    "ImportedServer": {"anyOf": [ref("MachineImport"), ref("PastedImport")]},
    "Pair": {"anyOf": [text(), ref("Masked")]},
}
"""Schemas of members that a type cannot tell, by the names that the views use."""


def derived() -> Json:
    """The schemas of all types that have a name."""
    return {name: _members(kind) for name, kind in COMPONENTS.items()}


def properties(kind: type[object]) -> dict[str, Json]:
    """The schemas of a type's members by their names."""
    return {each.encode_name: schema(each.type) for each in _fields(kind)}


def model_properties(model: type[BaseModel]) -> dict[str, Json]:
    """The schemas of a model's members by their names."""
    whole = model.model_json_schema()
    definitions = object_of(whole.get("$defs"))
    return {
        name: _plain(object_of(each), definitions) for name, each in whole["properties"].items()
    }


def _plain(node: Json, definitions: Json) -> Json:
    """A schema of pydantic's without titles, defaults, docstrings and definitions of its own."""
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        return _plain(object_of(definitions[name]), definitions)
    plain: Json = {}
    for word, value in node.items():
        if word == "properties":
            parts = object_of(value).items()
            plain[word] = {name: _plain(object_of(part), definitions) for name, part in parts}
        elif word == "anyOf":
            plain[word] = [_plain(object_of(part), definitions) for part in list_of(value)]
        elif word not in _OMITTED:
            word_ = _BOUNDS.get(word, word)
            plain[word_] = _plain(value, definitions) if is_object(value) else value
    return plain


def _fields(kind: type[object]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(kind)
    return info.fields if isinstance(info, inspect.StructType | inspect.DataclassType) else ()


def _members(kind: type[object]) -> Json:
    if issubclass(kind, Body):
        return _body(kind)
    optional = [each for each in _fields(kind) if _may_be_absent(each)]
    return members(
        {each.encode_name: schema(each.type) for each in _fields(kind) if each not in optional},
        {each.encode_name: schema(_present(each)) for each in optional},
    )


def _body(kind: type[Body]) -> Json:
    required = {each.encode_name: schema(each.type) for each in _fields(kind) if each.required}
    whole = members(required, properties(kind))
    if not kind.__struct_config__.forbid_unknown_fields:
        del whole["additionalProperties"]
    return whole


def _may_be_absent(field: inspect.Field) -> bool:
    """Whether a view leaves a member out where it has nothing to say."""
    nothing = isinstance(field.type, inspect.UnionType | inspect.Metadata) and field.default is None
    return not field.required and (nothing or field.default is NODEFAULT)


def _present(field: inspect.Field) -> inspect.Type:
    """The type of an optional member that is there; by default, None stands for its absence."""
    kind = field.type
    if field.default is not None or not isinstance(kind, inspect.UnionType):
        return kind
    kinds = tuple(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kinds[0] if len(kinds) == 1 else inspect.UnionType(kinds)


@singledispatch
def schema(kind: inspect.Type) -> Json:
    """The schema of a type; anything at all where it says nothing."""
    return _BARE.get(type(kind), {})


@schema.register
def _(kind: inspect.Metadata) -> Json:
    # What it says besides its type is a plain dict of anything.
    more: Any = kind
    name = str(object_of(more.extra).get("schema", ""))
    base = (_WRITTEN.get(name) or ref(name)) if name else schema(kind.type)
    return {**base, **object_of(more.extra_json_schema)}


@schema.register
def _(kind: inspect.StrType) -> Json:
    return text() | _without_none(
        minLength=kind.min_length, maxLength=kind.max_length, pattern=kind.pattern
    )


@schema.register(inspect.IntType)
@schema.register(inspect.FloatType)
def _(kind: inspect.IntType | inspect.FloatType) -> Json:
    type_ = "integer" if isinstance(kind, inspect.IntType) else "number"
    return {"type": type_} | _without_none(
        minimum=kind.ge, exclusiveMinimum=kind.gt, maximum=kind.le
    )


@schema.register
def _(kind: inspect.EnumType) -> Json:
    return {"type": "string", "enum": [str(each.value) for each in kind.cls]}


@schema.register
def _(kind: inspect.LiteralType) -> Json:
    texts = all(isinstance(each, str) for each in kind.values)
    return {**({"type": "string"} if texts else {}), "enum": [*kind.values]}


@schema.register(inspect.ListType)
@schema.register(inspect.VarTupleType)
def _(kind: inspect.ListType | inspect.VarTupleType) -> Json:
    return array(schema(kind.item_type))


@schema.register
def _(kind: inspect.DictType) -> Json:
    values = schema(kind.value_type)
    return named(values) if values else {"type": "object"}


@schema.register
def _(kind: inspect.UnionType) -> Json:
    nulls = [each for each in kind.types if isinstance(each, inspect.NoneType)]
    others = [schema(each) for each in kind.types if each not in nulls]
    either: Json = others[0] if len(others) == 1 else {"anyOf": others}
    return maybe(either) if nulls else either


@schema.register
def _(kind: inspect.StructType) -> Json:
    return ref(_NAMES[kind.cls]) if kind.cls in _NAMES else _members(kind.cls)


def _without_none(**words: object) -> Json:
    return {word: value for word, value in words.items() if value is not None}
