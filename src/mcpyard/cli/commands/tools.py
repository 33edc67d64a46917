"""`mcpyard tools`: the tools of one server, or of all."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcpyard.cli.cli_errors import complain
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, note_unused, print_raw
from mcpyard.cli.status_words import status_line
from mcpyard.client.discovery import RunningYard, find_yard, server_path

if TYPE_CHECKING:
    from mcpyard.app import WiredYard
    from mcpyard.domain.desired import DesiredServer


def list_tools(home: Path, project: Path | None, name: str | None, *, as_json: bool) -> int:
    """Print the tools of one server or of all."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        raw = yard.get(server_path(name, "tools") if name is not None else "/api/mcp/tools")
        if as_json:
            return print_raw(raw)
        if not _print(decode_objects(raw)):
            _print_none(_why_none(yard, name))
        return 0
    from mcpyard.cli.private import run_privately

    tools, code = run_privately(_gather(home, project, name))
    if as_json:
        print(json.dumps(tools))
    elif not _print(tools):
        _print_none("the servers have none")
    return code


async def _gather(
    home: Path, project: Path | None, name: str | None
) -> tuple[list[JsonObject], int]:
    from mcpyard.cli.known_servers import find_known
    from mcpyard.cli.private import allowed, came_up, private_yard, startable

    servers = find_known(home, project)
    if name is not None:
        server = allowed(servers, servers.server(name))
        async with private_yard(server) as yard:
            await came_up(yard, server)
            return [each.to_dict() for each in yard.tools(name)], 0
    enabled = startable(servers)
    async with private_yard(*enabled) as yard:
        codes = [await _attempt(yard, each) for each in enabled]
        return [each.to_dict() for each in yard.tools()], max(codes, default=0)


async def _attempt(yard: "WiredYard", server: "DesiredServer") -> int:
    """Wait for one server of several, and print its failure; the exit code."""
    from mcpyard.cli.private import came_up
    from mcpyard.domain.errors import YardError

    try:
        await came_up(yard, server)
    except YardError as error:
        return complain(error, as_json=False)
    return 0


def _why_none(yard: RunningYard, name: str | None) -> str:
    """Why the running mcpyard has no tools to list."""
    if name is None:
        servers = decode_objects(yard.get("/api/mcp/servers?tools=0"))
        return "no connected server has any; see: mcpyard ls" if servers else "there are no servers"
    record = decode_object(yard.get(server_path(name)))
    if record["status"] == "connected":
        return f"{record['name']} is connected and has none"
    return f"{record['name']} is {status_line(record)}"


def _print_none(why: str) -> None:
    print(clean(f"no tools: {why}"), file=sys.stderr)


def _print(tools: list[JsonObject]) -> bool:
    """Print a table of tools; whether there are any."""
    rows = [
        (
            clean(str(each["exposedName"])),
            clean(str(each["server"])),
            one_line(_marks(each) + str(each["description"])),
        )
        for each in tools
    ]
    if rows:
        table(("TOOL", "SERVER", "DESCRIPTION"), rows)
    return bool(rows)


def _marks(tool: JsonObject) -> str:
    off = "" if tool["enabled"] else "(off) "
    return f"{off}(cached) " if tool["stale"] else off
