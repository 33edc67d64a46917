"""Tools that let an agent look after the yard itself; an application may add them to its own."""

from typing import Final, Protocol

from mcpyard.catalog.ranking import Index, Known
from mcpyard.yard.records import Record
from mcpyard.yard.toolbox.gathering import Offering, server_words, words_of
from mcpyard.yard.toolbox.own_tools import own_tool
from mcpyard.yard.toolbox.tool import Tool

_PATIENCE: Final = 10.0
"""Seconds that a restart is waited for."""

_LOOKS: Final = {"readOnlyHint": True}


class Steering(Offering, Protocol):
    """A yard, in this process or another, as far as an agent may look after it."""

    def record(self, ref: str, *, tools: bool = True) -> Record:
        """The record of one server."""
        ...

    async def restart(self, ref: str, *, wait: float = 0) -> Record:
        """Stop a server and start it again."""
        ...

    async def failed_calls(self, limit: int = 20) -> list[Record]:
        """The last calls that failed, newest first."""
        ...


def self_control(yard: Steering) -> list[Tool]:
    """A ready set: list the servers, look at one, restart one, search tools, read what failed."""
    does = _SelfControl(yard)
    return [
        own_tool(does.list_servers, name="yard_list_servers", annotations=_LOOKS),
        own_tool(does.server_status, name="yard_server_status", annotations=_LOOKS),
        own_tool(does.restart_server, name="yard_restart_server"),
        own_tool(does.search_tools, name="yard_search_tools", annotations=_LOOKS),
        own_tool(does.last_errors, name="yard_last_errors", annotations=_LOOKS),
    ]


class _SelfControl:
    """What the docstrings say, the agent reads."""

    def __init__(self, yard: Steering) -> None:
        self._yard = yard

    async def list_servers(self) -> dict[str, str]:
        """List all MCP servers, and how each is."""
        return server_words(self._yard)

    async def server_status(self, server: str) -> dict[str, object]:
        """Tell how one MCP server is: its state, its last error, its tools."""
        record = self._yard.record(server)
        keys = "name", "status", "state", "error", "attempt", "nextRetryAt", "since", "warnings"
        shown = {key: record[key] for key in keys}
        return shown | {"now": words_of(record), "tools": record["tools"]}

    async def restart_server(self, server: str) -> dict[str, object]:
        """Restart one MCP server, and tell how it is afterwards."""
        record = await self._yard.restart(server, wait=_PATIENCE)
        return {"name": record["name"], "now": words_of(record)}

    async def search_tools(self, query: str, limit: int = 10) -> dict[str, object]:
        """Search the tools of all MCP servers by what they do."""
        tools = self._yard.tools()
        index = Index(
            Known(str(each["exposedName"]), str(each["title"] or ""), str(each["description"]))
            for each in tools
        )
        found = [tools[place] for place in index.rank(query)[: max(0, limit)]]
        return {
            "tools": [
                {"name": each["exposedName"], "description": each["description"]} for each in found
            ]
        }

    async def last_errors(self, limit: int = 10) -> dict[str, object]:
        """Read what went wrong lately: servers that are not well, and calls that failed."""
        records = self._yard.servers(tools=False)
        servers = {str(each["name"]): each["error"] for each in records if each["error"]}
        return {"servers": servers, "calls": await self._yard.failed_calls(limit)}
