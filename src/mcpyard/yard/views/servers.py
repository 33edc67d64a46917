"""A server and its tools as the faces show them, made from what should be and what is.

Secrets do not leave the yard: a literal value of `env` or `headers`, the secret of `oauth`, and
what counts as a secret in the arguments and the URL is masked; a reference to a variable is shown
as it was written.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mcpyard.catalog.routes import Route
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.merge import oauth_of
from mcpyard.domain.definition.quantities import MOST_TIMES
from mcpyard.domain.definition.secret_names import names_secret
from mcpyard.domain.definition.secret_text import shown_args, shown_text, shown_url
from mcpyard.domain.desired import DesiredServer, Waiting
from mcpyard.domain.errors import Problem
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Config, LocalConfig, Scope, Transport, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.status import RunState, Status, public_words
from mcpyard.yard.masking import masked, shown_value
from mcpyard.yard.views.base import (
    Count,
    Milliseconds,
    Moment,
    ShownValue,
    Times,
    Uuid,
    View,
    moment,
    view_of,
)
from mcpyard.yard.views.cluster import NodeReasonView
from mcpyard.yard.views.resources import FiguresView, LimitsView

WaitingKind: TypeAlias = Literal["added", "changed", "replaces"]
"""Why an entry waits: it is new, was changed, or replaces a server of another scope."""

ToolPolicies: TypeAlias = dict[
    str, Annotated[dict[str, object], Meta(extra={"schema": "ToolPolicy"})]
]
OAuth: TypeAlias = Annotated[dict[str, ShownValue], Meta(extra={"schema": "OAuth"})]

_LOCAL: Final = frozenset({"command", "args", "env", "cwd"})
_REMOTE: Final = frozenset({"url", "headers", "oauth"})


class Picture(NamedTuple):
    """A server as it should be, and as it is: all that its view depends on."""

    server: DesiredServer
    observed: Observed


class CauseView(View, frozen=True, kw_only=True):
    """Why a server is not connected."""

    code: Code
    message: str
    hint: Annotated[str, Meta(description="What to do about it.")]
    stderr: list[str]


class HealthView(View, frozen=True, kw_only=True):
    """When a server counts as one that does not respond."""

    interval: Annotated[Milliseconds, Meta(description="Silence after which the server is pinged.")]
    timeout: Annotated[Milliseconds, Meta(description="How long it has to answer a ping.")]
    failures: Annotated[
        int,
        Meta(
            ge=1,
            le=MOST_TIMES,
            description="Calls past their limits, or missed pings, in a row.",
        ),
    ]


class RestartView(View, frozen=True, kw_only=True):
    """How often a server that is lost is started again."""

    attempts: Annotated[Times, Meta(description="Restarts in a row.")]
    limit: Annotated[Times, Meta(description="Restarts within the window.")]
    window: Milliseconds


class ToolSummary(View, frozen=True, kw_only=True):
    """A tool in the list of its server."""

    name: str
    description: str


class ServerView(View, frozen=True, kw_only=True):
    """A server: its definition, and how it is.

    `command` and what follows it are of local servers only, `url`, `headers` and `oauth` of remote
    ones. `tools` is None, and `figures` UNSET, where they were not asked for. `node`, `fence`,
    `node_reason` and `pinned` are there in a cluster only.
    """

    id: Uuid
    name: str
    title: Annotated[str | None, Meta(description="What it is called on the page.")]
    description: Annotated[str | None, Meta(description="What is said about it on the page.")]
    tags: Annotated[list[str], Meta(description="What it is found and grouped by on the page.")]
    scope: Scope
    type: Literal["local", "remote"]
    transport: Transport | None
    this_yard: Annotated[bool, Meta(description="Whether it leads back here; never connected.")]
    enabled: bool
    timeout: Milliseconds
    start_timeout: Milliseconds | None
    progress_extends: bool
    fallback: Annotated[list[str], Meta(description="Servers that can answer in its place.")]
    inherit: list[str]
    isolation: Literal["shared", "per-client"]
    singleton: Annotated[bool, Meta(description="Whether it never runs twice in a cluster.")]
    labels: Annotated[
        dict[str, str], Meta(description="What a node of a cluster must have to run it.")
    ]
    wanted_concurrency: Annotated[
        Count, Meta(description="What a change calls `concurrency`; 0 for the default.")
    ]
    queue: Annotated[Count, Meta(description="How many more calls may wait for it.")]
    max_message: Count
    health: HealthView
    restart: RestartView
    limits: LimitsView
    record_calls: Annotated[
        bool, Meta(description="Whether arguments and results may be recorded.")
    ]
    tool_policies: Annotated[ToolPolicies, Meta(description="What a change calls `tools`.")]
    command: str | None = None
    args: list[str] | None = None
    env: dict[str, ShownValue] | None = None
    cwd: Annotated[str | None, Meta(description="The folder that it runs in.")] = None
    url: str | None = None
    headers: dict[str, ShownValue] | None = None
    oauth: OAuth | None = None
    status: Status
    state: RunState
    phase: Phase
    error: CauseView | None
    attempt: Count
    max_attempts: Count
    next_retry_at: Moment | None
    pid: int | None
    since: Moment | None
    wanted: Wanted
    protocol_version: str | None
    server_info: Mapping[str, object] | None
    concurrency: int | None
    tools_stale: Annotated[
        bool,
        Meta(description="Whether the tools are cached: it is not connected or responding."),
    ]
    needs_approval: WaitingKind | None
    warnings: list[str]
    digest: Annotated[str, Meta(description="What `If-Match` of a change names, in quotes.")]
    tool_count: Count
    tools: list[ToolSummary] | None = None
    figures: FiguresView | UnsetType | None = UNSET
    node: Annotated[str | None, Meta(description="The node that runs it.")] | UnsetType = UNSET
    fence: Annotated[int | None, Meta(description="Grows with each change of the node.")] | (
        UnsetType
    ) = UNSET
    node_reason: Annotated[NodeReasonView | None, Meta(description="Why it is there.")] | (
        UnsetType
    ) = UNSET
    pinned: Annotated[bool, Meta(description="Whether it belongs to its machine.")] | UnsetType = (
        UNSET
    )

    def members(self) -> dict[str, object]:
        """Its members by their names in JSON, without those of the other type of server."""
        members = View.members(self)
        for name in _REMOTE if self.type == "local" else _LOCAL:
            del members[name]
        if self.tools is None:
            del members["tools"]
        return members


class ToolView(View, frozen=True, kw_only=True):
    """A tool with everything that is known of it."""

    name: Annotated[str, Meta(description="The server's own name of it.")]
    title: str | None
    description: str
    input_schema: object
    output_schema: object
    annotations: Mapping[str, object]
    enabled: bool
    exposed_name: Annotated[str, Meta(description="The name that agents know it by.")]
    server: str
    stale: Annotated[
        bool, Meta(description="Whether it is cached: not connected, or not responding.")
    ]


class RevealedView(View, frozen=True, kw_only=True):
    """The literal values of a server's definition that its view masks, for its owner's eyes."""

    command: str | None = None
    args: list[str] | None = None
    env: dict[str, str] | None = None
    url: str | None = None
    headers: dict[str, str] | None = None
    oauth: Annotated[dict[str, str], Meta(extra={"schema": "OAuthText"})] | None = None

    def members(self) -> dict[str, object]:
        """Its members by their names in JSON, without those of the other type of server."""
        return {name: value for name, value in View.members(self).items() if value is not None}


class TrialView(View, frozen=True, kw_only=True):
    """What a trial found."""

    ok: Annotated[bool, Meta(extra_json_schema={"const": True})] = True
    protocol_version: str | None
    server_info: Mapping[str, object] | None
    tools: list[ToolSummary]
    warnings: list[str]


def server_view(
    server: DesiredServer, observed: Observed, routes: Iterable[Route], *, tools: bool = True
) -> ServerView:
    """The view of a server."""
    config, state, session = server.config, observed.state, observed.session
    words, listed = public_words(state), [*routes]
    return ServerView(
        id=str(server.id),
        name=server.name,
        title=config.title,
        description=config.description,
        tags=config.tags,
        scope=server.owner.scope,
        type=config.type,
        transport=config.transport,
        this_yard=server.this_yard,
        enabled=config.enabled,
        timeout=config.timeout,
        start_timeout=config.start_timeout,
        progress_extends=config.progress_extends,
        fallback=config.fallback,
        inherit=config.inherit,
        isolation=config.isolation,
        singleton=config.singleton,
        labels=config.labels,
        wanted_concurrency=config.concurrency,
        queue=config.queue,
        max_message=config.max_message,
        health=HealthView(**config.health.model_dump()),
        restart=RestartView(**config.restart.model_dump()),
        limits=LimitsView(**config.limits.model_dump()),
        record_calls=config.record_calls,
        tool_policies=_tool_policies(config),
        **_launch(config),
        status=words.status,
        state=words.state,
        phase=state.phase,
        error=cause_view(state.cause),
        attempt=attempt_of(observed),
        max_attempts=config.restart.attempts,
        next_retry_at=moment(observed.next_retry_at),
        pid=observed.pid,
        since=moment(observed.since),
        wanted=server.wanted,
        protocol_version=session.protocol_version if session else None,
        server_info=session.server_info if session else None,
        concurrency=observed.concurrency,
        tools_stale=observed.tools.stale,
        needs_approval=waiting_kind(server.waiting) if server.waiting else None,
        warnings=[str(each) for each in all_warnings(server, observed)],
        digest=definition_digest(server),
        tool_count=len(listed),
        tools=[_summary(each) for each in listed] if tools else None,
    )


def all_warnings(server: DesiredServer, observed: Observed) -> tuple[Problem, ...]:
    """What is odd about a server: its definition, its tools, how it behaves."""
    return (*server.warnings, *observed.tools.problems, *observed.warnings)


def definition_digest(server: DesiredServer) -> str:
    """What a caller names to say which state of a definition it means to change."""
    text = f"{server.name}\0{server.config.model_dump_json()}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tool_view(route: Route, *, stale: bool) -> ToolView:
    """The view of a tool."""
    return ToolView(
        name=route.tool.name,
        title=route.tool.title,
        description=route.description,
        input_schema=route.tool.input_schema,
        output_schema=route.tool.output_schema,
        annotations=route.tool.annotations,
        enabled=route.policy.enabled,
        exposed_name=route.exposed,
        server=route.server_name,
        stale=stale,
    )


def revealed_view(server: DesiredServer) -> RevealedView:
    """The literal values of a server's definition."""
    config = server.config
    if isinstance(config, LocalConfig):
        env = dict(config.environment)
        return RevealedView(command=config.program, args=config.args, env=env)
    return RevealedView(url=config.url, headers=dict(config.headers), oauth=oauth_of(config) or {})


def trial_view(observed: Observed, warnings: Iterable[Problem]) -> TrialView:
    """What a trial found."""
    session = observed.session
    return TrialView(
        protocol_version=session.protocol_version if session else None,
        server_info=session.server_info if session else None,
        tools=view_of(list[ToolSummary], observed.tools.definitions),
        warnings=[str(each) for each in warnings],
    )


def with_warnings(view: ServerView, problems: Iterable[Problem]) -> ServerView:
    """A view with further warnings."""
    present = view.warnings
    more = [str(each) for each in problems if str(each) not in present]
    return msgspec.structs.replace(view, warnings=[*present, *more])


def waiting_kind(waiting: Waiting) -> WaitingKind:
    """Why an entry waits."""
    if waiting.approved:
        return "changed"
    return "replaces" if waiting.shadows else "added"


def cause_view(cause: Cause | None) -> CauseView | None:
    """Why a server is not connected."""
    return view_of(CauseView, cause) if cause else None


def attempt_of(observed: Observed) -> int:
    """Which try to connect a server is at; 0 where it is not trying."""
    state = observed.state
    waiting = state.phase in {Phase.BACKOFF, Phase.CONNECTING} and state.n > 0
    return state.n if waiting or state.phase is Phase.FAILED else 0


def _summary(route: Route) -> ToolSummary:
    return ToolSummary(name=route.tool.name, description=route.description)


def _launch(config: Config) -> dict[str, Any]:
    """How a server is reached, as it may be shown."""
    if isinstance(config, LocalConfig):
        command, args = shown_text(config.program), shown_args(config.args)
        env = masked(config.environment)
        return {"command": command, "args": args, "env": env, "cwd": config.cwd}
    oauth = {
        name: shown_value(value) if names_secret(name) else value
        for name, value in (oauth_of(config) or {}).items()
    }
    return {"url": shown_url(config.url), "headers": masked(config.headers), "oauth": oauth}


def _tool_policies(config: Config) -> ToolPolicies:
    return {
        name: policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        for name, policy in config.tools.items()
    }
