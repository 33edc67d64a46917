"""mcpyard: runs, supervises and exposes MCP servers.

The names below are the public Python interface. They are imported on first use, so that
`import mcpyard` and the command line stay quick.
"""

# What is imported here delays every start of the command, and is shown to whoever ends it early.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from mcpyard.agents.toolbox import AgentToolbox
    from mcpyard.client.attached import AttachedYard
    from mcpyard.domain.errors import (
        ApprovalOutdated,
        ArgumentsRefused,
        CallRefused,
        CallUnknown,
        ChangedSince,
        ClientUnverified,
        ClusterRefused,
        Conflict,
        DefinitionError,
        Disabled,
        Disconnected,
        DocumentBroken,
        DocumentMoved,
        EditRefused,
        EditUnknown,
        FileBusy,
        InputError,
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
        NotFound,
        NotHere,
        NotWritable,
        OutcomeUnknown,
        OverQuota,
        Problem,
        ProfileUnknown,
        ProtocolBroken,
        ReadOnlyOwner,
        SecretUnknown,
        ServerBusy,
        ServerFault,
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
    from mcpyard.domain.lifecycle import Phase
    from mcpyard.domain.model import Config, LocalConfig, RemoteConfig
    from mcpyard.domain.status import Status
    from mcpyard.library.sync_yard import SyncYard
    from mcpyard.library.yard import Yard
    from mcpyard.yard.calls.attribution import Attribution
    from mcpyard.yard.calls.outcome import ErrorKind, Outcome, PassedOver
    from mcpyard.yard.calls.parts import Audio, Image, Resource, ResourceLink, Text
    from mcpyard.yard.edit import Change
    from mcpyard.yard.readiness import Readiness, UnavailableServer
    from mcpyard.yard.self_control import self_control
    from mcpyard.yard.server_content import ResourceUpdate, ResourceUpdates
    from mcpyard.yard.server_questions import (
        ElicitAnswer,
        ElicitRequest,
        SampleAnswer,
        SampleRequest,
    )
    from mcpyard.yard.server_registry import Info, McpServer, Registry
    from mcpyard.yard.toolbox.agent_tool import Tool
    from mcpyard.yard.toolbox.call_approval import ApprovalRequest, ToolApproval
    from mcpyard.yard.toolbox.own_tools import own_tool
    from mcpyard.yard.toolbox.toolbox import Toolbox
    from mcpyard.yard.views.content import (
        PromptArgumentView,
        PromptMessage,
        PromptResult,
        PromptView,
        ResourceContents,
        ResourceTemplateView,
        ResourceView,
    )
    from mcpyard.yard.views.servers import ServerView, ToolView

__version__ = "0.2.0"

__all__ = [
    "AgentToolbox",
    "ApprovalOutdated",
    "ApprovalRequest",
    "ArgumentsRefused",
    "AttachedYard",
    "Attribution",
    "Audio",
    "CallRefused",
    "CallUnknown",
    "Change",
    "ChangedSince",
    "ClientUnverified",
    "ClusterRefused",
    "Config",
    "Conflict",
    "DefinitionError",
    "Disabled",
    "Disconnected",
    "DocumentBroken",
    "DocumentMoved",
    "EditRefused",
    "EditUnknown",
    "ElicitAnswer",
    "ElicitRequest",
    "ErrorKind",
    "FileBusy",
    "Image",
    "Info",
    "InputError",
    "Isolated",
    "LocalConfig",
    "ManagedByYard",
    "McpServer",
    "NameRefused",
    "NameTaken",
    "NeedsApproval",
    "NeedsAuth",
    "NewerState",
    "NoSignIn",
    "NobodyAnswered",
    "NodeTaken",
    "NodeUnknown",
    "NotFound",
    "NotHere",
    "NotWritable",
    "Outcome",
    "OutcomeUnknown",
    "OverQuota",
    "PassedOver",
    "Phase",
    "Problem",
    "ProfileUnknown",
    "PromptArgumentView",
    "PromptMessage",
    "PromptResult",
    "PromptView",
    "ProtocolBroken",
    "ReadOnlyOwner",
    "Readiness",
    "Registry",
    "RemoteConfig",
    "Resource",
    "ResourceContents",
    "ResourceLink",
    "ResourceTemplateView",
    "ResourceUpdate",
    "ResourceUpdates",
    "ResourceView",
    "SampleAnswer",
    "SampleRequest",
    "SecretUnknown",
    "ServerBusy",
    "ServerFault",
    "ServerUnknown",
    "ServerView",
    "SignInUnknown",
    "StartFailed",
    "StateBroken",
    "StateGone",
    "Status",
    "StillRunning",
    "StorageFull",
    "StoreAway",
    "SyncYard",
    "Text",
    "ThisYard",
    "TimedOut",
    "TooLarge",
    "Tool",
    "ToolApproval",
    "ToolUnknown",
    "ToolView",
    "Toolbox",
    "UnavailableServer",
    "Yard",
    "YardBusy",
    "YardError",
    "__version__",
    "own_tool",
    "self_control",
]

_HOMES = {
    "AgentToolbox": "mcpyard.agents.toolbox",
    "ApprovalRequest": "mcpyard.yard.toolbox.call_approval",
    "AttachedYard": "mcpyard.client.attached",
    "Attribution": "mcpyard.yard.calls.attribution",
    "Audio": "mcpyard.yard.calls.parts",
    "Change": "mcpyard.yard.edit",
    "Config": "mcpyard.domain.model",
    "ElicitAnswer": "mcpyard.yard.server_questions",
    "ElicitRequest": "mcpyard.yard.server_questions",
    "ErrorKind": "mcpyard.yard.calls.outcome",
    "Image": "mcpyard.yard.calls.parts",
    "Info": "mcpyard.yard.server_registry",
    "LocalConfig": "mcpyard.domain.model",
    "McpServer": "mcpyard.yard.server_registry",
    "Outcome": "mcpyard.yard.calls.outcome",
    "PassedOver": "mcpyard.yard.calls.outcome",
    "Phase": "mcpyard.domain.lifecycle",
    "Problem": "mcpyard.domain.errors",
    "PromptArgumentView": "mcpyard.yard.views.content",
    "PromptMessage": "mcpyard.yard.views.content",
    "PromptResult": "mcpyard.yard.views.content",
    "PromptView": "mcpyard.yard.views.content",
    "Readiness": "mcpyard.yard.readiness",
    "Registry": "mcpyard.yard.server_registry",
    "RemoteConfig": "mcpyard.domain.model",
    "Resource": "mcpyard.yard.calls.parts",
    "ResourceContents": "mcpyard.yard.views.content",
    "ResourceLink": "mcpyard.yard.calls.parts",
    "ResourceTemplateView": "mcpyard.yard.views.content",
    "ResourceUpdate": "mcpyard.yard.server_content",
    "ResourceUpdates": "mcpyard.yard.server_content",
    "ResourceView": "mcpyard.yard.views.content",
    "SampleAnswer": "mcpyard.yard.server_questions",
    "SampleRequest": "mcpyard.yard.server_questions",
    "ServerView": "mcpyard.yard.views.servers",
    "Status": "mcpyard.domain.status",
    "SyncYard": "mcpyard.library.sync_yard",
    "Text": "mcpyard.yard.calls.parts",
    "Tool": "mcpyard.yard.toolbox.agent_tool",
    "ToolApproval": "mcpyard.yard.toolbox.call_approval",
    "ToolView": "mcpyard.yard.views.servers",
    "Toolbox": "mcpyard.yard.toolbox.toolbox",
    "UnavailableServer": "mcpyard.yard.readiness",
    "Yard": "mcpyard.library.yard",
    "own_tool": "mcpyard.yard.toolbox.own_tools",
    "self_control": "mcpyard.yard.self_control",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    # All other public names are errors.
    home = _HOMES.get(name) or ("mcpyard.domain.errors" if name in __all__ else None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  see above

    return getattr(import_module(home), name)
