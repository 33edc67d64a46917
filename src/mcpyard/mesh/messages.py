"""What nodes send to each other; unknown fields are ignored, so that versions can be mixed.

| direction | message | kind |
|---|---|---|
| both | `hello` | the first request of whoever dials, answered with the other side's |
| to the owner of a server | `call`, `request`, `log`, `figures` | requests |
| to the owner of a server | `probe`, `tune`, `release` | notifications |
| to the caller, of a call | `ask`; `notice`, `notifications/progress` | as the server sends it |
| both | `placements` | a request, for a node that woke, and a notification of news |
| both | `state`, `heard` | notifications |
| both | the topics of a `NodeChannel` | requests, with parts of the answer asked back before it |
"""

from typing import Final
from uuid import UUID

from msgspec import Raw, Struct, field
from msgspec.json import Decoder

from mcpyard.domain.cluster import Placement
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.ports import LogLine, NotificationInterest
from mcpyard.wire.jsonrpc import ABSENT

PROTOCOL: Final = 2
OLDEST_PROTOCOL: Final = 1
"""The numbers of the protocol between nodes that this version speaks.

Two of them, so that nodes can be upgraded one after the other: the highest that both sides speak
is settled by `hello`. Nodes without a common one refuse each other.

| number | what it brought |
|---|---|
| 1 | a `hello` that names one number |
| 2 | a `hello` that names the oldest one too; the topics of a `NodeChannel` |
"""


class Hello(Struct, frozen=True):
    """What a node says first.

    Attributes:
        node: Its name.
        epoch: How often it joined.
        protocol: The newest protocol that it speaks; in the answer the one that was settled.
        version: Its version of mcpyard.
        oldest: The oldest protocol that it speaks; 0 where it names only one.
    """

    node: str
    epoch: int
    protocol: int = PROTOCOL
    version: str = ""
    oldest: int = 0

    @property
    def protocols(self) -> range:
        """The numbers that it speaks."""
        oldest = self.oldest or self.protocol
        return range(min(oldest, self.protocol), self.protocol + 1)


def settle_protocol(own: Hello, other: Hello) -> int | None:
    """The highest number that both speak; None for none."""
    newest = min(own.protocols[-1], other.protocols[-1])
    return newest if newest >= max(own.protocols[0], other.protocols[0]) else None


class CallbackToken(Struct, frozen=True, rename="camel"):
    """Names a call of the asking node, for all that is sent back during it."""

    progress_token: int


class SentTerms(Struct, frozen=True, omit_defaults=True):
    """`CallTerms` on their way; of callbacks only whether there are any."""

    timeout: float | None = None
    longest: float | None = None
    capabilities: Raw = ABSENT
    log_level: str | None = None
    client_key: str | None = None
    caller: str | None = None
    answers: bool = False
    listens: bool = False


class FarCall(Struct, frozen=True):
    """A call of a tool of a server on another node; the arguments are the bytes that came."""

    server: UUID
    fence: int
    tool: str
    terms: SentTerms
    arguments: Raw
    token: CallbackToken | None = field(default=None, name="_meta")


class FarRequest(FarCall, frozen=True, rename={"tool": "method", "arguments": "params"}):
    """A request to a server on another node: method and parameters instead of a tool's call."""


class OfCall(Struct, frozen=True):
    """What a server asks or tells during a call."""

    call: int
    method: str
    params: Raw


class NodeReport(Struct, frozen=True):
    """What a node observes of the shared servers that it runs: all of them, or what changed."""

    observed: tuple[Observed, ...] = ()
    gone: tuple[UUID, ...] = ()
    full: bool = False


class OfServer(Struct, frozen=True):
    """Something about one server."""

    server: UUID


class Interests(Struct, frozen=True):
    """Which notifications of servers the callers of a node want; all of them where it is full."""

    of: dict[UUID, NotificationInterest]
    full: bool = False


class ReleasedClient(Struct, frozen=True):
    """A client whose own processes are to end."""

    client_key: str


class Heard(Struct, frozen=True):
    """A notification of a server that belongs to no call."""

    server: UUID
    method: str
    params: Raw


class PlacementNews(Struct, frozen=True):
    """Placements that the sender read from the store, or heard from a node that did."""

    placements: tuple[Placement, ...]


read_hello: Final = Decoder(Hello).decode
read_call: Final = Decoder(FarCall).decode
read_request: Final = Decoder(FarRequest).decode
read_of_call: Final = Decoder(OfCall).decode
read_report: Final = Decoder(NodeReport).decode
read_server: Final = Decoder(OfServer).decode
read_interests: Final = Decoder(Interests).decode
read_released: Final = Decoder(ReleasedClient).decode
read_heard: Final = Decoder(Heard).decode
read_placements: Final = Decoder(PlacementNews).decode
read_log: Final = Decoder(tuple[LogLine, ...]).decode
read_figures: Final = Decoder(Figures | None).decode
