"""The same call as a command: for a shell, for the command line of mcpyard, for Python."""

import json
import shlex
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from msgspec import Struct

VARIABLE: Final = "MCPYARD_TOKEN"
"""The variable with the token; no copy contains one."""


class CallCommands(Struct, frozen=True):
    """A call as text to paste; `python` is empty where the tool has no exposed name any more."""

    curl: str
    cli: str
    python: str = ""


def call_commands(
    address: str, server: str, tool: str, exposed: str, arguments: Mapping[str, object]
) -> CallCommands:
    """The commands of a call.

    Args:
        address: Where mcpyard is, as in `http://127.0.0.1:8712`.
        server: The name of the server.
        tool: The tool, by the server's own name.
        exposed: Its exposed name; empty where it has none any more.
        arguments: The arguments.
    """
    text = json.dumps(arguments, ensure_ascii=False)
    path = f"/api/mcp/servers/{quote(server, safe='')}/tools/{quote(tool, safe='')}/call"
    body = json.dumps({"arguments": arguments}, ensure_ascii=False)
    curl = (
        f"curl -sS {shlex.quote(address.rstrip('/') + path)} \\\n"
        f'  -H "Authorization: Bearer ${VARIABLE}" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}"
    )
    cli = f"mcpyard call {shlex.quote(server)} {shlex.quote(tool)}"
    if arguments:
        cli += f" --args {shlex.quote(text)}"
    python = (
        "from mcpyard import Yard\n\n"
        "with Yard.attach_sync() as yard:\n"
        f"    outcome = yard.call({exposed!r}, {dict(arguments)!r})\n"
        "    print(outcome.text)"
    )
    return CallCommands(curl, cli, python if exposed else "")
