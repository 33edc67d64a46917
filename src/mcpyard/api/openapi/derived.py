"""Schemas of what is answered, derived from the views that it is made of."""

from collections.abc import Mapping
from functools import singledispatch
from typing import Any, Final

from msgspec import NODEFAULT, inspect

from mcpyard.api.openapi.builders import Json, array, maybe, members, named, ref, text
from mcpyard.domain.model import OAuthClient
from mcpyard.domain.narrowing import object_of
from mcpyard.yard.views.access import (
    LoginLinkView,
    NewTokenView,
    ProfileView,
    SignInView,
    TicketView,
    TokenView,
)
from mcpyard.yard.views.approvals import ApprovedView, WaitingFolderView, WaitingServerView
from mcpyard.yard.views.base import FieldProblem, FileDiff, PlacedProblem, PlaceView, View
from mcpyard.yard.views.calls import CallPage, CallView, LogLineView
from mcpyard.yard.views.clients import (
    ChangeView,
    ConnectView,
    DriftView,
    EditView,
    EntryView,
    FindingView,
    ScopeView,
    SecretView,
    WarningView,
)
from mcpyard.yard.views.imports import ImportedView, MachineImport, ParsedView, PastedImport
from mcpyard.yard.views.problems import (
    AliveView,
    DegradationView,
    HealthyView,
    ProblemView,
    ReadinessView,
    UnhealthyView,
)
from mcpyard.yard.views.servers import (
    CauseView,
    RevealedView,
    ServerView,
    ToolView,
    TrialView,
)

COMPONENTS: Final[Mapping[str, type[View]]] = {
    "Cause": CauseView,
    "Server": ServerView,
    "Revealed": RevealedView,
    "Tool": ToolView,
    "LogLine": LogLineView,
    "Parsed": ParsedView,
    "Imported": ImportedView,
    "MachineImport": MachineImport,
    "PastedImport": PastedImport,
    "Trial": TrialView,
    "Calls": CallPage,
    "Call": CallView,
    "SignIn": SignInView,
    "Alive": AliveView,
    "Readiness": ReadinessView,
    "Degradation": DegradationView,
    "Health": HealthyView,
    "Sickness": UnhealthyView,
    "FieldProblem": FieldProblem,
    "Problem": ProblemView,
    "Token": TokenView,
    "MadeToken": NewTokenView,
    "LoginLink": LoginLinkView,
    "Ticket": TicketView,
    "WaitingFolder": WaitingFolderView,
    "WaitingServer": WaitingServerView,
    "Approved": ApprovedView,
    "Profile": ProfileView,
    "ClientGroup": ScopeView,
    "ClientServer": EntryView,
    "Place": PlaceView,
    "PlacedProblem": PlacedProblem,
    "FileDiff": FileDiff,
    "Warned": WarningView,
    "Done": ChangeView,
    "Edit": EditView,
    "Finding": FindingView,
    "Drift": DriftView,
    "Connected": ConnectView,
    "CallSecret": SecretView,
}
"""The views that have a name of their own in the document; any other stands where it is used."""

_NAMES: Final = {view: name for name, view in COMPONENTS.items()}


def oauth(value: Json) -> Json:
    """Our registration at an authorization server."""
    # Other programs that share a file have words of their own in there, which are passed over.
    names = (info.alias or name for name, info in OAuthClient.model_fields.items())
    return {"type": "object", "properties": dict.fromkeys(names, value)}


PROFILE: Final[dict[str, Json]] = {
    "servers": array(
        text("A server's name or id, or a pattern of names with *; default: all.", minLength=1)
    ),
    "tools": named(named(ref("ToolView"))),
}
"""What a profile says, in an answer as in a body."""

_WRITTEN: Final[Mapping[str, Json]] = {
    "OAuth": oauth(ref("Shown")),
    "OAuthText": oauth(text()),
    "ImportedServer": {"anyOf": [ref("MachineImport"), ref("PastedImport")]},
    "Pair": {"anyOf": [text(), ref("Masked")]},
    "ProfileServers": PROFILE["servers"],
    "ProfileTools": PROFILE["tools"],
}
"""Schemas of members that a type cannot tell, by the names that the views use."""


def derived() -> Json:
    """The schemas of all views that have a name."""
    return {name: _members(view) for name, view in COMPONENTS.items()}


def _members(view: type[object]) -> Json:
    kind = inspect.type_info(view)
    fields = kind.fields if isinstance(kind, inspect.StructType) else ()
    optional = [each for each in fields if _may_be_absent(each)]
    return members(
        {each.encode_name: schema(each.type) for each in fields if each not in optional},
        {each.encode_name: schema(_present(each)) for each in optional},
    )


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
    del kind
    return {}


@schema.register
def _(kind: inspect.Metadata) -> Json:
    # What it says besides its type is a plain dict of anything.
    more: Any = kind
    name = str(object_of(more.extra).get("schema", ""))
    base = (_WRITTEN.get(name) or ref(name)) if name else schema(kind.type)
    return {**base, **object_of(more.extra_json_schema)}


@schema.register
def _(kind: inspect.StrType) -> Json:
    return text(**({"pattern": kind.pattern} if kind.pattern else {}))


@schema.register(inspect.IntType)
@schema.register(inspect.FloatType)
def _(kind: inspect.IntType | inspect.FloatType) -> Json:
    bounds = {"minimum": kind.ge, "exclusiveMinimum": kind.gt, "maximum": kind.le}
    type_ = "integer" if isinstance(kind, inspect.IntType) else "number"
    return {"type": type_, **{word: each for word, each in bounds.items() if each is not None}}


@schema.register
def _(kind: inspect.BoolType) -> Json:
    del kind
    return {"type": "boolean"}


@schema.register
def _(kind: inspect.NoneType) -> Json:
    del kind
    return {"type": "null"}


@schema.register
def _(kind: inspect.EnumType) -> Json:
    return {"type": "string", "enum": [str(each.value) for each in kind.cls]}


@schema.register
def _(kind: inspect.LiteralType) -> Json:
    texts = all(isinstance(each, str) for each in kind.values)
    return {**({"type": "string"} if texts else {}), "enum": [*kind.values]}


@schema.register
def _(kind: inspect.ListType) -> Json:
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
