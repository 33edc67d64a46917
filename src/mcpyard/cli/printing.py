"""What several commands print about servers."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mcpyard.cli.output import clean
from mcpyard.domain.invisible import escaped_json

if TYPE_CHECKING:
    from mcpyard.cli.known_servers import KnownServers

JsonObject = Mapping[str, Any]
"""What mcpyard answers about one thing: a server, a tool, an edit, a line of a log."""

NO_SERVERS: Final = (
    "No servers yet. Add one: mcpyard add NAME -- COMMAND ARGS...",
    "Or import the servers of your other MCP clients: mcpyard import",
)


def decode_object(raw: bytes) -> JsonObject:
    """The object that mcpyard answered."""
    return json.loads(raw)


def decode_objects(raw: bytes) -> list[JsonObject]:
    """The objects that mcpyard answered."""
    return json.loads(raw)


def print_raw(raw: bytes) -> int:
    """Print JSON as mcpyard answered, with invisible characters as escapes that mean the same."""
    sys.stdout.buffer.write(escaped_json(raw.decode()).encode() + b"\n")
    return 0


def note_unused(project: Path | None) -> None:
    """Print that `--project` has no effect, since the running mcpyard answers."""
    if project:
        print("note: mcpyard is running and answers; --project is ignored", file=sys.stderr)


def read_definitions(home: Path, project: Path | None) -> "KnownServers":
    """The servers that are defined, with a note on standard error that none of them runs."""
    from mcpyard.cli.known_servers import find_known

    servers = find_known(home, project)
    print(f"note: mcpyard is not running (home: {home})", file=sys.stderr)
    for problem in servers.problems:
        print(f"problem: {clean(str(problem))}", file=sys.stderr)
    return servers
