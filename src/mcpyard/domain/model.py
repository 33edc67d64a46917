"""What a server is: one definition model for every scope, face and spelling.

A definition is `local` (a command to run) or `remote` (an address to speak to). Launch fields say
how to reach the server: a change of them needs a new connection. Policy fields say how to treat it:
a change of them is applied to the open connection.
"""

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    TypeAdapter,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.old_names import renamed, renamed_tool
from mcpyard.domain.definition.quantities import (
    Bytes,
    Memory,
    Milliseconds,
    Processes,
    Times,
    Waiting,
)
from mcpyard.domain.definition.tags import Tags
from mcpyard.domain.narrowing import is_mapping

DEFAULT_TIMEOUT: Final = 30_000
"""Milliseconds; what the users' own documents ask for."""

DEFAULT_MAX_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes; holds any real result, and a hundred servers at the limit still fit into memory."""

DEFAULT_CONCURRENCY: Final = 256
"""Calls in flight at one server: more than any client needs, less than a server cannot bear."""

DEFAULT_QUEUE: Final = 1024
"""Calls that wait for one server: beyond it a caller had better hear at once than wait."""

EVERYTHING: Final = "*"
"""Stands in `inherit` for every variable of the yard's own environment."""


class Scope(StrEnum):
    """The place a definition lives in; earlier ones win over later ones of the same name."""

    CODE = "code"
    PROJECT = "project"
    USER = "user"
    ENV = "env"

    @property
    def rank(self) -> int:
        """0 for the scope that wins over all others."""
        return _PRECEDENCE[self]


_PRECEDENCE: Final = {scope: rank for rank, scope in enumerate(Scope)}


class Wanted(StrEnum):
    """What somebody asked a server to be."""

    RUNNING = "running"
    STOPPED = "stopped"
    ON_DEMAND = "on_demand"


class Transport(StrEnum):
    """How messages travel to a server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


def _everything(value: object) -> object:
    return [EVERYTHING] if value == "all" else value


def _fallback(value: object) -> object:
    return {"server": value} if isinstance(value, str) else value


def _text(value: str) -> str:
    return _refuse(checks.text_fault(value), value)


def _url(value: str) -> str:
    # What a reference expands to is checked after the expansion.
    return _refuse(None if "${" in value else checks.url_fault(value), value)


def _not_empty(value: list[str]) -> list[str]:
    if not value or not value[0].strip():
        raise PydanticCustomError("empty_command", "must not be empty")
    return value


def _variables(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        _refuse(checks.variable_fault(name), name)
    return value


def _document_url(value: str) -> str:
    # Authorization servers fetch it, and take no other kind of address.
    fault = None if value.startswith(("https://", "${")) else "must begin with https://"
    return _refuse(fault, value)


def _header_names(value: dict[str, str]) -> dict[str, str]:
    for name, content in value.items():
        fault = checks.header_fault(name, content)
        _refuse(fault and f"{name}: {fault}", name)
    return value


def _refuse(fault: str | None, value: str) -> str:
    if fault:
        raise PydanticCustomError("refused", "{fault}", {"fault": fault})
    return value


Text = Annotated[StrictStr, AfterValidator(_text)]


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
        # What reads one is built when it is needed: `model_construct`, for defaults, needs it not.
        defer_build=True,
    )


class FallbackTool(_Model):
    """A tool of another server that does the same.

    Attributes:
        server: The name of that server.
        tool: What it calls the tool; the same unless told.
        arguments: What it calls the arguments, by what this tool calls them; null leaves one out.
    """

    server: Text
    tool: Text | None = None
    arguments: dict[Text, Text | None] = {}


class ToolPolicy(_Model):
    """What the user changed about one tool.

    Attributes:
        enabled: One that is not enabled is not offered.
        name: What agents call it.
        description: What to tell agents about it.
        timeout: The hard limit of a call, in milliseconds; None for its server's.
        progress_extends: Whether progress extends that limit; None for what its server says.
        repeatable: Whether a call may be repeated when nobody knows what became of the first;
            None for what the tool itself says.
        fallback: Tools that can answer in its place; None for those of its server's fallbacks.
        record_calls: Whether arguments and results may be recorded; None for what its server says.
    """

    enabled: StrictBool = True
    name: Text | None = None
    description: StrictStr | None = None
    timeout: Milliseconds | None = None
    progress_extends: StrictBool | None = None
    repeatable: StrictBool | None = None
    fallback: list[Annotated[FallbackTool, BeforeValidator(_fallback)]] | None = None
    record_calls: StrictBool | None = None

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, fields: object) -> object:
        return renamed_tool(fields) if is_mapping(fields) else fields


class HealthCheck(_Model):
    """When a server that runs counts as one that does not respond.

    Attributes:
        interval: Silence after which it is pinged, in milliseconds.
        timeout: How long it has to answer a ping, in milliseconds.
        failures: How many calls in a row that ran into their time limits make it degraded when a
            ping is missed too, and how many pings missed in a row have it restarted.
    """

    interval: Milliseconds = 30_000
    timeout: Milliseconds = 5_000
    failures: Annotated[Times, Field(gt=0)] = 3


class RestartLimits(_Model):
    """How often a server that is lost is started again.

    Attributes:
        attempts: Restarts in a row, without a minute connected between them.
        limit: Restarts within `window`, however stable each run looked.
        window: Milliseconds.
    """

    attempts: Times = 3
    limit: Times = 10
    window: Milliseconds = 60 * 60 * 1000


class ResourceLimits(_Model):
    """How much the whole process tree of a local server may use; one over a limit is restarted.

    Attributes:
        memory: Bytes of resident memory; None for no limit.
        processes: How many processes; None for no limit.
    """

    memory: Memory | None = None
    processes: Processes | None = None


UNCHANGED: Final = ToolPolicy.model_construct()
DEFAULT_RESTARTS: Final = RestartLimits.model_construct()
NO_LIMITS: Final = ResourceLimits.model_construct()


class Policy(_Model):
    """How to treat a server.

    Attributes:
        enabled: A server that is not enabled is never started.
        timeout: The hard limit of a call, in milliseconds.
        start_timeout: The limit of a start, in milliseconds; None for the default of its command.
        wanted: What somebody asked for; None for the default of its scope.
        progress_extends: Whether progress extends the limit of a call.
        fallback: Names of servers that can answer in its place.
        inherit: Names of variables its process gets besides the usual ones; `all` for every one.
        isolation: Whether its clients share one process, or each has its own.
        singleton: Whether it must never run twice in a cluster.
        labels: What a node of a cluster must have to run it.
        concurrency: How many calls a process runs at once; 0 for the default.
        queue: How many more calls may wait for it; those beyond are refused.
        max_message: The longest message taken from it, in bytes.
        health: When it counts as one that does not respond.
        restart: How often it is started again when it is lost.
        limits: How much its processes may use.
        record_calls: Whether arguments and results may be recorded, where recording is on.
        tools: What the user changed about its tools.
        title: What to call it on the page.
        description: What to say about it on the page.
        tags: What it is found and grouped by on the page; the first one is its group.
    """

    enabled: StrictBool = True
    timeout: Milliseconds = DEFAULT_TIMEOUT
    start_timeout: Milliseconds | None = None
    wanted: Wanted | None = None
    progress_extends: StrictBool = False
    fallback: list[Text] = []
    inherit: Annotated[list[Text], BeforeValidator(_everything)] = []
    isolation: Literal["shared", "per-client"] = "shared"
    singleton: StrictBool = False
    labels: dict[Text, Text] = {}
    concurrency: Times = 0
    queue: Waiting = DEFAULT_QUEUE
    max_message: Bytes = DEFAULT_MAX_MESSAGE
    health: HealthCheck = HealthCheck.model_construct()
    restart: RestartLimits = DEFAULT_RESTARTS
    limits: ResourceLimits = NO_LIMITS
    record_calls: StrictBool = True
    tools: dict[Text, ToolPolicy] = {}
    title: StrictStr | None = None
    description: StrictStr | None = None
    tags: Tags = []

    @property
    def calls_at_once(self) -> int:
        """How many calls a process runs at once."""
        return self.concurrency or DEFAULT_CONCURRENCY

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, fields: object) -> object:
        return renamed(fields) if is_mapping(fields) else fields


class LocalConfig(Policy):
    """A server that mcpyard starts as a process and talks to over stdio."""

    type: Literal["local"] = "local"
    command: Annotated[list[Text], AfterValidator(_not_empty)]
    environment: Annotated[dict[Text, Text], AfterValidator(_variables)] = {}
    cwd: Text | None = None

    @property
    def transport(self) -> Transport:
        """Always stdio."""
        return Transport.STDIO

    @property
    def program(self) -> str:
        """The command without its arguments."""
        return self.command[0]

    @property
    def args(self) -> list[str]:
        """The arguments of the command."""
        return self.command[1:]


class OAuthClient(_Model):
    """What the yard is known by where a remote server lets people sign in.

    Without any of it the yard registers itself, which not every authorization server allows.

    Attributes:
        client_id: The id that a person registered by hand.
        client_secret: The secret that belongs to it.
        metadata_url: A document on the web that describes the yard, for servers that read one.
    """

    client_id: Text | None = None
    client_secret: Text | None = Field(default=None, repr=False)
    metadata_url: Annotated[Text, AfterValidator(_document_url)] | None = None

    @model_validator(mode="after")
    def _whose_secret(self) -> Self:
        if self.client_secret and not self.client_id:
            message = "clientSecret requires a clientId"
            raise PydanticCustomError("refused", message)
        return self


class RemoteConfig(Policy):
    """A server at a URL; without a transport, mcpyard tries streamable HTTP, then SSE."""

    type: Literal["remote"] = "remote"
    url: Annotated[StrictStr, AfterValidator(_url)]
    headers: Annotated[dict[Text, Text], AfterValidator(_header_names)] = {}
    transport: Literal[Transport.HTTP, Transport.SSE] | None = None
    oauth: OAuthClient | None = None


Config = Annotated[LocalConfig | RemoteConfig, Field(discriminator="type")]

CONFIG: Final[TypeAdapter[LocalConfig | RemoteConfig]] = TypeAdapter(
    Config, config=ConfigDict(defer_build=True)
)

POLICY_FIELDS: Final = frozenset(Policy.model_fields)


def default_wanted(scope: Scope) -> Wanted:
    """What a server is wanted to be when nobody said anything."""
    return Wanted.RUNNING if scope in {Scope.PROJECT, Scope.ENV} else Wanted.STOPPED
