"""Errors as RFC 9457 problems, and whether mcpyard works."""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from mcpyard.domain.status import Status
from mcpyard.yard.views.base import FieldProblem, FileDiff, PlacedProblem, View
from mcpyard.yard.views.servers import CauseView


class PassedOverView(View, frozen=True, kw_only=True):
    """A server that was asked before another one, and why it did not answer."""

    server: str
    why: str


class RpcView(View, frozen=True, kw_only=True):
    """The error of JSON-RPC that a server answered with."""

    code: int
    data: object


class ProblemView(View, frozen=True, kw_only=True):
    """Why something was refused, or failed."""

    type: Annotated[str, Meta(pattern="^urn:mcpyard:error:[a-z-]+$", description="A stable name.")]
    title: str
    status: int
    detail: str
    hint: Annotated[str, Meta(description="What to do about it.")] | UnsetType = UNSET
    problems: list[FieldProblem] | UnsetType = UNSET
    files: list[FileDiff] | UnsetType = UNSET
    cause: CauseView | UnsetType = UNSET
    passed_over: list[PassedOverView] | UnsetType = UNSET
    rpc: RpcView | UnsetType = UNSET


class DegradationView(View, frozen=True, kw_only=True):
    """A component of mcpyard that does not work while calls are still served."""

    component: Annotated[
        str, Meta(description="`storage`, `journal`, `backups`, `keeper` or `reconciler`.")
    ]
    detail: str
    hint: Annotated[str, Meta(description="What to do about it.")]


Degradations: TypeAlias = Annotated[
    list[DegradationView] | UnsetType, Meta(description="What does not work; with the token only.")
]


class AliveView(View, frozen=True, kw_only=True):
    """A process that answers."""

    ok: Annotated[bool, Meta(extra_json_schema={"const": True})] = True


class ReadinessView(View, frozen=True, kw_only=True):
    """Whether calls are served."""

    ok: bool
    status: Literal["ready", "degraded", "isolated", "stopping"]
    degraded: Degradations = UNSET


class HealthyView(View, frozen=True, kw_only=True):
    """A yard that works; with the token also how servers and definitions are."""

    ok: Annotated[bool, Meta(extra_json_schema={"const": True})] = True
    status: Literal["degraded"] | UnsetType = UNSET
    degraded: Degradations = UNSET
    servers: dict[str, Status] | UnsetType = UNSET
    problems: list[PlacedProblem] | UnsetType = UNSET


class UnhealthyView(View, frozen=True, kw_only=True):
    """A yard that cannot store anything."""

    ok: Annotated[bool, Meta(extra_json_schema={"const": False})] = False
    type: str
    title: str
    status: Annotated[int, Meta(extra_json_schema={"const": 507})]
    detail: Annotated[str, Meta(description="What is wrong; with the token only.")] | UnsetType = (
        UNSET
    )
    hint: str | UnsetType = UNSET
    degraded: Degradations = UNSET
    servers: dict[str, Status] | UnsetType = UNSET
    problems: list[PlacedProblem] | UnsetType = UNSET
