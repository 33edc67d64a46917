"""Tools with which an agent manages mcpyard itself; an application can add them to its own."""

from typing import Final, Protocol

from mcpyard.catalog.ranking import Index, ToolText
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.gathering import Offering, server_words, words_of
from mcpyard.yard.toolbox.own_tools import own_tool
from mcpyard.yard.views.calls import CallView
from mcpyard.yard.views.servers import ServerView

_RESTART_TIMEOUT: Final = 10.0
"""Seconds to wait for a restart."""

_LOOKS: Final = {"readOnlyHint": True}
_OF_A_SERVER: Final = (
    "name",
    "status",
    "state",
    "error",
    "attempt",
    "nextRetryAt",
    "since",
    "warnings",
)
_OF_A_CALL: Final = ("at", "who", "server", "tool", "ms", "outcome")


class Steering(Offering, Protocol):
    """The part of `Yard`, local or attached, that these tools use."""

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """The record of one server."""
        ...

    async def restart(self, ref: str, *, wait: float = 0) -> ServerView:
        """Restart a server."""
        ...

    async def failed_calls(self, limit: int = 20) -> list[CallView]:
        """The last calls that failed, newest first."""
        ...


def self_control(yard: Steering) -> list[Tool]:
    """Tools to list the servers, show one, restart one, search tools and show recent errors."""
    does = _SelfControl(yard)
    return [
        own_tool(does.list_servers, name="yard_list_servers", annotations=_LOOKS),
        own_tool(does.server_status, name="yard_server_status", annotations=_LOOKS),
        own_tool(does.restart_server, name="yard_restart_server"),
        own_tool(does.search_tools, name="yard_search_tools", annotations=_LOOKS),
        own_tool(does.last_errors, name="yard_last_errors", annotations=_LOOKS),
    ]


class _SelfControl:
    """The docstrings are the descriptions that the agent reads."""

    def __init__(self, yard: Steering) -> None:
        self._yard = yard

    async def list_servers(self) -> dict[str, str]:
        """List all MCP servers with their status."""
        return server_words(self._yard)

    async def server_status(self, server: str) -> dict[str, object]:
        """Show the status of one MCP server: its state, its last error, its tools."""
        record = self._yard.record(server)
        members = record.to_dict()
        status = {key: members[key] for key in _OF_A_SERVER}
        return status | {"now": words_of(record), "tools": members["tools"]}

    async def restart_server(self, server: str) -> dict[str, object]:
        """Restart one MCP server and return its new status."""
        restarted = await self._yard.restart(server, wait=_RESTART_TIMEOUT)
        return {"name": restarted.name, "now": words_of(restarted)}

    async def search_tools(self, query: str, limit: int = 10) -> dict[str, object]:
        """Search the tools of all MCP servers by name and description."""
        tools = self._yard.tools()
        index = Index(
            ToolText(each.exposed_name, each.title or "", each.description) for each in tools
        )
        matches = [tools[place] for place in index.rank(query)[: max(0, limit)]]
        return {
            "tools": [
                {"name": each.exposed_name, "description": each.description} for each in matches
            ]
        }

    async def last_errors(self, limit: int = 10) -> dict[str, object]:
        """List recent errors: failed servers and failed calls."""
        servers = self._yard.servers(tools=False)
        failing = {each.name: each.error.to_dict() for each in servers if each.error}
        calls = [each.to_dict() for each in await self._yard.failed_calls(limit)]
        return {
            "servers": failing,
            "calls": [{key: each[key] for key in _OF_A_CALL} for each in calls],
        }
