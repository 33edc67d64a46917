"""mcpyard: runs, supervises and exposes MCP servers.

The names below are the public Python interface. They are imported on first use, so that
`import mcpyard` and the command line stay quick.
"""

# What is imported here delays every start of the command, and is shown to whoever ends it early.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from mcpyard.app import Yard
    from mcpyard.domain.errors import YardError
    from mcpyard.domain.model import Config, LocalConfig, RemoteConfig
    from mcpyard.yard.calls.outcome import Outcome
    from mcpyard.yard.edit import Change
    from mcpyard.yard.self_control import self_control
    from mcpyard.yard.server_registry import Info, McpServer, Registry
    from mcpyard.yard.toolbox.agent_tool import Tool
    from mcpyard.yard.toolbox.own_tools import own_tool
    from mcpyard.yard.toolbox.toolbox import Toolbox
    from mcpyard.yard.views.servers import ServerView, ToolView

__version__ = "0.2.0"

__all__ = [
    "Change",
    "Config",
    "Info",
    "LocalConfig",
    "McpServer",
    "Outcome",
    "Registry",
    "RemoteConfig",
    "ServerView",
    "Tool",
    "ToolView",
    "Toolbox",
    "Yard",
    "YardError",
    "__version__",
    "own_tool",
    "self_control",
]

_HOMES = {
    "Change": "mcpyard.yard.edit",
    "Config": "mcpyard.domain.model",
    "Info": "mcpyard.yard.server_registry",
    "LocalConfig": "mcpyard.domain.model",
    "McpServer": "mcpyard.yard.server_registry",
    "Outcome": "mcpyard.yard.calls.outcome",
    "Registry": "mcpyard.yard.server_registry",
    "RemoteConfig": "mcpyard.domain.model",
    "ServerView": "mcpyard.yard.views.servers",
    "Tool": "mcpyard.yard.toolbox.agent_tool",
    "ToolView": "mcpyard.yard.views.servers",
    "Toolbox": "mcpyard.yard.toolbox.toolbox",
    "Yard": "mcpyard.app",
    "YardError": "mcpyard.domain.errors",
    "own_tool": "mcpyard.yard.toolbox.own_tools",
    "self_control": "mcpyard.yard.self_control",
}


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  see above

    return getattr(import_module(home), name)
