"""The bodies that routes read; `requests.read` reads them, and their schemas are derived."""

from datetime import datetime
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from mcpyard.domain.call_contents import RecordingMode
from mcpyard.domain.model import Scope
from mcpyard.domain.sync.plan import Choice
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.yard.views.base import Milliseconds
from mcpyard.yard.views.secrets import SecretStore

LONGEST_NAME: Final = 80
"""Characters of the name of a token."""

NAME_FAULT: Final = f"must be a text of 1 to {LONGEST_NAME} printable characters"

EXPIRY_FAULT: Final = "must be a future time with its zone: 2027-01-31T12:00:00Z"

_PASTED: Final = "JSON, TOML or command lines, as they were copied"
_FOUND: Final = "whatever is found in the files of other programs on this machine"
_HTTP: Final = (
    "By its address, with a token of its own. A program that takes only commands is refused (422)."
)
_UNVERIFIED: Final = "Write even to a client that is known from documentation only."

Flag: TypeAlias = Annotated[bool, Meta(extra={"fault": "must be true or false"})]
Folder: TypeAlias = Annotated[
    str, Meta(extra_json_schema={"pattern": "^/"}, extra={"fault": "must be an absolute path"})
]
TokenName: TypeAlias = Annotated[
    str,
    Meta(
        description="Printable characters.",
        min_length=1,
        max_length=LONGEST_NAME,
        extra={"fault": NAME_FAULT},
    ),
]
_NOT_EMPTY: Final[dict[str, object]] = {"minLength": 1}


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A body. A member with a default may be absent; `fault` says what is wrong with another."""


class ToolCallBody(Body, frozen=True, kw_only=True):
    """A call of a tool; `requests.call` reads it, with fewer steps."""

    arguments: dict[str, object] = {}
    timeout_ms: Annotated[Milliseconds, Meta(description="A hard limit.")] | UnsetType = UNSET
    meta: dict[str, object] = msgspec.field(name="_meta", default_factory=dict[str, object])


class RecordingBody(Body, frozen=True, kw_only=True):
    """Whether the arguments and results of calls are recorded."""

    mode: Annotated[
        RecordingMode,
        Meta(
            description="`auto` records where only this machine can reach mcpyard, and there are "
            "no call tokens and no cluster.",
            extra={"fault": "must be auto, on or off"},
        ),
    ]


class PastedBody(Body, frozen=True, kw_only=True):
    """A text to parse."""

    text: Annotated[str, Meta(description=f"{_PASTED}.")]


class ImportBody(Body, frozen=True, kw_only=True):
    """What to import."""

    text: Annotated[str, Meta(description=f"{_PASTED}; without it, {_FOUND}.")] | UnsetType = UNSET
    dry_run: Flag = False
    # With a text, each of its servers is refused on its own where there is no such scope.
    scope: Annotated[object, Meta(extra_json_schema={"type": "string", "enum": [*Scope]})] = None
    project: Annotated[
        Folder | None, Meta(description="The folder to look from, where there is no text.")
    ] = None


class CopyBody(Body, frozen=True, kw_only=True):
    """A server to copy from one client to another."""

    source: Annotated[
        str, Meta(description="A client, and a scope behind a colon: `claude`, `claude:project`.")
    ] = msgspec.field(name="from")
    target: Annotated[str, Meta(description="Likewise.")] = msgspec.field(name="to")
    name: str
    new_name: (
        Annotated[str, Meta(description="The name of the copy; default: the same.")] | UnsetType
    ) = UNSET
    matrix: Annotated[str, Meta(extra_json_schema={"enum": [*Matrix]})] = Matrix.NATIVE
    replace: Flag = False
    move: Flag = False
    dry_run: Flag = False
    unverified: Annotated[Flag, Meta(description=_UNVERIFIED)] = False
    project: Folder | None = None


class CopiesBody(Body, frozen=True, kw_only=True):
    """Servers to copy from one client to others."""

    source: Annotated[
        str, Meta(description="A client, and a scope behind a colon: `claude`, `claude:project`.")
    ] = msgspec.field(name="from")
    targets: Annotated[
        list[Annotated[str, Meta(description="Likewise.")]],
        Meta(extra={"fault": "must be a list of clients"}),
    ] = msgspec.field(name="to")
    names: Annotated[
        list[str] | None,
        Meta(
            description="The servers; without it, all of them.",
            extra={"fault": "must be a list of names"},
        ),
    ] = None
    matrix: Annotated[str, Meta(extra_json_schema={"enum": [*Matrix]})] = Matrix.NATIVE
    replace: Flag = False
    move: Annotated[Flag, Meta(description="To one client only.")] = False
    dry_run: Flag = False
    unverified: Annotated[Flag, Meta(description=_UNVERIFIED)] = False
    project: Folder | None = None


class UndoBody(Body, frozen=True, kw_only=True):
    """An edit to undo; the newest when none is named."""

    id: (
        Annotated[int, Meta(ge=1, le=2**63 - 1, extra={"fault": "must be the number of an edit"})]
        | None
    ) = None
    dry_run: Flag = False


Command: TypeAlias = Annotated[
    list[Annotated[str, Meta(description="The command that is the bridge.")]],
    Meta(extra={"fault": "must be a list of strings"}),
]
TargetNames: TypeAlias = Annotated[
    list[Annotated[str, Meta(description="Such as `codex` or `claude:project`.")]],
    Meta(
        description="The clients; without it, all that files name.",
        extra={"fault": "must be a list of clients"},
    ),
]
Everywhere: TypeAlias = Annotated[
    Flag,
    Meta(
        description="Every client that is found; one that no file names is to have what a sync "
        "wrote there."
    ),
]
ProjectFolder: TypeAlias = Annotated[
    Folder | None, Meta(description="The folder that it is looked at from.")
]


class DecisionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What somebody chose about an entry."""

    server: str
    target: str
    choice: Choice
    seen: Annotated[str, Meta(description="That of the cell; a later change undoes the choice.")]


class AssignmentBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a client is to have a server."""

    server: str
    target: Annotated[str, Meta(description="Such as `codex` or `codex:user`.")]
    wanted: Flag


class AssignmentsBody(Body, frozen=True, kw_only=True):
    """Which clients are to have which servers; what is not named stays as it is."""

    assignments: Annotated[
        list[AssignmentBody], Meta(extra={"fault": "must be a list of assignments"})
    ]
    project: ProjectFolder = None
    dry_run: Flag = False


class SyncBody(Body, frozen=True, kw_only=True):
    """What to sync."""

    targets: TargetNames = []
    project: ProjectFolder = None
    command: Command = msgspec.field(default_factory=lambda: ["mcpyard", "stdio"])
    decisions: Annotated[
        list[DecisionBody], Meta(extra={"fault": "must be a list of decisions"})
    ] = []
    check: Annotated[
        Flag, Meta(description="Compare only, without regard to who wrote an entry.")
    ] = False
    everywhere: Everywhere = False
    unverified: Annotated[Flag, Meta(description=_UNVERIFIED)] = False


class AdoptBody(Body, frozen=True, kw_only=True):
    """What to take into the source of a sync."""

    targets: TargetNames = []
    project: ProjectFolder = None
    chosen: Annotated[
        dict[str, str],
        Meta(
            description="The client whose entry counts, by the name of the server.",
            extra={"fault": "must be an object of clients by name"},
        ),
    ] = {}
    everywhere: Everywhere = False
    dry_run: Flag = False


class SyncApprovalBody(Body, frozen=True, kw_only=True):
    """What is approved of a repository's `mcpyard.toml`."""

    project: ProjectFolder = None
    digest: Annotated[str, Meta(description="That of what was shown.")]


class ConnectBody(Body, frozen=True, kw_only=True):
    """A client to connect to the gateway."""

    client: Annotated[str, Meta(description="Such as `codex`.", extra_json_schema=_NOT_EMPTY)]
    scope: Annotated[str, Meta(description="One of the client's scopes; default: its first.")] = ""
    name: Annotated[
        str,
        Meta(
            description="The name of the gateway's entry there; the default is `mcpyard`.",
            extra_json_schema=_NOT_EMPTY,
        ),
    ] = ""
    profile: Annotated[str, Meta(description="The selection of servers and tools.")] | UnsetType = (
        UNSET
    )
    http: Annotated[Flag, Meta(description=_HTTP)] = False
    command: Annotated[
        list[Annotated[str, Meta(description="The command that is the bridge.")]],
        Meta(extra={"fault": "must be a list of strings"}),
    ] = msgspec.field(default_factory=lambda: ["mcpyard", "stdio"])
    dry_run: Annotated[Flag, Meta(description="Only tell what would be.")] = False
    unverified: Annotated[Flag, Meta(description=_UNVERIFIED)] = False
    project: Annotated[Folder | None, Meta(description="The folder that it is looked at from.")] = (
        None
    )


class DisconnectBody(Body, frozen=True, kw_only=True):
    """A client to disconnect from the gateway."""

    client: Annotated[str, Meta(description="Such as `codex`.", extra_json_schema=_NOT_EMPTY)]
    scope: Annotated[str, Meta(description="One of the client's scopes; default: its first.")] = ""
    dry_run: Annotated[Flag, Meta(description="Only tell what would be.")] = False
    unverified: Annotated[Flag, Meta(description=_UNVERIFIED)] = False
    project: Annotated[Folder | None, Meta(description="The folder that it is looked at from.")] = (
        None
    )


class ApprovalBody(Body, frozen=True, kw_only=True):
    """What is approved of a folder's file."""

    folder: Annotated[str, Meta(description="An absolute path.")]
    digest: Annotated[str, Meta(description="That of what was shown.")]
    replace: Annotated[
        list[
            Annotated[str, Meta(description="An entry that may replace a server of another scope.")]
        ],
        Meta(extra={"fault": "must be a list of names"}),
    ] = []


class TokenBody(Body, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """A call token to make."""

    name: TokenName
    profile: TokenName | None = None
    expires: (
        Annotated[
            datetime,
            Meta(
                description="When it stops working; without it, never.",
                tz=True,
                extra={"fault": EXPIRY_FAULT},
            ),
        ]
        | None
    ) = None


class PromptBody(Body, frozen=True, kw_only=True):
    """The arguments of a prompt."""

    arguments: Annotated[dict[str, str], Meta(extra={"fault": "must be an object of texts"})] = {}


class CompleteBody(Body, frozen=True, kw_only=True):
    """An argument of a prompt or of a resource template whose value is being typed."""

    prompt: Annotated[str, Meta(description="The name of the prompt.")] | UnsetType = UNSET
    template: Annotated[str, Meta(description="The resource template.")] | UnsetType = UNSET
    argument: Annotated[str, Meta(description="The name of the argument.")]
    value: Annotated[str, Meta(description="What of its value is typed.")] = ""
    others: Annotated[
        dict[str, str],
        Meta(
            description="The values of other arguments.",
            extra={"fault": "must be an object of texts"},
        ),
    ] = {}


class LogLevelBody(Body, frozen=True, kw_only=True):
    """The least level of the log messages that a server is to send."""

    level: Annotated[str | None, Meta(description="Null for what the server sends by itself.")]


class MoveBody(Body, frozen=True, kw_only=True):
    """The node that is to run a server."""

    node: Annotated[str, Meta(description="The name of a node that is up.", min_length=1)]
    dry_run: Annotated[Flag, Meta(description="Only tell what would be.")] = False


class SecretBody(Body, frozen=True, kw_only=True):
    """A secret to store, or the files of projects that may use one."""

    value: Annotated[str, Meta(description="Without it, only `allow` counts.")] | UnsetType = UNSET
    store: Annotated[
        SecretStore, Meta(description="The encrypted store of mcpyard, or your key ring.")
    ] = "mcpyard"
    allow: Annotated[
        list[Folder], Meta(description="The `.mcp.json` files of projects that may use it.")
    ] = []
    dry_run: Flag = False
