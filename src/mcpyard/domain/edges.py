"""What each error is called outside: HTTP status, problem type, JSON-RPC code, exit code.

A test proves that no leaf of the tree in `errors` is missing.
"""

from typing import Final, NamedTuple

from mcpyard.domain.errors import (
    ApprovalOutdated,
    ArgumentsRefused,
    CallRefused,
    CallUnknown,
    ChangedSince,
    ClientUnverified,
    ClusterRefused,
    DefinitionError,
    Disabled,
    Disconnected,
    DocumentBroken,
    DocumentMoved,
    EditRefused,
    EditUnknown,
    FileBusy,
    Isolated,
    ManagedByYard,
    NameRefused,
    NameTaken,
    NeedsApproval,
    NeedsAuth,
    NewerState,
    NobodyAnswered,
    NodeTaken,
    NodeUnknown,
    NoSignIn,
    NotHere,
    NotWritable,
    OutcomeUnknown,
    OverQuota,
    ProfileUnknown,
    ProtocolBroken,
    ReadOnlyOwner,
    SecretUnknown,
    ServerBusy,
    ServerUnknown,
    SignInUnknown,
    StartFailed,
    StateBroken,
    StateGone,
    StillRunning,
    StorageFull,
    StoreAway,
    ThisYard,
    TimedOut,
    TooLarge,
    ToolUnknown,
    YardBusy,
    YardError,
)


class Edge(NamedTuple):
    """What an error is called outside."""

    status: int
    problem: str
    rpc_code: int
    exit_code: int


EXIT_USAGE: Final = 2
EXIT_DEFINITION: Final = 3
EXIT_UNREACHABLE: Final = 4
EXIT_TOOL_ERROR: Final = 5
EXIT_TIMEOUT: Final = 6

_INVALID_PARAMS: Final = -32602
_INTERNAL: Final = -32603
_CONNECTION_CLOSED: Final = -32000
_REQUEST_TIMEOUT: Final = -32001

EDGES: Final[dict[type[YardError], Edge]] = {
    DefinitionError: Edge(422, "invalid-definition", _INVALID_PARAMS, EXIT_DEFINITION),
    NameRefused: Edge(422, "invalid-name", _INVALID_PARAMS, EXIT_DEFINITION),
    DocumentBroken: Edge(422, "broken-document", _INVALID_PARAMS, EXIT_DEFINITION),
    EditRefused: Edge(422, "edit-refused", _INTERNAL, EXIT_DEFINITION),
    ArgumentsRefused: Edge(422, "invalid-arguments", _INVALID_PARAMS, EXIT_USAGE),
    SignInUnknown: Edge(400, "sign-in-unknown", _INVALID_PARAMS, EXIT_USAGE),
    TooLarge: Edge(413, "too-large", _INVALID_PARAMS, EXIT_USAGE),
    ServerUnknown: Edge(404, "server-unknown", _INVALID_PARAMS, EXIT_USAGE),
    ToolUnknown: Edge(404, "tool-unknown", _INVALID_PARAMS, EXIT_USAGE),
    ProfileUnknown: Edge(404, "profile-unknown", _INVALID_PARAMS, EXIT_USAGE),
    NodeUnknown: Edge(404, "node-unknown", _INVALID_PARAMS, EXIT_USAGE),
    EditUnknown: Edge(404, "edit-unknown", _INVALID_PARAMS, EXIT_USAGE),
    SecretUnknown: Edge(404, "secret-unknown", _INVALID_PARAMS, EXIT_USAGE),
    CallUnknown: Edge(404, "call-unknown", _INVALID_PARAMS, EXIT_USAGE),
    ClientUnverified: Edge(409, "client-unverified", _INVALID_PARAMS, EXIT_USAGE),
    NameTaken: Edge(409, "name-taken", _INVALID_PARAMS, EXIT_USAGE),
    Disabled: Edge(409, "disabled", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    ReadOnlyOwner: Edge(409, "read-only-owner", _INVALID_PARAMS, EXIT_USAGE),
    StillRunning: Edge(409, "still-running", _INVALID_PARAMS, EXIT_USAGE),
    ManagedByYard: Edge(409, "managed-by-yard", _INTERNAL, EXIT_USAGE),
    NeedsApproval: Edge(409, "needs-approval", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    ApprovalOutdated: Edge(409, "approval-outdated", _INTERNAL, 1),
    ThisYard: Edge(409, "this-yard", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    NoSignIn: Edge(409, "no-sign-in", _INVALID_PARAMS, EXIT_USAGE),
    ChangedSince: Edge(409, "changed-since", _INTERNAL, 1),
    FileBusy: Edge(409, "file-busy", _INTERNAL, 1),
    YardBusy: Edge(409, "yard-busy", _INTERNAL, EXIT_UNREACHABLE),
    NodeTaken: Edge(409, "node-taken", _INTERNAL, 1),
    ClusterRefused: Edge(409, "cluster-refused", _INTERNAL, 1),
    NewerState: Edge(409, "newer-state", _INTERNAL, 1),
    DocumentMoved: Edge(412, "document-moved", _INTERNAL, 1),
    Disconnected: Edge(502, "disconnected", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    StartFailed: Edge(502, "start-failed", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    NeedsAuth: Edge(502, "needs-auth", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    CallRefused: Edge(502, "call-refused", _INTERNAL, EXIT_TOOL_ERROR),
    ProtocolBroken: Edge(502, "protocol-broken", _INTERNAL, EXIT_UNREACHABLE),
    ServerBusy: Edge(429, "server-busy", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    NotHere: Edge(502, "not-here", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    OverQuota: Edge(429, "over-quota", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    NobodyAnswered: Edge(502, "nobody-answered", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    TimedOut: Edge(504, "timed-out", _REQUEST_TIMEOUT, EXIT_TIMEOUT),
    Isolated: Edge(503, "isolated", _CONNECTION_CLOSED, EXIT_UNREACHABLE),
    StoreAway: Edge(503, "store-away", _INTERNAL, 1),
    OutcomeUnknown: Edge(503, "outcome-unknown", _INTERNAL, 1),
    StateBroken: Edge(500, "state-broken", _INTERNAL, 1),
    StorageFull: Edge(507, "storage-full", _INTERNAL, 1),
    NotWritable: Edge(507, "not-writable", _INTERNAL, 1),
    StateGone: Edge(507, "state-gone", _INTERNAL, 1),
}


def edge(error: YardError) -> Edge:
    """The edge of an error: its own, or that of the nearest ancestor that has one."""
    edges = (EDGES[kind] for kind in type(error).__mro__ if kind in EDGES)
    return next(edges, Edge(500, "internal", _INTERNAL, 1))
