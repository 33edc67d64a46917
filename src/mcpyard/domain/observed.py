"""What is: the supervisor's picture of one server at one moment. Never stored as truth."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct, field

from mcpyard.domain.errors import Problem
from mcpyard.domain.lifecycle import State
from mcpyard.domain.tool import ToolDefinition


class Era(StrEnum):
    """The two kinds of MCP: with a handshake, and without."""

    HANDSHAKE = "handshake"
    MODERN = "modern"


class SessionFacts(Struct, frozen=True):
    """What a connected server said about itself."""

    era: Era
    protocol_version: str
    server_info: Mapping[str, object] = field(default_factory=dict[str, object])
    capabilities: Mapping[str, object] = field(default_factory=dict[str, object])
    instructions: str | None = None


class CacheHint(Struct, frozen=True):
    """How long a list may be kept, if its server said so, and whether by everybody alike."""

    ttl_ms: int | None = None
    public: bool = False


class Tools(Struct, frozen=True):
    """A server's tools; stale when they are remembered from an earlier connection."""

    definitions: tuple[ToolDefinition, ...] = ()
    digest: str = ""
    stale: bool = False
    problems: tuple[Problem, ...] = ()
    cache_hint: CacheHint = CacheHint()


class Items(Struct, frozen=True):
    """A list of a server other than its tools, each item whole, as it came."""

    items: tuple[Mapping[str, object], ...] = ()
    cache_hint: CacheHint = CacheHint()


class Capabilities(Struct, frozen=True):
    """What a server offers besides tools, as it was listed last."""

    resources: Items = Items()
    templates: Items = Items()
    prompts: Items = Items()

    @property
    def count(self) -> int:
        """How many items there are in all."""
        return sum(len(each.items) for each in (self.resources, self.templates, self.prompts))

    def remembered(self) -> "Capabilities":
        """The same from memory: how long to keep it is for the server to say anew."""
        return Capabilities(
            Items(self.resources.items), Items(self.templates.items), Items(self.prompts.items)
        )


class Observed(Struct, frozen=True):
    """What the supervisor holds of one server, and the desired state it last took over.

    The digests are those of the launch it runs or last ran and of the policy it follows; there is a
    session only while it is connected. Warnings tell how it misbehaves without being lost. No
    concurrency is no limit; late events came too late to count.
    """

    id: UUID
    state: State = State()
    launch_digest: str = ""
    policy_digest: str = ""
    turn: int = 0
    since: datetime | None = None
    next_retry_at: datetime | None = None
    pid: int | None = None
    session: SessionFacts | None = None
    tools: Tools = Tools()
    warnings: tuple[Problem, ...] = ()
    offer: Capabilities = Capabilities()
    concurrency: int | None = None
    late_events: int = 0


class Figures(Struct, frozen=True):
    """What a server's process and all its descendants use, summed.

    Attributes:
        processes: How many there are.
        rss: Resident memory, in bytes.
        cpu_seconds: Time used on all cores since each began, with that of ended children.
        cpu_percent: What they use now, in percent of one core.
    """

    processes: int
    rss: int
    cpu_seconds: float
    cpu_percent: float = 0.0
